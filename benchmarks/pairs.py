"""Scores of node pairs from their common neighbours: CN, AA, RA and Jaccard.

Every package gets the graph and the pairs in its own form; what is timed is the call that scores them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.graphs import Sizes, degree_weighted_pairs, heavy_tailed
from benchmarks.timing import OURS, Bar, Contender, Row, absent_rows, invite, race
from trueedge import methods, negatives
from trueedge.graph import Graph

INDICES = ("cn", "aa", "ra", "jaccard")
Pairs = NDArray[np.int64]


# The fastest of 500, 2,000, 8,000 and 32,000 on the graph of ogbl-collab's size.
SCIPY_ROWS = 8_000


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """The four indices on pairs drawn by degree, then two of them on each positive's own negatives."""
    graph = heavy_tailed(*sizes.collab)
    pairs = degree_weighted_pairs(graph, sizes.pairs)
    few = pairs[: sizes.few_pairs]
    rows: list[Row] = []
    for index in INDICES:
        makers: dict[str, Callable[[], Contender]] = {
            "NetworKit": partial(networkit, graph, pairs, index, Bar("ratio", 10)),
            "scipy": partial(scipy, graph, pairs, index, Bar("ratio", 10)),
            "python-graphblas": partial(graphblas, graph, pairs, index, Bar("ratio", 5)),
            "networkx": partial(networkx, graph, few, index, sizes.few_pairs / sizes.pairs),
        }
        if index == "jaccard":
            makers["igraph"] = partial(igraph, graph, pairs)
        task = f"{index}, {sizes.pairs:,} pairs drawn by degree"
        rows += _scored(task, graph, pairs, index, makers if with_peers else {}, repeats)
    for index in ("cn", "ra"):
        rows += _own_negatives(graph, index, sizes, repeats, with_peers)
    return rows


def _own_negatives(graph: Graph, index: str, sizes: Sizes, repeats: int, with_peers: bool) -> list[Row]:
    rng = np.random.default_rng(2)
    positives = graph.edges[rng.choice(graph.num_edges, sizes.own_positives, replace=False)]
    hard = negatives.heart(graph, positives, k=500, eps=5e-5).reshape(-1, 2).astype(np.int64)
    task = f"{index}, {sizes.own_positives:,} positives × 500 hard negatives"
    makers: dict[str, Callable[[], Contender]] = {
        "scipy": partial(scipy, graph, hard, index, Bar("ratio", 20)),
        "NetworKit": partial(networkit, graph, hard, index),
        "python-graphblas": partial(graphblas, graph, hard, index),
    }
    return _scored(task, graph, hard, index, makers if with_peers else {}, repeats)


def _scored(
    task: str,
    graph: Graph,
    pairs: Pairs,
    index: str,
    makers: dict[str, Callable[[], Contender]],
    repeats: int,
) -> list[Row]:
    heuristic: Any = methods.get(index)()
    ours = Contender(OURS, lambda: heuristic.score(graph, pairs))
    peers, absent = invite(makers)
    return race(task, ours, peers, repeats) + absent_rows(task, absent)


def weights(graph: Graph, index: str) -> NDArray[np.float64]:
    """What a common neighbour counts in an index, float64 (n,)."""
    degrees = graph.degrees.astype(np.float64)
    if index == "ra":
        return 1.0 / np.maximum(degrees, 1.0)
    if index == "aa":
        return np.where(degrees > 1, 1.0 / np.log(np.maximum(degrees, 2.0)), 0.0)
    return np.ones(graph.num_nodes)


