"""How cost grows with the graph: the exponent of time in edges, fitted over four sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.graphs import Sizes, degree_weighted_pairs, heavy_tailed
from benchmarks.timing import OURS, Bar, Contender, Row, race
from trueedge import methods
from trueedge.graph import Graph

EDGES_PER_NODE = 10
# Pairs and sources grow with the graph: the work is to be in proportion to its edges.
EDGES_PER_PAIR = 4
EDGES_PER_SOURCE = 10_000
ALPHA, EPS = 0.15, 5e-5


def measure(sizes: Sizes, repeats: int, with_peers: bool = True) -> list[Row]:
    """Building, common neighbours and push at each size, and the exponent of each."""
    del with_peers
    rows: list[Row] = []
    for name, prepare in (("building", building), ("common neighbours", scoring), ("push", pushing)):
        timed: list[Row] = []
        for edges in sizes.scales:
            run = prepare(heavy_tailed(edges // EDGES_PER_NODE, edges))
            timed += race(f"{name}, {edges:,} edges", Contender(OURS, run), [], repeats)
        rows += [*timed, fitted(name, sizes.scales, [row.seconds or 0.0 for row in timed])]
        heavy_tailed.cache_clear()
    return rows


def fitted(name: str, edges: tuple[int, ...], seconds: list[float]) -> Row:
    """The line that states a growth exponent."""
    bar = Bar("exponent", 1.1)
    slope = exponent(edges, seconds)
    return Row(
        f"{name}: growth exponent in edges",
        OURS,
        None,
        exponent=slope,
        bar=str(bar),
        reached=slope <= bar.value,
    )


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """The slope of the line of least squares through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def building(graph: Graph) -> Callable[[], Any]:
    """A graph from shuffled edges in both directions, checked, with its CSR arrays."""
    rng = np.random.default_rng(0)
    edges = graph.edges[rng.permutation(graph.num_edges)]
    turned = rng.random(len(edges)) < 0.5
    edges[turned] = edges[turned, ::-1]

    def run() -> int:
        return len(Graph.from_edges(edges, graph.num_nodes).indices)

    return run


def scoring(graph: Graph) -> Callable[[], Any]:
    """Common neighbours of pairs drawn by degree, a quarter as many as edges."""
    pairs = degree_weighted_pairs(graph, graph.num_edges // EDGES_PER_PAIR)
    heuristic: Any = methods.get("cn")()
    return lambda: heuristic.score(graph, pairs)


def pushing(graph: Graph) -> Callable[[], Any]:
    """PageRank of sources drawn uniformly, one for ten thousand edges."""
    from trueedge.kernels.walks.push import push_rows

    count = max(1, graph.num_edges // EDGES_PER_SOURCE)
    sources = np.random.default_rng(0).choice(graph.num_nodes, count, replace=False)
    return lambda: push_rows(graph.indptr, graph.indices, sources, ALPHA, EPS)
