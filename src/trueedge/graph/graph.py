"""The undirected graph that everything else is built on."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.files.text import readable
from trueedge.graph import adapters, storage
from trueedge.graph.bipartite import is_forest
from trueedge.graph.edge_columns import EdgeFormat
from trueedge.graph.hashing import graph_hash
from trueedge.graph.numbering import named_pairs
from trueedge.graph.pairs import as_nodes, as_pairs, in_sorted, pair_keys
from trueedge.graph.reading import EdgeList, list_graph, list_records, read_graph
from trueedge.graph.tidying import Cleaning, neighbour_lists, ordered_edges, sorted_edges, tidy, tidy_edges
from trueedge.graph.two_kinds import tell_apart
from trueedge.graph.validation import (
    Handling,
    as_labels,
    check_edge_data,
    check_features,
    check_handling,
    check_labels,
    check_num_nodes,
    frozen,
    locked,
    skipped_ids,
)
from trueedge.html import counted, facts_html, shortened

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph without self-loops or repeated edges; immutable, nodes are ``0..n-1``.

    :meth:`from_edges` builds and checks one; the bare constructor trusts what it is given.

    Attributes:
        num_nodes: the number of nodes n.
        edges: int32 array (m, 2), each edge once with ``u < v``, sorted.
        features: float32 array (n, d), or None.
        labels: the nodes' own names in the source, n of them, or None where they are ``0..n-1``.
        edge_data: further numbers of each edge (``weight``, ``year``), arrays (m,) in the order of ``edges``.
        name: what to call the graph in tables and messages.
        notes: what was done to the input on the way (self-loops dropped, …), one sentence each.
        sides: int8 (n,), the side of each node of a bipartite graph, 0 or 1 (-1 for a node on neither side),
            or None where no sides are known.
    """

    num_nodes: int
    edges: NDArray[np.int32]
    features: NDArray[np.float32] | None = None
    labels: tuple[str, ...] | None = None
    edge_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    name: str = "graph"
    notes: tuple[str, ...] = ()
    sides: NDArray[np.int8] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges))
        if self.sides is not None:
            object.__setattr__(self, "sides", frozen(self.sides))
        if self.features is not None:
            object.__setattr__(self, "features", frozen(self.features))
        columns = {key: frozen(column) for key, column in self.edge_data.items()}
        object.__setattr__(self, "edge_data", MappingProxyType(columns))
        # Both go into tables, records and hashes, which are UTF-8: a file's name may not be.
        object.__setattr__(self, "name", readable(str(self.name)))
        object.__setattr__(self, "notes", tuple(readable(str(note)) for note in self.notes))

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike | str | os.PathLike[str],
        num_nodes: int | None = None,
        features: ArrayLike | None = None,
        *,
        self_loops: Handling = "refuse",
        repeats: Handling = "refuse",
        labels: Iterable[str] | None = None,
        edge_data: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
        header: bool | None = None,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        time: str | int | None = None,
        bipartite: bool | None = None,
    ) -> Graph:
        """Build a graph from an array or list of edges, or from a file that holds an edge list.

        Args:
            edges: int array (m, 2) in any order and direction; or pairs of names, which are numbered as they
                first appear unless there are ``labels``; or the path of an edge list: text, JSON lines or
                Parquet (see :func:`trueedge.graph.read_edges`).
            num_nodes: the number of nodes; where it is not given, the number of labels or else the
                largest id + 1 (a note says so where that makes nodes that are in no edge).
            features: float array (n, d), one row per node.
            self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
            repeats: ``"refuse"`` an edge that occurs again (in either direction), or ``"drop"`` it.
            labels: the nodes' own names, n different ones.
            edge_data: further numbers for each edge, arrays (m,); of a repeated edge the first is kept.
            name: what to call the graph.
            header: whether the first line of a file names the columns; None to detect it (a note says so).
            source: in a file, the column of the first end of an edge: its name, or its number from 0.
            target: in a file, the column of the second end.
            weight: in a file, the column to keep as ``edge_data["weight"]``.
            time: in a file, the column to keep as ``edge_data["time"]``: numbers, or dates (as seconds since
                1970). If repeats are dropped, the earliest edge is kept.
            bipartite: whether the two columns hold two kinds of nodes, such as users and items: an id that is
                in both is then two nodes, called ``user 1`` and ``item 1`` after the columns, or ``source 1``
                and ``target 1``. None decides for a file, by the names of its columns or if no id is in both.
        """
        asked = EdgeFormat(header, source, target, weight, time, bipartite)
        if isinstance(edges, (str, os.PathLike)):
            if labels is not None or edge_data is not None:
                raise InputError("Graph.from_edges: labels and edge_data belong to an array, not to a file")
            found = read_graph(edges, num_nodes, self_loops, repeats, asked)
            return cls._from_list(*found, features, name)
        if asked != EdgeFormat(bipartite=bipartite):
            given = next((role for role in asked.columns), "header")
            raise InputError(f"Graph.from_edges: {given} is for a file, not for an array")
        check_handling(self_loops, repeats)
        listed = None if labels is None else as_labels(labels)
        if isinstance(edges, Iterator):
            edges = list(edges)
        fixed = num_nodes is not None or listed is not None
        named = None if num_nodes is not None and listed is None else named_pairs(edges, listed)
        if named is not None:
            edges, listed = named
        asked.check("Graph.from_edges")
        sides = None
        if bipartite:
            ids = as_pairs(edges, num_nodes, "edges")
            many = int(ids.max(initial=-1)) + 1 if listed is None else len(listed)
            apart = tell_apart(ids, num_nodes or many, listed, None, True, fixed)
            edges, listed, sides = apart.pairs, apart.labels, apart.sides
        if num_nodes is None and listed is not None:
            num_nodes = len(listed)
        count = None if num_nodes is None else check_num_nodes(num_nodes)
        pairs = as_pairs(edges, count, "edges")
        inferred = count is None
        if count is None:
            count = check_num_nodes(int(pairs.max(initial=-1)) + 1)
        names = None if listed is None else check_labels(listed, count)
        extra = check_edge_data({} if edge_data is None else edge_data, len(pairs))

        def edge(row: int) -> str:
            u, v = (int(i) if names is None else names[i] for i in pairs[row])
            return f"edges: row {row}, ({u!r}, {v!r}),"

        cleaning = Cleaning(self_loops, repeats, edge, lambda row: f"row {row}")
        if extra:
            kept, rows, notes = tidy(pairs, count, cleaning)
            ordered, extra = ordered_edges(kept, count, {key: column[rows] for key, column in extra.items()})
        else:
            ordered, notes = tidy_edges(pairs, count, cleaning)
        notes += skipped_ids(pairs, ordered, count) if inferred else ()
        notes += () if sides is None else (sides.said,)
        table = None if features is None else check_features(features, count)
        on_side = None if sides is None else sides.of
        return cls._own(ordered, count, table, names, extra, name or "graph", notes, on_side)

    @classmethod
    def from_pandas(
        cls,
        frame: Any,
        source: str | int | None = None,
        target: str | int | None = None,
        *,
        weight: str | int | None = None,
        time: str | int | None = None,
        num_nodes: int | None = None,
        features: ArrayLike | None = None,
        self_loops: Handling = "refuse",
        repeats: Handling = "refuse",
        name: str | None = None,
        bipartite: bool | None = None,
    ) -> Graph:
        """Build a graph from a data frame of pandas (or polars) with an edge in each row.

        Columns are found and ids are numbered as in a file (see :func:`trueedge.graph.read_edges`).

        Args:
            frame: the data frame; its index is not read.
            source: the column of the first end: its name, or its number from 0.
            target: the column of the second end.
            weight: the column to keep as ``edge_data["weight"]``.
            time: the column to keep as ``edge_data["time"]``.
            num_nodes: the number of nodes; every id must then be a whole number below it.
            features: float array (n, d), one row per node.
            self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
            repeats: ``"refuse"`` an edge that occurs again (in either direction), or ``"drop"`` it: the
                earliest one is kept if there are times, else the first one.
            name: what to call the graph.
            bipartite: whether the two columns hold two kinds of nodes (see :meth:`from_edges`); None decides
                by the names of the columns, or if no id is in both.
        """
        check_handling(self_loops, repeats, "from_pandas")
        asked = EdgeFormat(None, source, target, weight, time, bipartite)
        asked.check("from_pandas")
        count = None if num_nodes is None else check_num_nodes(num_nodes, "from_pandas")
        records = adapters.frame_records(frame)
        listed = list_records(records, count, self_loops, repeats, asked, "graph")
        return cls._from_list(*list_graph(*listed), features, name)

    @classmethod
    def _from_list(
        cls, edges: NDArray[np.int32], listed: EdgeList, features: ArrayLike | None, name: str | None
    ) -> Graph:
        table = None if features is None else check_features(features, listed.num_nodes)
        data, notes, sides = listed.edge_data, listed.notes, listed.sides
        graph = cls._own(edges, listed.num_nodes, table, listed.labels, data, name or listed.name, notes)
        # A forest has two sides whatever its nodes are.
        if sides is None or (not sides.certain and is_forest(graph)):
            return graph
        return replace(graph, sides=sides.of, notes=(*notes, sides.said))

    @classmethod
    def _own(
        cls,
        edges: NDArray[np.int32],
        num_nodes: int,
        features: NDArray[np.float32] | None,
        labels: tuple[str, ...] | None,
        edge_data: Mapping[str, NDArray[Any]],
        name: str,
        notes: tuple[str, ...],
        sides: NDArray[np.int8] | None = None,
    ) -> Graph:
        """Build a graph of checked parts that nothing else refers to."""
        return cls(
            num_nodes=num_nodes,
            edges=locked(edges),
            features=None if features is None else locked(features),
            labels=labels,
            edge_data={key: locked(column) for key, column in edge_data.items()},
            name=name,
            notes=notes,
            sides=sides,
        )

    from_networkx = classmethod(adapters.from_networkx)
    from_scipy = classmethod(adapters.from_scipy)
    from_pyg = classmethod(adapters.from_pyg)
    to_networkx = adapters.to_networkx
    to_scipy = adapters.to_scipy
    to_pyg = adapters.to_pyg
    to_pandas = adapters.to_pandas
    load = classmethod(storage.load)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph into a folder; a graph that was there is replaced, other files stay."""
        storage.save(check_graph(self, "save"), folder)

    @property
    def num_edges(self) -> int:
        """The number of edges, each counted once."""
        return len(self.edges)

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Row starts of the adjacency in CSR, int64 (n + 1,)."""
        return self._csr[0]

    @property
    def indices(self) -> NDArray[np.int32]:
        """Neighbours of each node in CSR, int32 (2m,), sorted within a row."""
        return self._csr[1]

    @cached_property
    def _csr(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        indptr, indices = neighbour_lists(self.edges, self.num_nodes)
        return locked(indptr), locked(indices)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each node, int64 (n,)."""
        if "_csr" in self.__dict__:
            return locked(np.diff(self.indptr))
        return locked(np.bincount(self.edges.ravel(), minlength=self.num_nodes).astype(np.int64))

    @cached_property
    def edge_keys(self) -> NDArray[np.int64]:
        """One int64 per edge, sorted, as :func:`trueedge.graph.pair_keys` makes it."""
        return locked(pair_keys(self.edges, self.num_nodes))

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of nodes, edges, features, edge data and labels: equal for equal content everywhere."""
        return graph_hash(self)

    @cached_property
    def hash_without_labels(self) -> str:
        """The hash as older formats have it; it is :attr:`hash` where the nodes have no labels."""
        return self.hash if self.labels is None else graph_hash(self, labels=False)

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """Return the sorted neighbours of a node."""
        try:
            row = operator.index(node)
        except TypeError:
            row = -1
        if not 0 <= row < self.num_nodes:
            raise InputError(f"{self.name} has no node {node!r}: ids are 0..{self.num_nodes - 1}")
        return self.indices[self.indptr[row] : self.indptr[row + 1]]

    def has_edges(self, pairs: ArrayLike) -> NDArray[np.bool_]:
        """Return which pairs are edges, in either direction: bool array (n,)."""
        return in_sorted(pair_keys(as_pairs(pairs, self.num_nodes), self.num_nodes), self.edge_keys)

    def adjacency(self) -> csr_array[Any, Any]:
        """Return the symmetric adjacency matrix as a scipy CSR array of float64 ones."""
        from scipy.sparse import csr_array

        data = np.ones(len(self.indices), dtype=np.float64)
        return csr_array((data, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def components(self) -> NDArray[np.int32]:
        """Return the connected component of each node: int32 (n,), numbered from 0 by their first node."""
        from scipy.sparse.csgraph import connected_components

        # scipy starts a search at every node not yet reached, in their order: so first nodes ascend.
        component = connected_components(self.adjacency(), directed=False)[1]
        return np.asarray(component, dtype=np.int32)

    def largest_component(self) -> Graph:
        """Return the subgraph on the largest component (of equal ones, that with the smallest node)."""
        component = self.components()
        largest = int(np.bincount(component).argmax())
        nodes = np.flatnonzero(component == largest)
        return self if len(nodes) == self.num_nodes else self.subgraph(nodes)

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """Return the subgraph among some nodes, renumbered in the given order; labels keep their old names.

        Args:
            nodes: int array (k,) of distinct ids.
        """
        chosen = as_nodes(nodes, self.num_nodes, "subgraph: nodes")
        count = check_num_nodes(len(chosen))
        place = np.full(self.num_nodes, -1, dtype=np.int64)
        place[chosen] = np.arange(count)
        again = place[chosen] != np.arange(count)
        if again.any():
            raise InputError(f"subgraph: node {chosen[again.argmax()]} is listed twice")
        mapped = place[self.edges]
        keep = (mapped >= 0).all(axis=1)
        names = self.labels
        edges, extra = ordered_edges(
            mapped[keep], count, {key: data[keep] for key, data in self.edge_data.items()}
        )
        return Graph._own(
            edges,
            count,
            None if self.features is None else self.features[chosen],
            tuple(str(i) if names is None else names[i] for i in chosen),
            extra,
            self.name,
            (*self.notes, f"kept {count} of {self.num_nodes} nodes"),
            None if self.sides is None else self.sides[chosen],
        )

    def with_edges(self, pairs: ArrayLike) -> Graph:
        """Return the same nodes with further edges; self-loops and repeats are left out, and so is edge data.

        Args:
            pairs: int array (k, 2).
        """
        both = np.concatenate([self.edges.astype(np.int64), as_pairs(pairs, self.num_nodes)])
        return self._same_nodes(both)

    def only_edges(self, pairs: ArrayLike) -> Graph:
        """Return the same nodes with other edges; self-loops and repeats are left out, and so is edge data.

        Args:
            pairs: int array (k, 2).
        """
        return self._same_nodes(as_pairs(pairs, self.num_nodes))

    def _same_nodes(self, pairs: NDArray[np.int64]) -> Graph:
        edges = sorted_edges(pairs, self.num_nodes)[0]
        features, labels, notes = self.features, self.labels, self.notes
        return Graph._own(edges, self.num_nodes, features, labels, {}, self.name, notes, self.sides)

    def __reduce__(self) -> tuple[type[Graph], tuple[Any, ...]]:
        # A pickled array forgets that it is read-only; the constructor makes it so again.
        parts = (self.num_nodes, self.edges, self.features, self.labels, dict(self.edge_data))
        return type(self), (*parts, self.name, self.notes, self.sides)

    def __repr__(self) -> str:
        features = "" if self.features is None else f", {counted(self.features.shape[1], 'feature')}"
        name = shortened(self.name)
        sizes = f"{counted(self.num_nodes, 'node')}, {counted(self.num_edges, 'edge')}"
        return f"Graph({name}: {sizes}{features})"

    def _repr_html_(self) -> str:
        facts = {
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "features": None if self.features is None else self.features.shape[1],
            "edge data": ", ".join(self.edge_data),
            "notes": "; ".join(self.notes),
        }
        return facts_html(f"Graph {self.name}", facts)


def check_graph(graph: object, owner: str) -> Graph:
    """Return the graph itself; refuse anything else, such as a data set's name.

    Args:
        graph: what was given.
        owner: what it was given to, for the error.
    """
    if isinstance(graph, Graph):
        return graph
    hint = "; trueedge.load makes one from a data set's name" if isinstance(graph, str) else ""
    got = repr(graph) if isinstance(graph, str) else type(graph).__name__
    raise InputError(f"{owner}: graph must be a trueedge.Graph, got {got}{hint}")
