"""Sums over common neighbours against sets."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.intersection import _scattering_pays, _sum_galloping, common_neighbor_sums


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


@pytest.mark.parametrize("seed", range(20))
def test_galloping_finds_what_sets_find(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 100, 300).astype(np.float64)
    short = np.sort(rng.choice(300, rng.integers(0, 12), replace=False)).astype(np.int32)
    long_row = np.sort(rng.choice(300, rng.integers(0, 250), replace=False)).astype(np.int32)
    expected = sum(weights[w] for w in set(short.tolist()) & set(long_row.tolist()))
    assert _sum_galloping(short, long_row, weights) == expected


def test_one_lopsided_pair_is_searched_and_many_are_scattered():
    hub, leaves = 0, np.arange(1, 40)
    graph = Graph.from_edges(np.stack([np.full(39, hub), leaves], axis=1))
    small = leaves.astype(np.int64)
    assert not _scattering_pays(graph.indptr, small, np.arange(1), 39)
    assert _scattering_pays(graph.indptr, small, np.arange(39), 39)
    pairs = np.array([[1, 0], [0, 0]])
    assert fast_sums(graph, pairs[:1], np.ones(40)).tolist() == [0.0]
    assert fast_sums(graph, pairs, np.ones(40)).tolist() == [0.0, 39.0]


def test_a_lonely_pair_with_a_hub_gets_the_same_bits_as_in_a_crowd():
    rng = np.random.default_rng(3)
    spokes = np.stack([np.zeros(38, dtype=np.int64), np.arange(1, 39)], axis=1)
    graph = Graph.from_edges(np.concatenate([spokes, [[39, 5], [39, 20], [39, 33]]]))
    weights = rng.random(40)
    crowd = fast_sums(graph, all_pairs(40), weights)
    assert fast_sums(graph, np.array([[0, 39]]), weights)[0] == crowd[39 * 40]
    assert not _scattering_pays(graph.indptr, np.array([39]), np.array([0]), 38)


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
