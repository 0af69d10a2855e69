"""Where a task's data comes from: a named data set, a file, a folder, a graph, or a split."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from trueedge import datasets
from trueedge.datasets import DEFAULT_PROTOCOL, Rules
from trueedge.errors import InputError
from trueedge.graph import EdgeFormat, Graph, HeteroGraph, Interactions, KnowledgeGraph, as_graph
from trueedge.graph.any_graph import GraphLike, holds_graph
from trueedge.graph.hgb_files import is_hgb
from trueedge.graph.interaction_files import folder_format, is_file_of_interactions, undecided
from trueedge.graph.saved_graphs import is_saved_graph, load_saved_graph
from trueedge.graph.triple_files import PARTS as TRIPLE_PARTS
from trueedge.graph.triple_files import folder_files, missing_files
from trueedge.splits import Split, TripleSplit, TypedData
from trueedge.splits import triples as triple_splits
from trueedge.splits import typed as typed_splits

Data = Graph | Split | KnowledgeGraph | TripleSplit | HeteroGraph | TypedData | Interactions
#: The default protocol of each kind of data.
DEFAULTS = {
    "graph": DEFAULT_PROTOCOL,
    "triples": "filtered",
    "inductive triples": "inductive",
    "typed": "node-classification",
    "interactions": "full-ranking",
}
NOUNS = {
    "graph": "a plain graph",
    "triples": "a knowledge graph",
    "inductive triples": "an inductive knowledge graph",
    "typed": "a typed graph",
    "interactions": "interactions of users with items",
}


@dataclass(frozen=True)
class Source:
    """The source of a task's data.

    Attributes:
        name: the name of the data set or graph.
        given: the graph or split, if it was not given by name.
        rules: how published benchmarks use the data set.
    """

    name: str
    given: Data | None = None
    rules: Rules = field(default_factory=Rules)

    @property
    def data(self) -> str:
        """Return what it is: a ``graph``, ``triples``, ``typed``, …; see :data:`NOUNS`."""
        if self.given is None:
            return datasets.get(self.name).data
        if isinstance(self.given, (Graph, Split)):
            return "graph"
        if isinstance(self.given, (HeteroGraph, TypedData)):
            return "typed"
        if isinstance(self.given, Interactions):
            return "interactions"
        inductive = isinstance(self.given, TripleSplit) and self.given.facts is not None
        return "inductive triples" if inductive else "triples"

    @cached_property
    def graph(self) -> Any:
        """Return the whole graph: a Graph, a typed graph, or of triples a KnowledgeGraph or their split."""
        if isinstance(self.given, TypedData):
            return self.given.graph
        if isinstance(self.given, Split):
            return self.given.train
        return self.given if self.given is not None else datasets.load(self.name)

    def triples(self, ratios: Sequence[float], seed: int) -> TripleSplit:
        """Return the split of triples: the given or published one, or a random one by ratios."""
        if self.given is None:
            return triple_splits.published(self.name)
        if isinstance(self.given, TripleSplit):
            return self.given
        if not isinstance(self.given, KnowledgeGraph):
            raise InputError(f"{self.name} is not a knowledge graph")
        return triple_splits.random_split(self.given, ratios, seed)

    @cached_property
    def typed(self) -> TypedData:
        """Return the typed graph with its published test links."""
        if isinstance(self.given, TypedData):
            return self.given
        if isinstance(self.given, HeteroGraph):
            return TypedData(self.given)
        if self.given is not None:
            raise InputError(f"{self.name} is not a typed graph")
        return typed_splits.published(self.name)

    @cached_property
    def interactions(self) -> Interactions:
        """Return the interactions, with their published test part marked."""
        found = self.graph
        if not isinstance(found, Interactions):
            raise InputError(f"{self.name} has no interactions of users with items")
        return found

    def check(self, protocol: str, takes: Sequence[str]) -> None:
        """Raise an InputError for data that a protocol does not take."""
        if self.data in takes:
            return
        wanted = " or ".join(NOUNS[one] for one in takes if one in NOUNS)
        raise InputError(
            f"the protocol {protocol} needs {wanted}, and {self.name} is {NOUNS[self.data]}:"
            f" use the protocol {default_protocol(self.given or self.name)}"
        )

    @classmethod
    def of(
        cls,
        thing: str | Path | Data | GraphLike,
        takes: Sequence[str] = ("graph",),
        bipartite: bool | None = None,
    ) -> Source:
        """Return the source for a name, a graph, a split, a folder of triples or interactions, or a file.

        Args:
            thing: the data; or what :func:`trueedge.graph.as_graph` takes: a networkx graph, a scipy matrix,
                a PyG ``Data``, a data frame, an array (m, 2) or a list of pairs.
            takes: what the protocol takes: it says whether a file has edges, triples or interactions.
                Self-loops, and repeated edges, triples and interactions are dropped.
            bipartite: whether the two columns of edges hold two kinds of nodes; None to detect it.
        """
        datasets.refuse_shadowed(thing)
        if isinstance(thing, str) and datasets.is_name(thing):
            return cls(thing, rules=datasets.get(thing).rules)
        if isinstance(thing, (str, Path)):
            thing = _read(thing, takes, bipartite)
        elif holds_graph(thing):
            thing = as_graph(thing, EdgeFormat(bipartite=bipartite))
        if isinstance(thing, (Graph, KnowledgeGraph, HeteroGraph, Interactions)):
            return cls(thing.name, thing)
        if isinstance(thing, TypedData):
            return cls(thing.graph.name, thing)
        if isinstance(thing, (Split, TripleSplit)):
            return cls(thing.train.name, thing)
        if not isinstance(thing, str):
            kind = f"{type(thing).__module__}.{type(thing).__name__}".removeprefix("builtins.")
            if kind.endswith("HeteroData"):
                raise InputError("a HeteroData becomes a typed graph by te.HeteroGraph.from_pyg(data)")
            raise InputError(
                "a task is made from a data set's name, a file, a folder of triples, of a typed graph or of"
                " interactions, a Graph, a KnowledgeGraph, a HeteroGraph, Interactions, or a graph of"
                f" networkx, scipy, PyG or pandas, got {kind}"
            )
        return cls(thing, rules=datasets.get(thing).rules)


def default_protocol(source: str | Path | Data | GraphLike) -> str:
    """Return the default protocol of a data set, or of a path, a graph or a split."""
    if holds_graph(source):
        return DEFAULT_PROTOCOL
    if isinstance(source, str) and datasets.is_name(source):
        return datasets.get(source).protocol
    if isinstance(source, (str, Path)):
        return _default_of_folder(Path(source))
    if isinstance(source, (HeteroGraph, TypedData)):
        return _default_of_typed(source if isinstance(source, TypedData) else TypedData(source))
    return DEFAULTS[Source.of(source).data]


def unknown_folder(folder: Path) -> str:
    """Say why nothing can be made of a folder: what triples lack, or what folders may hold."""
    if any((folder / f"{part}{ending}").exists() for part in TRIPLE_PARTS for ending in (".txt", ".tsv")):
        return missing_files(folder)
    return (
        f"{folder} holds no data that can be read: there is no task.json (a saved task), no graph.json (a"
        " saved graph), no link.dat (a typed graph in HGB's format), no train.txt and no test.txt (triples),"
        " and no file of interactions, such as ratings.csv or NAME.inter"
    )


def _default_of_typed(data: TypedData) -> str:
    labelled = data.graph.labels is not None and not data.test_links
    return "node-classification" if labelled else "typed-links"


def _default_of_folder(path: Path) -> str:
    if is_hgb(path):
        return _default_of_typed(typed_splits.from_path(path))
    found = folder_format(path)
    if found == "undecided":
        raise undecided(path)
    if found is not None or is_file_of_interactions(path):
        return DEFAULTS["interactions"]
    if folder_files(path) is None:
        return default_protocol(load_saved_graph(path)) if is_saved_graph(path) else DEFAULT_PROTOCOL
    beside = path.resolve().with_name(path.resolve().name + triple_splits.UNSEEN)
    if not os.path.lexists(beside):
        return DEFAULTS["triples"]
    if folder_files(beside) is None:
        raise InputError(
            f"{missing_files(beside)}, so it cannot be the test graph of {path.name}: complete it, or use the"
            " protocol filtered"
        )
    return DEFAULTS["inductive triples"]


def _read(path: str | Path, takes: Sequence[str], bipartite: bool | None) -> Any:
    """Read a file or folder; a text that is neither is returned as it is, unless it must be a path."""
    place = Path(path)
    if is_hgb(place):
        return typed_splits.from_path(place)
    found = folder_format(place) if path else None
    if found == "undecided":
        if "graph" in takes:
            raise undecided(place)
        found = "kgat" if "interactions" in takes else None
    if found is not None:
        return Interactions.from_path(place)
    if _is_file(place):
        if "interactions" in takes or is_file_of_interactions(place):
            return Interactions.from_path(place)
        if "graph" in takes:
            return as_graph(path, EdgeFormat(bipartite=bipartite))
        return KnowledgeGraph.from_triples(path, repeats="drop", name=place.name.split(".")[0])
    if folder_files(place) is not None:
        inductive = "inductive triples" in takes
        return triple_splits.from_folder(place, inductive)
    if path and is_saved_graph(place):
        return load_saved_graph(place)
    if path and place.is_dir():
        raise InputError(unknown_folder(place))
    if path and place.exists():
        raise InputError(f"{path} is not a regular file")
    if isinstance(path, Path) or "/" in path:
        raise InputError(f"there is no file {path}")
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder without read permission
        return False
