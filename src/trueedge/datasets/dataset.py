"""What a data set is: its card, and how its files become a graph."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, unknown
from trueedge.graph import Graph, HeteroGraph, Interactions, KnowledgeGraph
from trueedge.graph.hgb_files import HgbData
from trueedge.graph.triple_files import TripleParts
from trueedge.html import facts_html, shortened
from trueedge.registry import Registry

#: The protocol of graphs and of data sets that name no other.
DEFAULT_PROTOCOL = "heart"
# What looks like the name of a file.
ENDINGS_OF_FILES = (".csv", ".tsv", ".txt", ".gz", ".json", ".jsonl", ".parquet", ".npy", ".npz", ".zip")


@dataclass(frozen=True)
class SourceFile:
    """A file a data set is read from.

    Attributes:
        path: where it is in a data folder, e.g. ``planetoid/cora/ind.cora.x``.
        url: the official address, or None where it cannot be downloaded.
        sha256: the checksum of the file at ``path``, or None where none is known.
        member: the file's name inside the zip archive at ``url``; None where ``url`` is the file itself.
        note: why it cannot be downloaded, as a clause for the error message.
    """

    path: str
    url: str | None = None
    sha256: str | None = None
    member: str | None = None
    note: str = ""

    @property
    def archive(self) -> bool:
        """Whether the address is an archive that holds the file."""
        return self.member is not None


@dataclass(frozen=True)
class Rules:
    """How a data set is used in the published benchmarks.

    Attributes:
        heart_eps: the push threshold of PPR when HeaRT negatives are made.
        heart_features: feature similarity is one of HeaRT's heuristics here.
        valid_in_test: validation edges join the graph when the test part is scored.
        hits: the K of the Hits@K that are reported.
        headline: the metric the benchmark is known by, in the existing setting.
    """

    heart_eps: float = 1e-5
    heart_features: bool = True
    valid_in_test: bool = False
    hits: tuple[int, ...] = (1, 3, 10, 100)
    headline: str = "mrr"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set's card: make one and give it to :func:`register`.

    Attributes:
        name: what users type.
        family: the file of this package that reads it.
        title: one line on what nodes and edges are.
        num_nodes: the number of nodes, or None for generated graphs.
        num_edges: the number of edges of the whole graph, or None.
        num_features: the length of a feature row, 0 for none, or None; for a typed graph, the sum over its
            node types.
        licence: the data's licence as its source names it.
        source: the address of the data's home page.
        citation: the paper to cite, one line.
        read: makes the graph; it finds its files through :mod:`trueedge.datasets.sources`.
        files: what it is read from; empty for embedded and generated graphs.
        released_files: the files of a split that others released for it, by the kind of negatives in them;
            :func:`trueedge.splits.released` reads them.
        protocol: the protocol used where none is named.
        rules: how published benchmarks use it.
        configure: for generated graphs, the card of one graph from the settings after ``name:``.
        data: what it is: a ``graph``, ``triples``, ``inductive triples``, ``typed``, or ``interactions``.
        num_relations: the number of relations of a knowledge graph, whose nodes are entities and whose edges
            are triples, or of a typed graph.
        num_types: the number of node types of a typed graph.
        num_users: the number of users of interactions, whose nodes are users and entities, and whose edges
            are the interactions.
        num_items: the number of items.
        num_triples: the number of triples about the items.
        read_parts: the parts of a knowledge graph.
        read_unseen: the parts on other entities, if the test part is inductive.
        read_typed: a typed graph with its published test links.
    """

    name: str
    family: str
    title: str
    num_nodes: int | None
    num_edges: int | None
    num_features: int | None
    licence: str
    source: str
    citation: str
    read: Callable[[], Any]
    files: tuple[SourceFile, ...] = ()
    released_files: Mapping[str, tuple[SourceFile, ...]] = field(default_factory=dict)
    protocol: str = DEFAULT_PROTOCOL
    rules: Rules = field(default_factory=Rules)
    configure: Callable[[str], Dataset] | None = None
    data: str = "graph"
    num_relations: int | None = None
    num_types: int | None = None
    num_users: int | None = None
    num_items: int | None = None
    num_triples: int | None = None
    read_parts: Callable[[], TripleParts] | None = None
    read_unseen: Callable[[], TripleParts] | None = None
    read_typed: Callable[[], HgbData] | None = None

    def __repr__(self) -> str:
        return f"Dataset({shortened(self.name, 40)}, {self.data}: {shortened(self.title, 50)})"

    def _repr_html_(self) -> str:
        facts = {
            "content": self.title,
            "kind": self.data,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "features": self.num_features or None,
            "protocol": self.protocol,
            "licence": self.licence,
            "source": self.source,
            "citation": self.citation,
        }
        return facts_html(f"Dataset {self.name}", facts)

    @property
    def num_entities(self) -> int | None:
        """The number of entities of interactions, items included."""
        counts = self.num_nodes, self.num_users
        return None if counts[0] is None or counts[1] is None else counts[0] - counts[1]

    @property
    def all_files(self) -> tuple[SourceFile, ...]:
        """The data set's own files, then the released ones, each once."""
        released = (file for files in self.released_files.values() for file in files)
        return tuple(dict.fromkeys((*self.files, *released)))

    def files_with(self, released: str | None) -> tuple[SourceFile, ...]:
        """Return the data set's own files, and those released with a kind of negatives."""
        return (*self.files, *self.released_files.get(released or "", ()))

    def load(self) -> Any:
        """Read the graph and compare its counts with the card.

        It is a Graph, for ``triples`` a KnowledgeGraph, for ``typed`` a HeteroGraph with all its links,
        and for ``interactions`` Interactions.
        """
        graph = self.read()
        if isinstance(graph, KnowledgeGraph):
            counts = [
                ("entities", self.num_nodes, graph.num_entities),
                ("relations", self.num_relations, graph.num_relations),
                ("triples", self.num_edges, graph.num_triples),
            ]
        elif isinstance(graph, HeteroGraph):
            widths = [table.shape[1] for table in graph.features if table is not None]
            counts = [
                ("nodes", self.num_nodes, graph.num_nodes),
                ("node types", self.num_types, graph.num_types),
                ("relations", self.num_relations, graph.num_relations),
                ("edges", self.num_edges, graph.num_edges),
                ("features", self.num_features, sum(widths)),
            ]
        elif isinstance(graph, Interactions):
            known = graph.knowledge
            counts = [
                ("users and entities", self.num_nodes, graph.num_users + graph.num_entities),
                ("users", self.num_users, graph.num_users),
                ("items", self.num_items, graph.num_items),
                ("interactions", self.num_edges, graph.num_interactions),
                ("relations", self.num_relations, 0 if known is None else known.num_relations),
                ("triples", self.num_triples, 0 if known is None else known.num_triples),
            ]
        else:
            counts = [
                ("nodes", self.num_nodes, graph.num_nodes),
                ("edges", self.num_edges, graph.num_edges),
                ("features", self.num_features, 0 if graph.features is None else graph.features.shape[1]),
            ]
        for noun, expected, found in counts:
            if expected is not None and expected != found:
                raise InputError(f"{self.name}: the files hold {found} {noun}, the data set has {expected}")
        return graph


