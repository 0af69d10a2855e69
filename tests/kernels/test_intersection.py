"""Sums over common neighbours against sets."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.neighbors import intersection
from trueedge.kernels.neighbors.intersection import (
    common_neighbor_counts,
    common_neighbor_sums,
    jaccard_indices,
)
from trueedge.kernels.neighbors.marking import SHORT, _search


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


def slow_sums(graph: Graph, pairs: np.ndarray, weights: np.ndarray) -> list[float]:
    near = [set(graph.neighbors(node).tolist()) for node in range(graph.num_nodes)]
    return [math.fsum(weights[w] for w in near[u] & near[v]) for u, v in pairs.tolist()]


def fast_sums(graph: Graph, pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return common_neighbor_sums(graph.indptr, graph.indices, pairs, weights)


@pytest.mark.parametrize("seed", range(20))
def test_sums_equal_exactly_rounded_sums_over_sets(seed, random_graph):
    graph = random_graph(seed, nodes=5 + seed, edges=4 * seed)
    pairs = all_pairs(graph.num_nodes)
    weights = np.random.default_rng(seed).random(graph.num_nodes)
    np.testing.assert_allclose(
        fast_sums(graph, pairs, weights), slow_sums(graph, pairs, weights), rtol=2e-16, atol=0
    )


def check_all(graph: Graph, pairs: np.ndarray, seed: int = 0) -> None:
    """Sums, counts and shares of the pairs against sets."""
    weights = np.random.default_rng(seed).random(graph.num_nodes)
    sums = fast_sums(graph, pairs, weights)
    np.testing.assert_allclose(sums, slow_sums(graph, pairs, weights), rtol=2e-16, atol=0)
    counts = np.array(slow_sums(graph, pairs, np.ones(graph.num_nodes)))
    assert common_neighbor_counts(graph.indptr, graph.indices, pairs).tolist() == counts.tolist()
    union = graph.degrees[pairs].sum(axis=1) - counts
    shares = np.divide(counts, union, out=np.zeros(len(pairs)), where=union > 0)
    assert jaccard_indices(graph.indptr, graph.indices, pairs).tolist() == shares.tolist()


def hubs(nodes: int, seed: int) -> Graph:
    """Two nodes next to most others, the others next to a few."""
    rng = np.random.default_rng(seed)
    spokes = [(hub, leaf) for hub in (0, 1) for leaf in range(2, nodes) if rng.random() < 0.8]
    drawn = np.array(spokes + rng.integers(2, nodes, (nodes, 2)).tolist())
    return Graph.from_edges(drawn, nodes, self_loops="drop", repeats="drop")


@pytest.mark.parametrize("seed", range(6))
def test_gathered_pairs_are_scored_as_sets_score_them(seed, random_graph):
    graph = random_graph(seed, nodes=60, edges=300)
    pairs = np.random.default_rng(seed).permutation(all_pairs(60))
    assert not intersection._in_runs(pairs)
    check_all(graph, pairs, seed)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("side", [0, 1])
def test_lists_of_negatives_are_scored_as_sets_score_them(side, seed, random_graph):
    graph = random_graph(seed, nodes=60, edges=300)
    rng = np.random.default_rng(seed)
    kept = np.repeat(rng.integers(0, 60, 50), rng.integers(20, 60, 50))
    pairs = np.stack([kept, rng.integers(0, 60, len(kept))], axis=1)[:, [side, 1 - side]]
    assert intersection._in_runs(pairs)
    check_all(graph, pairs, seed)


@pytest.mark.parametrize("seed", range(6))
def test_a_few_pairs_with_hubs_are_scored_as_sets_score_them(seed):
    graph = hubs(40 * SHORT, seed)
    rng = np.random.default_rng(seed)
    assert graph.degrees[:2].min() > SHORT
    pairs = np.concatenate([rng.integers(0, graph.num_nodes, (40, 2)), [[0, 5], [7, 1], [0, 1], [1, 1]]])
    check_all(graph, pairs, seed)


def test_pairs_beyond_a_slab_are_scored_alike(random_graph, monkeypatch):
    graph = random_graph(5, nodes=40, edges=200)
    pairs = np.random.default_rng(5).permutation(all_pairs(40))
    whole = fast_sums(graph, pairs, np.ones(40))
    monkeypatch.setattr(intersection, "SLAB", 300)
    assert fast_sums(graph, pairs, np.ones(40)).tolist() == whole.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_a_search_finds_what_sets_find(seed):
    rng = np.random.default_rng(seed)
    short = np.sort(rng.choice(300, rng.integers(0, 12), replace=False)).astype(np.int32)
    long_row = np.sort(rng.choice(300, rng.integers(0, 250), replace=False)).astype(np.int32)
    hits = np.empty(300, dtype=np.int32)
    found = _search(short, long_row, hits)
    assert hits[:found].tolist() == sorted(set(short.tolist()) & set(long_row.tolist()))


@pytest.mark.compiled
def test_a_lonely_pair_with_a_hub_gets_the_same_bits_as_in_a_crowd():
    graph = hubs(4 * SHORT, 3)
    weights = np.random.default_rng(3).random(graph.num_nodes)
    crowd = fast_sums(graph, np.random.default_rng(4).permutation(all_pairs(graph.num_nodes)), weights)
    pairs = np.random.default_rng(4).permutation(all_pairs(graph.num_nodes))
    for p in np.flatnonzero(pairs[:, 0] < 2)[:50]:
        assert fast_sums(graph, pairs[p : p + 1], weights)[0] == crowd[p]


@pytest.mark.parametrize("seed", range(10))
def test_renaming_the_nodes_changes_no_bit(seed, random_graph):
    graph = random_graph(seed, nodes=25, edges=120)
    rename = np.random.default_rng(seed).permutation(25)
    renamed = Graph.from_edges(rename[graph.edges], 25)
    pairs = all_pairs(25)
    before = fast_sums(graph, pairs, 1.0 / np.maximum(graph.degrees, 1))
    after = fast_sums(renamed, rename[pairs], 1.0 / np.maximum(renamed.degrees, 1))
    assert before.tobytes() == after.tobytes()


def test_the_number_of_threads_changes_no_bit(random_graph):
    graph = random_graph(1, nodes=40, edges=200)
    pairs = all_pairs(40)
    weights = np.random.default_rng(1).random(40)
    threads = numba.get_num_threads()
    many = fast_sums(graph, pairs, weights)
    try:
        numba.set_num_threads(1)
        assert fast_sums(graph, pairs, weights).tobytes() == many.tobytes()
    finally:
        numba.set_num_threads(threads)


def test_no_pair_and_no_edge_are_fine():
    graph = Graph.from_edges(np.empty((0, 2)), 3)
    assert fast_sums(graph, np.empty((0, 2), dtype=np.int64), np.ones(3)).shape == (0,)
    assert fast_sums(graph, np.array([[0, 1], [2, 2]]), np.ones(3)).tolist() == [0.0, 0.0]
