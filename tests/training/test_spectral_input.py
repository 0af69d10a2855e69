"""The eigenvectors that a graph without features starts from."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import trueedge as te
from trueedge.training.links import inputs
from trueedge.training.links.inputs import spectral_input


def table(graph: te.Graph, seed: int = 0) -> np.ndarray:
    return spectral_input(graph, seed, vectors=64, noise=3).values.numpy()


def test_a_small_graph_gets_the_same_numbers_each_time() -> None:
    graph = te.load("karate")
    first = table(graph)
    assert first.shape == (34, 32 + 3)
    for _ in range(3):
        np.testing.assert_array_equal(table(graph), first)


def test_vectors_are_eigenvectors_of_the_largest_eigenvalues() -> None:
    graph = te.load("karate")
    matrix = nx.to_numpy_array(nx.Graph(graph.edges.tolist()), nodelist=range(34))
    found = table(graph)[:, :32].astype(np.float64)
    values = np.linalg.eigvalsh(matrix)[-32:]
    np.testing.assert_allclose(matrix @ found, found * values, atol=1e-5)


def test_small_and_large_graphs_span_the_same_space(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = te.Graph.from_edges(list(nx.gnm_random_graph(200, 800, seed=1).edges), 200)
    dense = spectral_input(graph, 0, vectors=5, noise=0).values.numpy()
    monkeypatch.setattr(inputs, "DENSE", 0)
    sparse = spectral_input(graph, 0, vectors=5, noise=0).values.numpy()
    np.testing.assert_allclose(np.abs(np.diag(dense.T @ sparse)), 1.0, atol=1e-5)


def test_the_random_numbers_beside_them_follow_the_seed() -> None:
    graph = te.load("karate")
    first, second = table(graph, 1), table(graph, 2)
    np.testing.assert_array_equal(first[:, :32], second[:, :32])
    assert not np.array_equal(first[:, 32:], second[:, 32:])
