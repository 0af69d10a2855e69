"""What the benchmarks run on: generated graphs with a heavy tail of degrees, and pairs of their nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from trueedge import datasets
from trueedge.graph import Graph
from trueedge.splits import Split, fraction

# Price's model with its usual tail, p(k) ∝ k^-3: the largest degree is some 2,200 at 235,868 nodes.
EXPONENT = 3.0


@dataclass(frozen=True)
class Sizes:
    """How much work each subject gets.

    Attributes:
        collab: nodes and edges of the graph of ogbl-collab's size.
        wide: nodes and edges of the other graph.
        pairs: node pairs that are scored.
        few_pairs: those of them that the slowest peers get.
        own_positives: positives with 500 negatives of their own each.
        sources: numbers of sources of PageRank, a short task and a long one.
        few_sources: those of them that whole vectors are computed for.
        hard_positives: positives that get hard negatives.
        few_positives: those of them that the dense rows are timed on.
        negatives: degree-corrected negatives.
        ranked: positives and negatives of each, whose scores are ranked.
        separated: positives, and as many negatives, whose AUC is taken.
        scales: numbers of edges over which the growth of cost is fitted.
        triples: the knowledge graph whose answers are ranked.
    """

    collab: tuple[int, int]
    wide: tuple[int, int]
    pairs: int
    few_pairs: int
    own_positives: int
    sources: tuple[int, ...]
    few_sources: int
    hard_positives: int
    few_positives: int
    negatives: int
    ranked: tuple[int, int]
    separated: int
    scales: tuple[int, ...]
    triples: str


SIZES = {
    "full": Sizes(
        collab=(235_868, 1_285_465),
        wide=(200_000, 2_000_000),
        pairs=500_000,
        few_pairs=10_000,
        own_positives=1_000,
        sources=(200, 2_000),
        few_sources=5,
        hard_positives=46_329,
        few_positives=200,
        negatives=200_000,
        ranked=(86_596, 1_000),
        separated=1_000_000,
        scales=(500_000, 1_000_000, 2_000_000, 4_000_000),
        triples="fb15k-237",
    ),
    "small": Sizes(
        collab=(23_000, 128_000),
        wide=(20_000, 200_000),
        pairs=50_000,
        few_pairs=2_000,
        own_positives=100,
        sources=(20,),
        few_sources=2,
        hard_positives=2_000,
        few_positives=20,
        negatives=20_000,
        ranked=(8_000, 1_000),
        separated=100_000,
        scales=(50_000, 100_000, 200_000, 400_000),
        triples="umls",
    ),
    "tiny": Sizes(
        collab=(1_200, 6_000),
        wide=(1_000, 10_000),
        pairs=2_000,
        few_pairs=200,
        own_positives=10,
        sources=(5,),
        few_sources=2,
        hard_positives=50,
        few_positives=5,
        negatives=1_000,
        ranked=(200, 50),
        separated=1_000,
        scales=(2_000, 4_000, 8_000, 16_000),
        triples="nations",
    ),
}


@cache
def heavy_tailed(nodes: int, edges: int) -> Graph:
    """A graph of exactly that size whose degrees follow a power law, with its CSR arrays made."""
    graph = datasets.price(nodes, edges, EXPONENT)
    # What a graph makes when it is first asked is no part of any task.
    assert len(graph.indptr) == nodes + 1
    assert len(graph.edge_keys) == edges
    return graph


@cache
def with_held_out(nodes: int, edges: int, count: int) -> Split:
    """Such a graph with so many of its edges taken out as positives."""
    split = fraction(heavy_tailed(nodes, edges), (count + 0.5) / edges, seed=1, keep_connected=False)
    assert len(split.test) == count
    assert len(split.train.indptr) == nodes + 1
    return split


def degree_weighted_pairs(graph: Graph, count: int, seed: int = 0) -> NDArray[np.int64]:
    """Distinct pairs of two nodes, both ends drawn in proportion to degree: int64 (count, 2).

    Args:
        graph: where they are drawn from; a pair may be an edge.
        count: how many.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    ends = graph.edges.ravel()
    drawn = ends[rng.integers(0, len(ends), size=(2 * count, 2))].astype(np.int64)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    _, first = np.unique(np.sort(drawn, axis=1), axis=0, return_index=True)
    return np.ascontiguousarray(drawn[np.sort(first)[:count]])
