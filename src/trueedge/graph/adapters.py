"""Graphs from and for other libraries, none of which is imported before it is needed."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, is_number, must_be, unknown
from trueedge.files.records import Records
from trueedge.graph.bipartite import marked_sides
from trueedge.graph.pairs import as_pairs
from trueedge.graph.validation import Handling, check_handling, check_num_nodes, dropped

if TYPE_CHECKING:
    import networkx
    from scipy.sparse import csr_array
    from torch_geometric.data import Data

    from trueedge.graph.graph import Graph

Directed = Literal["refuse", "union"]


def from_networkx(
    cls: type[Graph],
    graph: Any,
    *,
    features: ArrayLike | None = None,
    directed: Directed = "refuse",
    self_loops: Handling = "refuse",
    repeats: Handling = "refuse",
    name: str | None = None,
) -> Graph:
    """Build a graph from a networkx graph of any kind; a directed one must have each edge both ways.

    Nodes that are exactly ``0..n-1`` keep their numbers. Others are numbered in the order of
    ``graph.nodes`` and keep their names as labels. Attributes that are a number on every edge become edge
    data, and the attribute ``bipartite`` of all nodes, 0 or 1, their sides.

    Args:
        cls: the class to build.
        graph: a networkx ``Graph``, ``DiGraph``, ``MultiGraph`` or ``MultiDiGraph``.
        features: float array (n, d), one row per node.
        directed: in a directed graph, ``"refuse"`` an edge without the one the other way, or take the
            ``"union"``: an edge where there is one either way.
        self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
        repeats: ``"refuse"`` an edge that occurs again (parallel, in the same direction), or ``"drop"`` it.
        name: what to call the graph; its own name where it has one.
    """
    if not all(callable(getattr(graph, part, None)) for part in ("nodes", "edges", "is_directed")):
        raise InputError(f"from_networkx: a networkx graph is needed, got {type(graph).__name__}")
    check_handling(self_loops, repeats, "from_networkx")
    _check_directed(directed, "from_networkx")
    nodes = list(graph.nodes())
    count = check_num_nodes(len(nodes), "from_networkx")
    numbered = all(type(node) is int for node in nodes) and set(nodes) == set(range(count))
    place = {node: node if numbered else row for row, node in enumerate(nodes)}
    listed = [(place[u], place[v], data) for u, v, data in graph.edges(data=True)]
    pairs = as_pairs([(u, v) for u, v, _ in listed], count, "edges")
    data = _numeric_attributes([data for _, _, data in listed])
    notes: tuple[str, ...] = ()
    if graph.is_directed():
        arcs = _Arcs(pairs, count, "from_networkx", "the graph", "edge", None if numbered else nodes)
        rows, notes = arcs.edges(directed, repeats)
        pairs, data = pairs[rows], {key: column[rows] for key, column in data.items()}
    result = cls.from_edges(
        pairs,
        count,
        features,
        self_loops=self_loops,
        repeats=repeats,
        labels=None if numbered else nodes,
        edge_data=data,
        name=name or str(getattr(graph, "name", "")) or None,
    )
    marks = [graph.nodes[node].get("bipartite") for node in (range(count) if numbered else nodes)]
    return dataclasses.replace(result, notes=(*notes, *result.notes), sides=marked_sides(marks, result.edges))


def from_scipy(
    cls: type[Graph],
    matrix: Any,
    *,
    features: ArrayLike | None = None,
    directed: Directed = "refuse",
    self_loops: Handling = "refuse",
    name: str | None = None,
) -> Graph:
    """Build a graph from a square scipy sparse matrix: an entry that is not zero is an edge.

    Entries that are not all one become the edge data ``weight``; of two that differ, the upper one is kept.

    Args:
        cls: the class to build.
        matrix: a sparse matrix or array (n, n) of any format.
        features: float array (n, d), one row per node.
        directed: ``"refuse"`` an entry whose mirror image is zero, or take the ``"union"``: an edge
            where either entry is not zero.
        self_loops: ``"refuse"`` an entry on the diagonal, or ``"drop"`` it.
        name: what to call the graph.
    """
    if not hasattr(matrix, "tocsr") or len(getattr(matrix, "shape", ())) != 2:
        raise InputError(f"from_scipy: a scipy sparse matrix is needed, got {type(matrix).__name__}")
    rows, columns = matrix.shape
    if rows != columns:
        raise InputError(f"from_scipy: an adjacency matrix is square, this one has shape ({rows}, {columns})")
    entries = matrix.tocsr(copy=True)
    entries.sum_duplicates()
    entries = entries.tocoo()
    if entries.dtype.kind not in "biuf":
        raise InputError(f"from_scipy: the matrix must hold numbers, got values of type {entries.dtype}")
    pairs = np.stack([entries.row, entries.col], axis=1).astype(np.int64)
    bad = ~np.isfinite(entries.data)
    if bad.any():
        at = int(bad.argmax())
        u, v = pairs[at]
        raise InputError(f"from_scipy: the entry ({u}, {v}) is {entries.data[at]}")
    count = check_num_nodes(rows, "from_scipy")
    there = entries.data != 0
    pairs, values = pairs[there], entries.data[there]
    rows, notes = _Arcs(pairs, count, "from_scipy").edges(directed)
    data = {} if (values == 1).all() else {"weight": values[rows].astype(np.float64)}
    graph = cls.from_edges(pairs[rows], count, features, self_loops=self_loops, edge_data=data, name=name)
    return dataclasses.replace(graph, notes=(*notes, *graph.notes))


def from_pyg(
    cls: type[Graph],
    data: Any,
    *,
    directed: Directed = "refuse",
    self_loops: Handling = "refuse",
    repeats: Handling = "refuse",
    name: str | None = None,
) -> Graph:
    """Build a graph from a PyTorch Geometric ``Data``: its ``edge_index`` and, where there is one, its ``x``.

    ``edge_weight`` (or else an ``edge_attr`` with one number per edge) and ``edge_time`` become the edge data
    ``weight`` and ``time``.

    Args:
        cls: the class to build.
        data: an object with ``edge_index``, int tensor (2, e) that lists each edge in both directions.
        directed: ``"refuse"`` an edge listed in one direction only, or take the ``"union"``.
        self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
        repeats: ``"refuse"`` an edge listed twice in the same direction, or ``"drop"`` it.
        name: what to call the graph.
    """
    check_handling(self_loops, repeats, "from_pyg")
    index = _to_numpy(getattr(data, "edge_index", None))
    if index is None or index.ndim != 2 or len(index) != 2:
        shape = "none" if index is None else f"one of shape {index.shape}"
        raise InputError(f"from_pyg: the data needs an edge_index of shape (2, e), it has {shape}")
    features = _to_numpy(getattr(data, "x", None))
    with warnings.catch_warnings():
        # PyG warns where it infers the number of nodes from the ids, as we do then, which is documented.
        warnings.simplefilter("ignore")
        num_nodes = getattr(data, "num_nodes", None)
    if num_nodes is not None:
        num_nodes = check_num_nodes(num_nodes, "from_pyg")
    pairs = as_pairs(index.T, num_nodes, "edge_index")
    count = num_nodes or check_num_nodes(int(pairs.max(initial=-1)) + 1, "from_pyg")
    rows, notes = _Arcs(pairs, count, "from_pyg", "edge_index", "column").edges(directed, repeats)
    columns = {key: column[rows] for key, column in _pyg_edge_data(data, len(pairs)).items()}
    graph = cls.from_edges(pairs[rows], count, features, self_loops=self_loops, edge_data=columns, name=name)
    return dataclasses.replace(graph, notes=(*notes, *graph.notes))


def to_networkx(graph: Graph) -> networkx.Graph:
    """Return the graph as a networkx ``Graph``; nodes are its labels, or ``0..n-1`` without labels.

    Edge data becomes attributes of the edges, sides the attribute ``bipartite`` of nodes; features are left
    out.
    """
    from networkx import Graph as NetworkxGraph

    nodes: list[Any] = list(range(graph.num_nodes)) if graph.labels is None else list(graph.labels)
    result = NetworkxGraph(name=graph.name)
    result.add_nodes_from(nodes)
    for node, side in zip(nodes, [] if graph.sides is None else graph.sides.tolist(), strict=False):
        if side >= 0:
            result.nodes[node]["bipartite"] = side
    result.add_edges_from((nodes[u], nodes[v]) for u, v in graph.edges.tolist())
    for key, column in graph.edge_data.items():
        for (u, v), value in zip(graph.edges.tolist(), column.tolist(), strict=True):
            result.edges[nodes[u], nodes[v]][key] = value
    return result


def to_scipy(graph: Graph, values: str | None = None) -> csr_array[Any, Any]:
    """Return the symmetric adjacency matrix as a scipy CSR array (n, n) of float64.

    Args:
        graph: the graph.
        values: the edge data to use as entries, such as ``"weight"``; by default they are one.
    """
    from scipy.sparse import csr_array

    if values is None:
        return graph.adjacency()
    if values not in graph.edge_data:
        raise unknown(f"edge data of {graph.name}", values, graph.edge_data or ["(none)"])
    entries = graph.edge_data[values].astype(np.float64)
    if (entries == 0).any():
        u, v = graph.edges[int((entries == 0).argmax())]
        raise InputError(f"to_scipy: the {values} of the edge ({u}, {v}) is 0, which is no edge in a matrix")
    rows, columns = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T
    both = np.concatenate([entries, entries])
    return csr_array((both, (rows, columns)), shape=(graph.num_nodes, graph.num_nodes))


def to_pyg(graph: Graph) -> Data:
    """Return the graph as a PyTorch Geometric ``Data``: each edge in both directions, features as ``x``.

    Edge data is there as ``edge_weight``, ``edge_time`` and so on. Labels are left out.
    """
    import torch
    from torch_geometric.data import Data

    both = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.astype(np.int64)
    features = None if graph.features is None else torch.from_numpy(graph.features.copy())
    columns = {f"edge_{key}": torch.from_numpy(np.tile(one, 2)) for key, one in graph.edge_data.items()}
    index = torch.from_numpy(both)
    return Data(x=features, edge_index=index, num_nodes=graph.num_nodes, **columns)


def to_pandas(graph: Graph) -> Any:
    """Return the edges of a graph as a data frame: ``source``, ``target``, and a column for each edge data.

    Nodes are their labels, or ``0..n-1`` without labels. Features and nodes without an edge are left out.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError("to_pandas: pandas is not installed (pip install pandas)") from None
    nodes = np.arange(graph.num_nodes) if graph.labels is None else np.array(graph.labels, dtype=object)
    ends = {"source": nodes[graph.edges[:, 0]], "target": nodes[graph.edges[:, 1]]}
    return DataFrame({**ends, **{key: column.copy() for key, column in graph.edge_data.items()}})