def of_union(graph: Graph, pairs: Pairs, common: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jaccard's index from the numbers of common neighbours."""
    union = graph.degrees[pairs].sum(axis=1) - common
    return np.asarray(np.divide(common, union, out=np.zeros(len(pairs)), where=union > 0))


def scipy(graph: Graph, pairs: Pairs, index: str, bar: Bar | None = None) -> Contender:
    """Rows of the adjacency, multiplied entry by entry and summed, some thousand pairs at a time."""
    adjacency = graph.adjacency()
    weighted = (adjacency * weights(graph, index)[None, :]).tocsr()
    blocks = [pairs[start : start + SCIPY_ROWS] for start in range(0, len(pairs), SCIPY_ROWS)]

    def run() -> NDArray[np.float64]:
        sums = [adjacency[block[:, 0]].multiply(weighted[block[:, 1]]).sum(axis=1) for block in blocks]
        common = np.concatenate(sums)
        return of_union(graph, pairs, common) if index == "jaccard" else common

    return Contender("scipy", run, bar=bar, note=f"row products, {SCIPY_ROWS:,} pairs at a time")


@cache
def _networkit_graph(graph: Graph) -> Any:
    import networkit

    ends = np.ascontiguousarray(graph.edges.T, dtype=np.uint64)
    made = networkit.GraphFromCoo((np.ones(graph.num_edges), (ends[0], ends[1])), n=graph.num_nodes)
    assert made.numberOfEdges() == graph.num_edges
    return made


def networkit(graph: Graph, pairs: Pairs, index: str, bar: Bar | None = None) -> Contender:
    """NetworKit's link predictors, which take a list of tuples and give back one sorted by pair."""
    from networkit import linkprediction

    kind = {
        "cn": linkprediction.CommonNeighborsIndex,
        "aa": linkprediction.AdamicAdarIndex,
        "ra": linkprediction.ResourceAllocationIndex,
        "jaccard": linkprediction.JaccardIndex,
    }[index]
    predictor = kind(_networkit_graph(graph))
    listed = list(map(tuple, pairs.tolist()))
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))

    def read(found: list[tuple[tuple[int, int], float]]) -> NDArray[np.float64]:
        scores = np.empty(len(pairs))
        scores[order] = [score for _, score in found]
        return scores

    return Contender("NetworKit", lambda: predictor.runOn(listed), read, bar=bar)


def graphblas(graph: Graph, pairs: Pairs, index: str, bar: Bar | None = None) -> Contender:
    """One masked product of the adjacency with itself: only the asked entries are computed."""
    import graphblas as gb

    size = graph.num_nodes
    adjacency = gb.io.from_scipy_sparse(graph.adjacency())
    weighted = gb.io.from_scipy_sparse((graph.adjacency() * weights(graph, index)[None, :]).tocsr())
    counts = index in ("cn", "jaccard")
    semiring = gb.semiring.plus_pair if counts else gb.semiring.plus_second
    keys = pairs[:, 0] * size + pairs[:, 1]

    def run() -> Any:
        asked = gb.Matrix.from_coo(pairs[:, 0], pairs[:, 1], True, nrows=size, ncols=size)
        product = gb.Matrix(float, size, size)
        product(asked.S) << semiring(adjacency @ weighted.T)
        return product.to_coo()

    def read(found: Any) -> NDArray[np.float64]:
        rows, columns, values = found
        # Absent entries are zeros; the others come sorted by row and column.
        there = rows.astype(np.int64) * size + columns.astype(np.int64)
        at = np.minimum(np.searchsorted(there, keys), len(there) - 1)
        common = np.where(there[at] == keys, values[at], 0.0)
        return of_union(graph, pairs, common) if index == "jaccard" else common

    return Contender("python-graphblas", run, read, bar=bar, note="masked product")


def igraph(graph: Graph, pairs: Pairs) -> Contender:
    """The one index igraph has for given pairs: Jaccard."""
    import igraph as ig

    made = ig.Graph(n=graph.num_nodes, edges=graph.edges)
    listed = list(map(tuple, pairs.tolist()))
    return Contender("igraph", lambda: made.similarity_jaccard(pairs=listed, loops=False))


@cache
def _networkx_graph(graph: Graph) -> Any:
    import networkx as nx

    made = nx.Graph()
    made.add_nodes_from(range(graph.num_nodes))
    made.add_edges_from(graph.edges.tolist())
    return made


def networkx(graph: Graph, pairs: Pairs, index: str, share: float) -> Contender:
    """Networkx on some of the pairs; the time of all is extrapolated."""
    import networkx as nx

    made = _networkx_graph(graph)
    listed = list(map(tuple, pairs.tolist()))
    formulas = {
        "aa": nx.adamic_adar_index,
        "ra": nx.resource_allocation_index,
        "jaccard": nx.jaccard_coefficient,
    }

    def run() -> list[float]:
        if index == "cn":
            return [float(len(nx.common_neighbors(made, u, v))) for u, v in listed]
        return [score for _, _, score in formulas[index](made, listed)]

    return Contender("networkx", run, share=share, note=f"extrapolated from {len(pairs):,} pairs")
