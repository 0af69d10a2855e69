"""The undirected graph everything else stands on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph.pairs import IntArray, as_pairs, in_sorted, pair_keys

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_NODES = 2**31 - 1
Handling = Literal["refuse", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph without self-loops or repeated edges; immutable, nodes are ``0..n-1``.

    Attributes:
        num_nodes: the number of nodes n.
        edges: int32 array (m, 2), each edge once with ``u < v``, sorted.
        features: float32 array (n, d), or None.
        labels: the nodes' own names in the source, n of them, or None where they are ``0..n-1``.
        edge_data: further numbers an edge carries (``weight``, ``year``), arrays (m,) beside ``edges``.
        name: what to call the graph in tables and messages.
        notes: what was done to the input on the way (self-loops dropped, …), one sentence each.
    """

    num_nodes: int
    edges: NDArray[np.int32]
    features: NDArray[np.float32] | None = None
    labels: tuple[str, ...] | None = None
    edge_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    name: str = "graph"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.edges, self.features, *self.edge_data.values()):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike | str | Path,
        num_nodes: int | None = None,
        features: ArrayLike | None = None,
        *,
        self_loops: Handling = "refuse",
        repeats: Handling = "refuse",
        labels: Sequence[str] | None = None,
        edge_data: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Graph:
        """Build a graph from an array of edges, or from a file that holds an edge list.

        Args:
            edges: int array (m, 2) in any order and direction, or the path of an edge list
                (see :func:`trueedge.graph.read_edges`).
            num_nodes: the number of nodes; the largest id + 1 where it is not given.
            features: float array (n, d), one row a node.
            self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
            repeats: ``"refuse"`` an edge that occurs again (in either direction), or ``"drop"`` it.
            labels: the nodes' own names, n of them.
            edge_data: further numbers for each edge, arrays (m,); of a repeated edge the first is kept.
            name: what to call the graph.
        """
        if isinstance(edges, (str, Path)):
            from trueedge.graph.reading import read_edges

            if labels is not None or edge_data is not None:
                raise InputError("Graph.from_edges: labels and edge_data belong to an array, not to a file")
            listed = read_edges(edges, num_nodes=num_nodes, self_loops=self_loops, repeats=repeats)
            return cls._build(
                listed.edges,
                listed.num_nodes,
                features,
                listed.labels,
                {},
                name or listed.name,
                listed.notes,
            )
        _check_handling(self_loops, repeats)
        pairs = as_pairs(edges, num_nodes, "edges")
        extra = _check_edge_data(edge_data or {}, len(pairs))
        pairs, keep, notes = _tidy(pairs, self_loops, repeats)
        extra = {key: column[keep] for key, column in extra.items()}
        return cls._build(pairs, num_nodes, features, labels, extra, name or "graph", notes)

    @classmethod
    def _build(
        cls,
        pairs: NDArray[np.int64],
        num_nodes: int | None,
        features: ArrayLike | None,
        labels: Sequence[str] | None,
        edge_data: Mapping[str, NDArray[Any]],
        name: str,
        notes: tuple[str, ...],
    ) -> Graph:
        """Sort tidy pairs into a graph: no self-loop, no repeat, ids within ``num_nodes``."""
        if num_nodes is None:
            num_nodes = len(labels) if labels is not None else int(pairs.max(initial=-1)) + 1
        count = _check_num_nodes(num_nodes)
        if labels is not None and len(labels) != count:
            raise InputError(f"labels: the graph has {count} nodes, but {len(labels)} labels were given")
        keys = pair_keys(pairs, count)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        edges = np.empty((len(keys), 2), dtype=np.int32)
        edges[:, 0], edges[:, 1] = np.divmod(keys, count)
        return cls(
            num_nodes=count,
            edges=edges,
            features=None if features is None else _check_features(features, count),
            labels=None if labels is None else tuple(labels),
            edge_data={key: np.ascontiguousarray(column[order]) for key, column in edge_data.items()},
            name=name,
            notes=notes,
        )

    @classmethod
    def from_networkx(cls, graph: object, **options: Any) -> Graph:
        """Build a graph from a networkx graph; nodes keep their names as labels."""
        from trueedge.graph.adapters import from_networkx

        return from_networkx(graph, **options)

    @classmethod
    def from_scipy(cls, matrix: object, **options: Any) -> Graph:
        """Build a graph from a square scipy sparse matrix: an entry that is not zero is an edge."""
        from trueedge.graph.adapters import from_scipy

        return from_scipy(matrix, **options)

    @classmethod
    def from_pyg(cls, data: object, **options: Any) -> Graph:
        """Build a graph from a PyTorch Geometric ``Data`` object: ``edge_index`` and, if there, ``x``."""
        from trueedge.graph.adapters import from_pyg

        return from_pyg(data, **options)

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
        u, v = self.edges[:, 0].astype(np.int64), self.edges[:, 1].astype(np.int64)
        keys = np.concatenate([u * self.num_nodes + v, v * self.num_nodes + u])
        keys.sort()
        indptr = np.zeros(self.num_nodes + 1, dtype=np.int64)
        np.cumsum(self.degrees, out=indptr[1:])
        indices = (keys % max(self.num_nodes, 1)).astype(np.int32)
        indptr.flags.writeable = indices.flags.writeable = False
        return indptr, indices

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The number of neighbours of each node, int64 (n,)."""
        degrees = np.bincount(self.edges.ravel(), minlength=self.num_nodes).astype(np.int64)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def edge_keys(self) -> NDArray[np.int64]:
        """One sorted int64 an edge, as :func:`trueedge.graph.pair_keys` makes it."""
        keys = pair_keys(self.edges, self.num_nodes)
        keys.flags.writeable = False
        return keys

    @cached_property
    def hash(self) -> str:
        """A SHA-256 of nodes, edges, features and edge data: equal for equal content on every machine."""
        digest = hashlib.sha256(f"graph {self.num_nodes}".encode())
        columns = [self.edges, self.features, *(self.edge_data[key] for key in sorted(self.edge_data))]
        for array in columns:
            if array is None:
                digest.update(b"none")
                continue
            plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            digest.update(f"{plain.dtype.str}{plain.shape}".encode())
            digest.update(plain.tobytes())
        return digest.hexdigest()

    def neighbors(self, node: int) -> NDArray[np.int32]:
        """The sorted neighbours of a node."""
        if not 0 <= node < self.num_nodes:
            raise InputError(f"{self.name} has no node {node}: ids are 0..{self.num_nodes - 1}")
        return self.indices[self.indptr[node] : self.indptr[node + 1]]

    def has_edges(self, pairs: ArrayLike) -> NDArray[np.bool_]:
        """Which pairs are edges, in either direction: bool array (n,)."""
        return in_sorted(pair_keys(as_pairs(pairs, self.num_nodes), self.num_nodes), self.edge_keys)

    def adjacency(self) -> csr_array[Any, Any]:
        """The symmetric adjacency matrix as a scipy CSR array of float64 ones."""
        from scipy.sparse import csr_array

        data = np.ones(len(self.indices), dtype=np.float64)
        return csr_array((data, self.indices, self.indptr), shape=(self.num_nodes, self.num_nodes))

    def components(self) -> NDArray[np.int32]:
        """The connected component of each node: int32 (n,), numbered from 0 by their first node."""
        from scipy.sparse.csgraph import connected_components

        raw = connected_components(self.adjacency(), directed=False)[1]
        return np.asarray(raw, dtype=np.int32)

    def largest_component(self) -> Graph:
        """The subgraph on the largest connected component (of equal ones, that with the smallest node)."""
        component = self.components()
        largest = int(np.bincount(component, minlength=1).argmax())
        nodes = np.flatnonzero(component == largest)
        return self if len(nodes) == self.num_nodes else self.subgraph(nodes)

    def subgraph(self, nodes: ArrayLike) -> Graph:
        """The subgraph among some nodes; they are numbered anew in the given order, labels say who they were.

        Args:
            nodes: int array (k,) of distinct ids.
        """
        chosen = np.asarray(nodes, dtype=np.int64).ravel()
        if chosen.size and (chosen.min() < 0 or chosen.max() >= self.num_nodes):
            bad = chosen[(chosen < 0) | (chosen >= self.num_nodes)][0]
            raise InputError(f"{self.name} has no node {bad}: ids are 0..{self.num_nodes - 1}")
        place = np.full(self.num_nodes, -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        if np.count_nonzero(place >= 0) != len(chosen):
            raise InputError("subgraph: a node is listed twice")
        mapped = place[self.edges]
        keep = (mapped >= 0).all(axis=1)
        names = self.labels
        return Graph._build(
            mapped[keep],
            len(chosen),
            None if self.features is None else self.features[chosen],
            [names[i] if names else str(i) for i in chosen],
            {key: column[keep] for key, column in self.edge_data.items()},
            self.name,
            (*self.notes, f"kept {len(chosen)} of {self.num_nodes} nodes"),
        )

    def with_edges(self, pairs: IntArray) -> Graph:
        """The same nodes with further edges (those already there stay once); edge data is left behind."""
        both = np.concatenate([self.edges.astype(np.int64), as_pairs(pairs, self.num_nodes)])
        return self._same_nodes(both)

    def only_edges(self, pairs: IntArray) -> Graph:
        """The same nodes and features with other edges; edge data is left behind."""
        return self._same_nodes(as_pairs(pairs, self.num_nodes))

    def _same_nodes(self, pairs: NDArray[np.int64]) -> Graph:
        tidy, _, _ = _tidy(pairs, "drop", "drop")
        built = Graph._build(tidy, self.num_nodes, None, None, {}, self.name, self.notes)
        return Graph(self.num_nodes, built.edges, self.features, self.labels, {}, self.name, self.notes)

    def __repr__(self) -> str:
        features = "" if self.features is None else f", {self.features.shape[1]:,} features"
        return f"Graph({self.name}: {self.num_nodes:,} nodes, {self.num_edges:,} edges{features})"


def _check_handling(self_loops: str, repeats: str) -> None:
    for argument, value in (("self_loops", self_loops), ("repeats", repeats)):
        if value not in ("refuse", "drop"):
            raise must_be(argument, "Graph.from_edges", "'refuse' or 'drop'", value)


def _check_num_nodes(num_nodes: int) -> int:
    if isinstance(num_nodes, bool) or not isinstance(num_nodes, (int, np.integer)):
        raise must_be("num_nodes", "Graph.from_edges", "a whole number", num_nodes)
    if num_nodes < 1:
        raise InputError("the graph is empty: it has no node")
    if num_nodes > MAX_NODES:
        raise must_be("num_nodes", "Graph.from_edges", f"at most {MAX_NODES}", num_nodes)
    return int(num_nodes)


def _check_features(features: ArrayLike, num_nodes: int) -> NDArray[np.float32]:
    try:
        array = np.array(features, dtype=np.float32, order="C")
    except (TypeError, ValueError):
        raise InputError("features must be a table of numbers, one row a node") from None
    if array.ndim != 2:
        raise InputError(f"features must have two dimensions (nodes, values), got shape {array.shape}")
    if len(array) != num_nodes:
        raise InputError(f"features have {len(array)} rows, but the graph has {num_nodes} nodes")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"features: row {row}, column {column} is {array[row, column]}")
    return array


def _check_edge_data(edge_data: Mapping[str, ArrayLike], num_edges: int) -> dict[str, NDArray[Any]]:
    columns = {key: np.asarray(values) for key, values in edge_data.items()}
    for key, column in columns.items():
        if column.shape != (num_edges,):
            raise InputError(f"edge_data {key!r} has shape {column.shape}, but there are {num_edges} edges")
    return columns


def _tidy(
    pairs: NDArray[np.int64], self_loops: Handling, repeats: Handling
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """Refuse or drop self-loops and repeats: the pairs left, their rows, and what was dropped."""
    notes = []
    keep = np.arange(len(pairs))
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        row = int(np.flatnonzero(loops)[0])
        if self_loops == "refuse":
            raise InputError(
                f"edges: row {row} joins node {pairs[row, 0]} to itself;"
                " pass self_loops='drop' to leave such rows out"
            )
        keep = keep[~loops]
        notes.append(f"dropped {int(loops.sum())} self-loops")
    keys = pair_keys(pairs[keep], int(pairs.max(initial=0)) + 1)
    first = np.sort(np.unique(keys, return_index=True)[1])
    if len(first) < len(keep):
        if repeats == "refuse":
            again = np.ones(len(keep), dtype=np.bool_)
            again[first] = False
            row = int(keep[np.flatnonzero(again)[0]])
            raise InputError(
                f"edges: row {row} repeats the edge ({pairs[row, 0]}, {pairs[row, 1]});"
                " pass repeats='drop' to keep each edge once"
            )
        notes.append(f"dropped {len(keep) - len(first)} repeated edges")
        keep = keep[first]
    return pairs[keep], keep, tuple(notes)