DATASETS: Registry[Dataset] = Registry("data set", "trueedge.datasets")


def register(card: Dataset) -> Dataset:
    """Add a data set to the catalogue; a name may be taken once.

    Args:
        card: the data set.
    """
    if ":" in card.name:
        raise InputError(f"a data set cannot be called {card.name!r}: settings follow a colon")
    return DATASETS.add(card.name, card)


def table(file: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of this folder, each a dict by column."""
    return list(csv.DictReader(files("trueedge.datasets").joinpath(file).read_text("utf-8").splitlines()))


@cache
def checksums() -> dict[str, str]:
    """Return the known SHA-256 checksums by path in a data folder."""
    return {row["path"]: row["sha256"] for row in table("checksums.csv")}


def register_listed(
    name: str, read: Callable[..., Graph], *given: object, rules: Mapping[str, Any] | None = None, **more: Any
) -> Dataset:
    """Register a data set whose card is a row of ``cards.csv``.

    Args:
        name: the data set's name.
        read: returns the graph.
        given: the arguments of ``read``.
        rules: attributes of its :class:`Rules` that are not in the table.
        more: further attributes of the card.
    """
    row = next(row for row in table("cards.csv") if row["name"] == name)
    texts: Any = {f"num_{noun}": int(row[noun] or 0) or None for noun in ("nodes", "edges")}
    texts |= {key: row[key] for key in ("name", "family", "title", "licence", "source", "citation")}
    listed = {"heart_eps": float(row["heart_eps"]), "heart_features": row["features"] != "0"}
    made = Rules(**{**listed, **(rules or {})})
    return register(
        Dataset(**texts, num_features=int(row["features"]), read=partial(read, *given), rules=made, **more)
    )


def get(name: str) -> Dataset:
    """Return the card of a data set.

    Args:
        name: a name of the catalogue; a generated graph takes settings after a colon, as in
            ``price:nodes=1000,edges=5000,seed=1``.
    """
    plain, colon, settings = str(name).partition(":")
    card = DATASETS.find(plain)
    if card is None and Path(str(name)).suffix.lower() in ENDINGS_OF_FILES:
        raise InputError(f"there is no file {name}")
    if card is None:
        raise unknown("data set", plain, DATASETS.names(), "'trueedge datasets' lists them")
    if not colon:
        return card
    if card.configure is None:
        raise InputError(f"the data set {plain} takes no settings, got {settings!r}")
    return card.configure(settings)


def is_name(text: object) -> bool:
    """Return whether a text names a data set of the catalogue, with or without settings after a colon."""
    return isinstance(text, str) and text.partition(":")[0] in DATASETS


def cards() -> tuple[Dataset, ...]:
    """Return all cards, by family and then in the order they were registered."""
    return tuple(sorted(DATASETS.values(), key=lambda card: card.family))


def names() -> tuple[str, ...]:
    """Return the names of all data sets, in the order of :func:`cards`."""
    return tuple(card.name for card in cards())


def refuse_shadowed(text: object) -> None:
    """Raise an InputError for a data set's name that is also a file or a saved task in the working folder.

    Args:
        text: what a user gave: a name, a path or anything else.
    """
    if not isinstance(text, str) or not is_name(text):
        return
    for what, path in (("file", text), ("saved task", os.path.join(text, "task.json"))):
        if os.path.isfile(path):
            raise InputError(
                f"{text} is both a data set and a {what} here: write ./{text} for the {what};"
                f" for the data set, rename the {what} or work in another folder"
            )
