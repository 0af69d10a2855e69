"""Shortest distances against scipy's, over whole graphs."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from trueedge.graph import Graph
from trueedge.kernels.neighbors.bfs import distances


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


def slow_distances(graph: Graph, pairs: np.ndarray) -> list[int]:
    table = shortest_path(graph.adjacency(), directed=False, unweighted=True)
    return np.where(np.isinf(table), -1, table)[pairs[:, 0], pairs[:, 1]].astype(int).tolist()


def fast_distances(graph: Graph, pairs: np.ndarray) -> list[int]:
    return distances(graph.indptr, graph.indices, pairs).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_distances_equal_those_of_a_full_search(seed, random_graph):
    nodes = 5 + seed
    graph = random_graph(seed, nodes=nodes, edges=int(nodes * (0.5 + seed % 5 * 0.4)))
    pairs = all_pairs(nodes)
    assert fast_distances(graph, pairs) == slow_distances(graph, pairs)


@pytest.mark.parametrize("seed", range(10))
def test_a_pair_alone_in_either_direction_gets_the_same_distance(seed, random_graph):
    graph = random_graph(seed, nodes=30, edges=32)
    pairs = all_pairs(30)[np.random.default_rng(seed).permutation(900)[:60]]
    expected = slow_distances(graph, pairs)
    assert [fast_distances(graph, pair[None])[0] for pair in pairs] == expected
    assert fast_distances(graph, pairs[:, ::-1].copy()) == expected


@pytest.mark.parametrize("column", [0, 1])
def test_targets_of_one_source_share_its_search_whichever_column_it_stands_in(column, random_graph):
    graph = random_graph(7, nodes=40, edges=55)
    rng = np.random.default_rng(7)
    pairs = rng.integers(0, 40, (120, 2))
    pairs[:, column] = np.repeat([3, 17], 60)
    assert fast_distances(graph, pairs) == slow_distances(graph, pairs)


def test_a_long_path_and_a_star_are_walked_to_their_ends():
    path = Graph.from_edges(np.stack([np.arange(39), np.arange(1, 40)], axis=1))
    pairs = all_pairs(40)
    assert fast_distances(path, pairs) == np.abs(pairs[:, 0] - pairs[:, 1]).tolist()
    star = Graph.from_edges(np.stack([np.zeros(39, dtype=int), np.arange(1, 40)], axis=1))
    assert fast_distances(star, pairs) == slow_distances(star, pairs)


def test_the_number_of_threads_changes_nothing(random_graph):
    graph = random_graph(2, nodes=40, edges=50)
    pairs = all_pairs(40)
    threads = numba.get_num_threads()
    many = fast_distances(graph, pairs)
    try:
        numba.set_num_threads(1)
        assert fast_distances(graph, pairs) == many
    finally:
        numba.set_num_threads(threads)


def test_no_pair_and_nodes_without_edges_are_fine():
    graph = Graph.from_edges(np.empty((0, 2)), 2)
    assert fast_distances(graph, np.empty((0, 2), dtype=np.int64)) == []
    assert fast_distances(graph, np.array([[0, 1], [1, 1]])) == [-1, 0]
