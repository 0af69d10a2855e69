"""What is known of a data set: its card, and how its files become a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.registry import Registry


@dataclass(frozen=True)
class SourceFile:
    """A file a data set is read from.

    Attributes:
        path: where it lies below a data folder, e.g. ``planetoid/cora/ind.cora.x``.
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


@dataclass(frozen=True, eq=False)
class Release:
    """Parts and negatives that a publisher fixed, in the order of the files.

    Attributes:
        graph: the training graph, with all nodes and the features where there are any.
        valid: int32 array (v, 2).
        test: int32 array (t, 2).
        valid_negatives: int32 (m, 2) shared by all positives, or (v, k, 2); None where there are none.
        test_negatives: the same for the test part.
        heart_valid: the released HeaRT negatives, int32 (v, k, 2), or None.
        heart_test: the same for the test part.
    """

    graph: Graph
    valid: NDArray[np.int32]
    test: NDArray[np.int32]
    valid_negatives: NDArray[np.int32] | None = None
    test_negatives: NDArray[np.int32] | None = None
    heart_valid: NDArray[np.int32] | None = None
    heart_test: NDArray[np.int32] | None = None


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
    """A data set's card: subclass nothing, make one and give it to :func:`register`.

    Attributes:
        name: what users type.
        family: the file of this package that reads it.
        title: one line on what nodes and edges are.
        num_nodes: the number of nodes, or None for generated graphs.
        num_edges: the number of edges of the whole graph, or None.
        num_features: the length of a feature row, 0 for none, or None.
        licence: the data's licence as its source names it.
        source: the address of the data's home.
        citation: the paper to cite, one line.
        read: makes the graph; it finds its files through :mod:`trueedge.datasets.sources`.
        release: reads the publisher's own split, where there is one.
        files: what it is read from; empty for embedded and generated graphs.
        heart_files: the split and negatives HeaRT released for it, where there are any; they are read by
            :func:`trueedge.datasets.released`.
        rules: how published benchmarks use it.
        configure: for generated graphs, the card of one graph from the settings after ``name:``.
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
    read: Callable[[], Graph]
    release: Callable[[], Release] | None = None
    files: tuple[SourceFile, ...] = ()
    heart_files: tuple[SourceFile, ...] = ()
    rules: Rules = field(default_factory=Rules)
    configure: Callable[[str], Dataset] | None = None

    def load(self) -> Graph:
        """Read the graph and compare its counts with the card."""
        graph = self.read()
        for noun, expected, found in (
            ("nodes", self.num_nodes, graph.num_nodes),
            ("edges", self.num_edges, graph.num_edges),
            ("features", self.num_features, 0 if graph.features is None else graph.features.shape[1]),
        ):
            if expected is not None and expected != found:
                raise InputError(f"{self.name}: the files hold {found} {noun}, the data set has {expected}")
        return graph


DATASETS: Registry[Dataset] = Registry("data set", "trueedge.datasets")


def register(card: Dataset) -> Dataset:
    """Add a data set to the catalogue; a name may be taken once."""
    if ":" in card.name:
        raise InputError(f"a data set cannot be called {card.name!r}: what follows a colon are settings")
    return DATASETS.add(card.name, card)


def get(name: str) -> Dataset:
    """The card of a data set.

    Args:
        name: a name of the catalogue; a generated graph takes settings after a colon, as in
            ``price:nodes=1000,edges=5000,seed=1``.
    """
    plain, colon, settings = str(name).partition(":")
    card = DATASETS.get(plain)
    if not colon:
        return card
    if card.configure is None:
        raise InputError(f"the data set {plain} takes no settings, got {settings!r}")
    return card.configure(settings)


def cards() -> tuple[Dataset, ...]:
    """All cards, by family and then in the order they were registered."""
    return tuple(sorted(DATASETS.values(), key=lambda card: card.family))


def names() -> tuple[str, ...]:
    """The names of all data sets, in the order of :func:`cards`."""
    return tuple(card.name for card in cards())


def is_name(text: object) -> bool:
    """Return whether a text names a data set; a generated graph's settings may follow a colon."""
    return isinstance(text, str) and text.partition(":")[0] in DATASETS


def load(name: str) -> Graph:
    """Read a data set's graph by name; counts that differ from its card are an error.

    Args:
        name: as in :func:`get`.
    """
    return get(name).load()