def frame_records(frame: Any) -> Records:
    """Return the columns of a data frame of pandas or polars; refuse anything else."""
    columns = getattr(frame, "columns", None)
    if columns is None or (not hasattr(frame, "iloc") and not hasattr(frame, "get_column_index")):
        raise InputError(f"from_pandas: a data frame is needed, got {type(frame).__name__}")
    names = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in columns]
    # By place: two columns may have the same name.
    values = [
        (frame.iloc[:, place] if hasattr(frame, "iloc") else frame[names[place]]).to_numpy()
        for place in range(len(names))
    ]
    return Records("the data frame", tuple(names), tuple(values))


@dataclasses.dataclass(frozen=True, eq=False)
class _Arcs:
    """Directed pairs that stand for undirected edges, with the words for error messages.

    Attributes:
        pairs: int64 array (a, 2), ids below ``num_nodes``.
        num_nodes: the number of nodes.
        owner: the function they were given to.
        source: what lists them.
        place: what a row of them is called.
        nodes: the nodes' own names; None where they are numbers.
    """

    pairs: NDArray[np.int64]
    num_nodes: int
    owner: str
    source: str = ""
    place: str = ""
    nodes: list[Any] | None = None

    def edges(
        self, directed: Directed, repeats: Handling = "refuse"
    ) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return a row of each edge, and notes; refuse or take edges in one direction only, and repeats."""
        _check_directed(directed, self.owner)
        rows, notes = self._without_repeats(repeats)
        once = self.pairs[rows]
        low, high = once.min(axis=1, initial=self.num_nodes), once.max(axis=1, initial=0)
        keys, first, count = np.unique(low * self.num_nodes + high, return_index=True, return_counts=True)
        alone = (count == 1) & (keys // self.num_nodes != keys % self.num_nodes)
        if directed == "refuse" and alone.any():
            pair = once[first[alone].min()]
            raise InputError(
                f"{self.owner}: the edge {self._named(pair)} is there and {self._named(pair[::-1])} is not;"
                " directed='union' would take both for one edge"
            )
        if alone.any():
            total = int((keys // self.num_nodes != keys % self.num_nodes).sum())
            few = int(alone.sum())
            verb = "goes" if few == 1 else "go"
            said = f"direction is ignored: {few:,} of {total:,} edges {verb} one way only"
            notes = (*notes, said)
        return rows[np.sort(first)], notes

    def _without_repeats(self, repeats: Handling) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        keys = self.pairs[:, 0] * self.num_nodes + self.pairs[:, 1]
        first = np.unique(keys, return_index=True)[1]
        again = len(self.pairs) - len(first)
        if again == 0:
            return np.arange(len(self.pairs)), ()
        if repeats == "refuse":
            row = int(np.setdiff1d(np.arange(len(self.pairs)), first)[0])
            raise InputError(
                f"{self.owner}: {self.source} lists {self._named(self.pairs[row])} again at"
                f" {self.place} {row}; repeats='drop' would keep each edge once"
            )
        return np.sort(first), (dropped(again, "repeated directed edge"),)

    def _named(self, pair: NDArray[np.int64]) -> str:
        u, v = (node if self.nodes is None else self.nodes[node] for node in pair.tolist())
        return f"({u!r}, {v!r})"


def _numeric_attributes(listed: list[dict[str, Any]]) -> dict[str, NDArray[np.float64]]:
    """Return the attributes that are a finite number on every edge, float64 (m,) each."""
    found = {}
    for key in listed[0] if listed else ():
        values = [data.get(key) for data in listed]
        if isinstance(key, str) and all(is_number(value) and math.isfinite(value) for value in values):
            found[key] = np.array(values, dtype=np.float64)
    return found


def _pyg_edge_data(data: Any, count: int) -> dict[str, NDArray[Any]]:
    """Return the weight and the time of each column of the edge_index, where the data has them."""
    found = {}
    for key, attributes in {"weight": ("edge_weight", "edge_attr"), "time": ("edge_time",)}.items():
        for attribute in attributes:
            column = _to_numpy(getattr(data, attribute, None))
            if key in found or column is None or column.shape not in ((count,), (count, 1)):
                continue
            if column.dtype.kind in "iuf" and np.isfinite(column).all():
                found[key] = column.reshape(-1).astype(np.float64)
    return found


def _check_directed(directed: str, owner: str) -> None:
    if directed not in ("refuse", "union"):
        raise must_be("directed", owner, "'refuse' or 'union'", directed)


def _to_numpy(values: Any) -> NDArray[Any] | None:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.to_dense() if values.is_sparse else values
    if isinstance(values, np.ma.MaskedArray):
        return values  # the checks below refuse masked values
    return None if values is None else np.asarray(values)
