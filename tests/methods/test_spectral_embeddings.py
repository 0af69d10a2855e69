"""Spectral embeddings against dense algebra, on planted communities, and on graphs with next to nothing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.embeddings import spectral
from trueedge.methods.embeddings.fastrp import FastRP, principal_components
from trueedge.methods.embeddings.modularity import ModularityMatrix
from trueedge.methods.embeddings.nonbacktracking import Companion, largest
from trueedge.methods.embeddings.transformation import over_largest, without_hidden_edges

KERNELS = ("exp-a", "exp-l", "exp-nl", "vn-a", "vn-l", "vn-nl")
NAMES = ("eigenmap", "modularity", "non-backtracking", "fastrp", *KERNELS)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def sparse_only(monkeypatch):
    """Small graphs take the way of large ones."""
    monkeypatch.setattr(spectral, "DENSE", 0)
    monkeypatch.setattr("trueedge.methods.embeddings.nonbacktracking.DENSE", 0)


def communities(nodes: int = 200, seed: int = 0, inside: float = 0.15, across: float = 0.01) -> Graph:
    """Two communities, the first half of the nodes and the second."""
    rng = np.random.default_rng(seed)
    side = np.arange(nodes) < nodes // 2
    chance = np.where(side[:, None] == side[None, :], inside, across)
    return Graph.from_edges(np.argwhere(np.triu(rng.random((nodes, nodes)) < chance, 1)), nodes)


def dense(graph: Graph) -> np.ndarray:
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[graph.edges[:, 0], graph.edges[:, 1]] = 1
    return matrix + matrix.T


def scores(vectors: np.ndarray) -> np.ndarray:
    return vectors @ vectors.T


@pytest.mark.parametrize("big", [False, True], ids=["dense", "sparse"])
def test_two_communities_are_told_apart(name, big, request):
    if big:
        request.getfixturevalue("sparse_only")
    graph = communities(1200 if big else 200, inside=0.05 if big else 0.15, across=0.003 if big else 0.01)
    found = scores(create(name, {"dim": 2}).vectors(graph, seed=1))
    half = graph.num_nodes // 2
    within = found[:half, :half][np.triu_indices(half, 1)]
    across = found[:half, half:].ravel()
    rng = np.random.default_rng(0)
    better = rng.choice(within, 5000) > rng.choice(across, 5000)
    assert better.mean() > (0.6 if name in ("exp-a", "vn-a", "fastrp") else 0.8)


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [(1, []), (2, []), (2, [[0, 1]]), (3, [[0, 2]]), (3, [[0, 1], [1, 2], [0, 2]]), (12, []), (9, [[3, 4]])],
)
def test_a_graph_with_next_to_nothing_gets_finite_scores(name, nodes, edges):
    graph = Graph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes)
    vectors = create(name).vectors(graph)
    assert len(vectors) == nodes
    assert np.isfinite(vectors).all()


def test_lonely_nodes_do_no_harm(name, sparse_only):
    graph = communities(150)
    vectors = create(name, {"dim": 8}).vectors(Graph.from_edges(graph.edges, 160))
    assert vectors.shape[0] == 160
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("big", [False, True], ids=["dense", "sparse"])
def test_the_same_seed_gives_the_same_bytes(name, big, request):
    if big:
        request.getfixturevalue("sparse_only")
    graph, method = communities(150), create(name, {"dim": 8})
    assert method.vectors(graph, 3).tobytes() == method.vectors(graph, 3).tobytes()


def test_vectors_have_the_dimension_asked_for_and_fewer_on_a_small_graph(name):
    assert create(name, {"dim": 7}).vectors(communities(100)).shape == (100, 7)
    assert create(name).vectors(communities(60)).shape == (60, 55)


def test_a_fitted_method_scores_by_the_dot_product(name):
    task = te.task(communities(100), "uniform", 0)
    scorer = create(name, {"dim": 8}).fit(task, seed=5)
    pairs = task.parts["test"].positives
    expected = (scorer.vectors[pairs[:, 0]].astype(float) * scorer.vectors[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(scorer.score(pairs), expected, rtol=1e-5, atol=1e-9)
    assert scorer.name == name
    assert scorer.vectors.tobytes() == create(name, {"dim": 8}).vectors(task.graph, 5).tobytes()
    assert task.evaluate(scorer)["auc"] > 0.5


def test_a_graph_in_place_of_a_task_is_refused(name):
    with pytest.raises(InputError, match="vectors"):
        create(name).fit(communities(50))


def test_leading_eigenpairs_are_those_of_dense_algebra(sparse_only):
    graph = communities(300)
    matrix = dense(graph)
    expected = scipy.linalg.eigvalsh(matrix)
    expected = expected[np.argsort(-np.abs(expected))][:6]
    values, vectors = spectral.leading(graph.adjacency(), 6, seed=0, products=300)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-10)


def test_an_eigenvalue_and_its_negative_are_kept_apart(sparse_only):
    rng = np.random.default_rng(0)
    left, right = np.nonzero(rng.random((60, 60)) < 0.2)
    graph = Graph.from_edges(np.stack([left, right + 60], axis=1), 120)
    values, vectors = spectral.leading(graph.adjacency(), 2, seed=0, products=60)
    assert values[0] == pytest.approx(-values[1], rel=1e-6)
    np.testing.assert_allclose(graph.adjacency() @ vectors, vectors * values, atol=1e-4)


def test_a_matrix_of_low_rank_is_no_trouble(sparse_only):
    star = Graph.from_edges([[0, leaf] for leaf in range(1, 50)], 50)
    values, vectors = spectral.leading(star.adjacency(), 20, seed=0, products=11)
    assert sorted(np.abs(values))[-2:] == pytest.approx([7, 7])
    np.testing.assert_allclose(values[2:], 0, atol=1e-6)
    assert np.isfinite(vectors).all()


def test_the_smoothest_eigenpairs_are_those_of_the_dense_laplacian(sparse_only):
    graph = communities(400, inside=0.03, across=0.005)
    matrix = np.diag(graph.degrees) - dense(graph)
    expected = scipy.linalg.eigvalsh(matrix)[:6]
    values, vectors = spectral.smoothest(graph, 6, seed=0, tolerance=1e-6)
    np.testing.assert_allclose(values, expected, atol=1e-4)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-2)


def test_matrices_are_those_of_dense_algebra():
    graph = Graph.from_edges(communities(40, inside=0.2, across=0.05).edges, 42)
    adjacency = dense(graph)
    degrees = adjacency.sum(axis=1)
    roots = np.diag(np.where(degrees > 0, 1 / np.sqrt(np.maximum(degrees, 1)), 0))
    np.testing.assert_allclose(spectral.normalized_adjacency(graph).toarray(), roots @ adjacency @ roots)
    np.testing.assert_allclose(spectral.laplacian(graph).toarray(), np.diag(degrees) - adjacency)
    modularity = adjacency - np.outer(degrees, degrees) / degrees.sum()
    np.testing.assert_allclose(ModularityMatrix(graph) @ np.eye(42), modularity, atol=1e-12)
    zero, one = np.zeros((42, 42)), np.eye(42)
    companion = np.block([[zero, np.diag(degrees) - one], [-one, adjacency]])
    np.testing.assert_allclose(Companion(graph) @ np.eye(84), companion)


def test_eigenmap_is_its_formula():
    graph = communities(60)
    adjacency = dense(graph)
    roots = np.diag(1 / np.sqrt(adjacency.sum(axis=1)))
    values, vectors = np.linalg.eigh(roots @ adjacency @ roots)
    keep = np.argsort(-np.abs(values))[:11]
    keep = keep[np.argsort(-values[keep])][1:]
    expected = roots @ (vectors[:, keep] * np.abs(values[keep])) @ vectors[:, keep].T @ roots
    np.testing.assert_allclose(scores(create("eigenmap", {"dim": 10}).vectors(graph)), expected, atol=1e-10)


def test_modularity_is_its_formula():
    graph = communities(60)
    values, vectors = np.linalg.eigh(ModularityMatrix(graph) @ np.eye(60))
    keep = np.argsort(-np.abs(values))[:10]
    expected = (vectors[:, keep] * np.abs(values[keep])) @ vectors[:, keep].T
    np.testing.assert_allclose(scores(create("modularity", {"dim": 10}).vectors(graph)), expected, atol=1e-10)


def test_non_backtracking_values_are_those_of_the_matrix_over_directed_edges():
    graph = communities(40, inside=0.3, across=0.05)
    arcs = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    follows = (arcs[:, None, 1] == arcs[None, :, 0]) & (arcs[:, None, 0] != arcs[None, :, 1])
    expected = np.linalg.eigvals(follows.astype(float))
    expected = np.sort(np.abs(expected))[::-1][:8]
    values, vectors = largest(Companion(graph), 8, seed=0, products=30)
    np.testing.assert_allclose(np.abs(values), expected, rtol=1e-6)
    nodes = vectors[40:]
    degrees = graph.degrees[:, None]
    left = values**2 * nodes - values * (dense(graph) @ nodes) + (degrees - 1) * nodes
    np.testing.assert_allclose(left, 0, atol=1e-8)


def test_the_leading_non_backtracking_pairs_of_a_large_graph_are_the_dense_ones():
    graph = communities(120, inside=0.3, across=0.02)
    exact, _ = largest(Companion(graph), 2, seed=0, products=1)
    companion = Companion(graph)
    block = np.random.default_rng(0).standard_normal((240, 12))
    basis = spectral.multiplied(companion, block, 60)
    found = np.linalg.eigvals(basis.T @ (companion @ basis))
    np.testing.assert_allclose(np.sort(np.abs(found))[::-1][:2], np.abs(exact), rtol=1e-5)


def test_fastrp_is_the_mean_over_powers_of_the_walk():
    graph = communities(50)
    method = FastRP(window=4, beta=-0.5)
    drawn = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32)
    degrees = dense(graph).sum(axis=1)
    walk = dense(graph) / degrees[:, None]
    weighted = degrees[:, None] ** -0.5 * drawn
    expected = np.linalg.matrix_power(walk, 4) @ drawn
    expected = expected + sum(np.linalg.matrix_power(walk, power) @ weighted for power in range(1, 5))
    np.testing.assert_allclose(method.project(graph, drawn), expected / 5, atol=1e-5)


def test_principal_components_are_those_of_a_singular_value_decomposition():
    rows = np.random.default_rng(0).standard_normal((40, 12)).astype(np.float32) * np.arange(1, 13)
    centred = rows - rows.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    expected = scores(left[:, :3] * sizes[:3])
    np.testing.assert_allclose(
        scores(principal_components(rows.astype(np.float32), 3)), expected, rtol=1e-3, atol=1e-2
    )


def test_hidden_edges_leave_the_components_and_two_thirds_of_the_others():
    graph = communities(100)
    shown = without_hidden_edges(graph, seed=2)
    parts = [connected_components(g.adjacency())[0] for g in (graph, shown)]
    assert parts[0] == parts[1]
    spare = graph.num_edges - (graph.num_nodes - parts[0])
    assert graph.num_edges - shown.num_edges == int(spare / 3)
    assert graph.has_edges(shown.edges).all()
    assert without_hidden_edges(graph, seed=3).hash != shown.hash


def test_a_tree_hides_nothing():
    path = Graph.from_edges([[node, node + 1] for node in range(20)], 21)
    assert without_hidden_edges(path, seed=0).hash == path.hash


@pytest.mark.parametrize("name", KERNELS)
def test_the_strength_is_a_least_squares_fit(name):
    graph = communities(120)
    method = create(name, {"dim": 30})
    shown, vectors = method.eigenpairs(without_hidden_edges(graph, 0), 30, 0)
    whole = over_largest(spectral.rayleigh_quotients(method.matrix(graph), vectors))
    shown = over_largest(shown)
    alpha = method.strength(shown, whole)

    def loss(strength):
        misses = method.kernel(shown, float(np.ravel(strength)[0])) - whole
        return np.mean(misses**2) + 0.01 * float(np.ravel(strength)[0]) ** 2

    assert loss(alpha) <= loss(minimize(loss, [alpha], method="Nelder-Mead").x) + 1e-9
    for other in np.linspace(*method.strengths(np.concatenate([shown, whole])), 50):
        assert loss(alpha) <= loss(other) + 1e-9


@pytest.mark.parametrize("name", KERNELS)
def test_whole_vectors_are_those_of_the_graph_itself(name):
    graph = communities(80)
    method = create(name, {"dim": 10, "vectors_from": "whole"})
    values, vectors = np.linalg.eigh(method.matrix(graph).toarray())
    order = np.argsort(values if name.endswith("-l") else -np.abs(values))[:10]
    found = method.vectors(graph)
    inside = vectors[:, order] @ (vectors[:, order].T @ found)
    np.testing.assert_allclose(inside, found, atol=1e-8)


def test_a_von_neumann_kernel_stays_before_its_pole():
    values = np.array([-0.8, 0.1, 1.0])
    method = create("vn-a")
    low, high = method.strengths(values)
    assert (method.kernel(values, low) > 0).all()
    assert (method.kernel(values, high) > 0).all()
