"""Adjacency from sorted edges, against a plain loop."""

from __future__ import annotations

import numpy as np

from trueedge.graph import Graph, tidying
from trueedge.kernels.arrays.csr import neighbour_lists


def test_rows_hold_the_sorted_neighbours_of_each_node(random_graph) -> None:
    for seed in range(30):
        graph = random_graph(seed, 25, 10 * seed)
        rows = [[] for _ in range(25)]
        for u, v in graph.edges.tolist():
            rows[u].append(v)
            rows[v].append(u)
        expected = [node for row in rows for node in sorted(row)]
        indptr, indices = neighbour_lists(graph.edges, 25)
        assert indices.tolist() == expected
        assert np.diff(indptr, prepend=0).tolist() == [0, *map(len, rows)]


def test_large_and_small_graphs_are_built_the_same(random_graph, monkeypatch) -> None:
    edges = random_graph(5, 200, 900).edges
    sorted_rows = Graph.from_edges(edges, 200).indices
    monkeypatch.setattr(tidying, "EDGES_WORTH_COMPILING", 0)
    assert np.array_equal(Graph.from_edges(edges, 200).indices, sorted_rows)
