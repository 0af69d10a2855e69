"""The two-hop sweep against plain set intersections."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import common_neighbors, resource_allocation
from trueedge.kernels.neighbors.two_hop import two_hop_row


def sweep(graph: tg.Graph, weights: np.ndarray, source: int) -> tuple[dict[int, float], list[int]]:
    row, touched = np.zeros(graph.num_nodes), np.empty(graph.num_nodes + 1, dtype=np.int32)
    count = two_hop_row(graph.indptr, graph.indices, weights, source, row, touched)
    return {v: float(row[v]) for v in np.flatnonzero(row)}, touched[:count].tolist()


@pytest.mark.parametrize("edges", [0, 10, 40, 200])
def test_two_hop_rows_are_resource_allocation_and_common_neighbours(random_graph, edges):
    graph = random_graph(edges, nodes=25, edges=edges)
    for source in range(25):
        row, touched = sweep(graph, 1.0 / np.maximum(graph.degrees, 1), source)
        assert row == resource_allocation(graph, source)
        assert sorted(touched) == sorted(row)
        assert sweep(graph, np.ones(25), source)[0] == common_neighbors(graph, source)


def test_resource_allocation_is_the_dense_product(random_graph):
    graph = random_graph(9, nodes=60, edges=400)
    adjacency = graph.adjacency().toarray()
    product = adjacency @ np.diag(1.0 / np.maximum(graph.degrees, 1)) @ adjacency
    for source in range(60):
        row, _ = sweep(graph, 1.0 / np.maximum(graph.degrees, 1), source)
        assert np.flatnonzero(product[source]).tolist() == sorted(row)
        assert np.allclose(product[source, sorted(row)], [row[v] for v in sorted(row)], rtol=1e-14, atol=0)
