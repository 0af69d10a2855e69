"""Sums over walks against powers of dense matrices."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.walks.walks import walk_sums


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


def slow_sums(graph: Graph, pairs: np.ndarray, coefficients: np.ndarray, weights: np.ndarray) -> np.ndarray:
    adjacency = graph.adjacency().toarray()
    walks = adjacency
    total = coefficients[0] * walks
    for coefficient in coefficients[1:]:
        walks = walks @ np.diag(weights) @ adjacency
        total = total + coefficient * walks
    return total[pairs[:, 0], pairs[:, 1]]


def fast_sums(graph: Graph, pairs: np.ndarray, coefficients: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return walk_sums(graph.indptr, graph.indices, pairs, coefficients, weights)


@pytest.mark.parametrize("lengths", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_sums_equal_matrix_powers(seed, lengths, random_graph):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=6 + 3 * seed, edges=6 + 6 * seed)
    pairs = all_pairs(graph.num_nodes)
    coefficients = rng.random(lengths)
    weights = rng.random(graph.num_nodes) * (rng.random(graph.num_nodes) < 0.8)
    expected = slow_sums(graph, pairs, coefficients, weights)
    np.testing.assert_allclose(fast_sums(graph, pairs, coefficients, weights), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(5))
def test_walks_are_counted_exactly(seed, random_graph):
    graph = random_graph(seed, nodes=20, edges=60)
    pairs = all_pairs(20)
    cubed = np.linalg.matrix_power(graph.adjacency().toarray().astype(np.int64), 3)
    counted = fast_sums(graph, pairs, np.array([0.0, 0.0, 1.0]), np.ones(20))
    assert counted.tolist() == cubed[pairs[:, 0], pairs[:, 1]].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_direction_order_company_and_threads_change_no_bit(seed, random_graph):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=18, edges=50)
    pairs = all_pairs(18)
    given = np.array([1.0, 0.5, 0.25, 0.125]), rng.random(18)
    sums = fast_sums(graph, pairs, *given)
    assert fast_sums(graph, pairs[:, ::-1].copy(), *given).tobytes() == sums.tobytes()
    order = rng.permutation(len(pairs))
    assert fast_sums(graph, pairs[order], *given).tobytes() == sums[order].tobytes()
    alone = [fast_sums(graph, pairs[i : i + 1], *given)[0] for i in order[:40]]
    assert alone == sums[order[:40]].tolist()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert fast_sums(graph, pairs, *given).tobytes() == sums.tobytes()
    finally:
        numba.set_num_threads(threads)


def test_weights_so_small_that_walks_vanish_leave_nothing_behind():
    complete = Graph.from_edges(np.argwhere(np.triu(np.ones((8, 8)), 1)))
    pairs = all_pairs(8)
    sums = fast_sums(complete, pairs, np.array([0.0, 0.0, 0.0, 0.0, 1.0]), np.full(8, 1e-200))
    assert (sums == 0.0).all()


def test_no_pair_isolated_nodes_and_one_node_are_fine():
    graph = Graph.from_edges(np.array([[0, 1]]), 4)
    coefficients = np.ones(3)
    assert fast_sums(graph, np.empty((0, 2), dtype=np.int64), coefficients, np.ones(4)).shape == (0,)
    pairs = np.array([[0, 1], [0, 0], [2, 3], [2, 2], [0, 3]])
    assert fast_sums(graph, pairs, coefficients, np.ones(4)).tolist() == [2.0, 1.0, 0.0, 0.0, 0.0]
    single = Graph.from_edges(np.empty((0, 2)), 1)
    assert fast_sums(single, np.array([[0, 0]]), coefficients, np.ones(1)).tolist() == [0.0]
