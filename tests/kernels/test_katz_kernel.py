"""The fixed point of the Katz step against the dense inverse, and against fractions."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.walks.katz import katz_sums


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


def slow_sums(graph: Graph, pairs: np.ndarray, beta: float) -> np.ndarray:
    identity = np.eye(graph.num_nodes)
    closed = np.linalg.inv(identity - beta * graph.adjacency().toarray()) - identity
    return closed[pairs[:, 0], pairs[:, 1]]


def fast_sums(graph: Graph, pairs: np.ndarray, beta: float) -> np.ndarray:
    return katz_sums(graph.indptr, graph.indices, pairs, beta)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("seed", range(5))
def test_sums_equal_the_closed_form(seed, share, random_graph):
    nodes = 6 + 3 * seed
    graph = random_graph(seed, nodes=nodes, edges=2 * nodes)
    beta = share / np.linalg.eigvalsh(graph.adjacency().toarray())[-1]
    pairs = all_pairs(nodes)
    expected = slow_sums(graph, pairs, beta)
    np.testing.assert_allclose(fast_sums(graph, pairs, beta), expected, rtol=1e-9, atol=1e-14)


def test_the_far_end_of_a_path_is_accurate_relative_to_itself():
    # (I - βA)^-1 of a path of n nodes joins its ends by β^(n-1) / D_n with D_n = D_(n-1) - β² D_(n-2).
    beta, nodes = 0.005, 30
    exact = Fraction(beta)
    before, determinant = Fraction(1), Fraction(1)
    for _ in range(nodes - 1):
        before, determinant = determinant, determinant - exact**2 * before
    expected = exact ** (nodes - 1) / determinant
    path = Graph.from_edges(np.stack([np.arange(nodes - 1), np.arange(1, nodes)], axis=1))
    found = fast_sums(path, np.array([[0, nodes - 1]]), beta)[0]
    assert abs(Fraction(float(found)) / expected - 1) < Fraction(1, 10**14)


def test_what_no_walk_joins_is_exactly_zero(random_graph):
    graph = random_graph(4, nodes=25, edges=15)
    pairs = all_pairs(25)
    component = graph.components()
    apart = component[pairs[:, 0]] != component[pairs[:, 1]]
    sums = fast_sums(graph, pairs, 0.01)
    alone = graph.degrees[pairs[:, 0]] == 0
    assert (sums[apart | alone] == 0.0).all()
    assert (sums[~apart & ~alone] > 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_direction_order_company_and_threads_change_no_bit(seed, random_graph):
    graph = random_graph(seed, nodes=15, edges=30)
    pairs = all_pairs(15)
    sums = fast_sums(graph, pairs, 0.1)
    assert fast_sums(graph, pairs[:, ::-1].copy(), 0.1).tobytes() == sums.tobytes()
    order = np.random.default_rng(seed).permutation(len(pairs))
    assert fast_sums(graph, pairs[order], 0.1).tobytes() == sums[order].tobytes()
    alone = [fast_sums(graph, pairs[i : i + 1], 0.1)[0] for i in order[:20]]
    assert alone == sums[order[:20]].tolist()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert fast_sums(graph, pairs, 0.1).tobytes() == sums.tobytes()
    finally:
        numba.set_num_threads(threads)


def test_no_pair_and_one_node_are_fine():
    graph = Graph.from_edges(np.empty((0, 2)), 1)
    assert fast_sums(graph, np.empty((0, 2), dtype=np.int64), 0.1).shape == (0,)
    assert fast_sums(graph, np.array([[0, 0]]), 0.1).tolist() == [0.0]
