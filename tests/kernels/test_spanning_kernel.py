from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from trueedge.kernels.neighbors.spanning import spanning_forest


def random_edges(seed: int, nodes: int, edges: int) -> np.ndarray:
    graph = nx.gnm_random_graph(nodes, edges, seed=seed)
    return np.array(sorted(graph.edges), dtype=np.int32).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(12))
def test_the_forest_is_the_minimum_one_when_the_order_is_the_weight(seed: int) -> None:
    edges = random_edges(seed, 25, 10 + 6 * seed)
    order = np.random.default_rng(seed).permutation(len(edges))
    weight = np.empty(len(edges), dtype=int)
    weight[order] = np.arange(len(edges))
    graph = nx.Graph()
    graph.add_nodes_from(range(25))
    graph.add_weighted_edges_from(
        (u, v, w) for (u, v), w in zip(edges.tolist(), weight.tolist(), strict=True)
    )
    expected = {tuple(sorted(edge[:2])) for edge in nx.minimum_spanning_edges(graph, data=False)}
    tree = spanning_forest(edges, order, 25)
    assert {tuple(edge) for edge in edges[tree].tolist()} == expected


def test_a_graph_without_edges_has_an_empty_forest() -> None:
    assert spanning_forest(np.empty((0, 2), np.int32), np.empty(0, np.int64), 3).tolist() == []


def test_a_tree_is_its_own_forest() -> None:
    edges = np.array([[0, 1], [0, 2], [0, 3]], dtype=np.int32)
    assert spanning_forest(edges, np.array([2, 0, 1]), 4).all()
