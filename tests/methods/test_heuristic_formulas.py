"""Heuristics against networkx and against dense matrices."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.heuristics.heuristic import without_rounding_errors

SEEDS = range(8)


def score(graph: Graph, pairs: np.ndarray, name: str, **settings) -> np.ndarray:
    return create(name, settings).score(graph, pairs)


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


@pytest.fixture(params=SEEDS)
def graph(request, random_graph) -> Graph:
    nodes = 10 + 5 * request.param
    return random_graph(request.param, nodes=nodes, edges=nodes * (1 + request.param % 4))


@pytest.fixture
def pairs(graph) -> np.ndarray:
    return all_pairs(graph.num_nodes)


@pytest.fixture
def reference(graph) -> nx.Graph:
    result = nx.empty_graph(graph.num_nodes)
    result.add_edges_from(graph.edges.tolist())
    return result


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("aa", nx.adamic_adar_index),
        ("ra", nx.resource_allocation_index),
        ("jaccard", nx.jaccard_coefficient),
        ("pa", nx.preferential_attachment),
    ],
)
def test_local_indices_equal_networkx(graph, pairs, reference, name, index):
    apart = pairs[pairs[:, 0] != pairs[:, 1]]
    expected = [value for _, _, value in index(reference, apart.tolist())]
    np.testing.assert_allclose(score(graph, apart, name), expected, rtol=1e-14, atol=0)


def test_common_neighbors_equal_networkx(graph, pairs, reference):
    expected = [len(set(nx.common_neighbors(reference, u, v))) for u, v in pairs.tolist()]
    assert score(graph, pairs, "cn").tolist() == expected


def test_shortest_path_is_one_over_the_distance_of_networkx(graph, pairs, reference):
    lengths = dict(nx.all_pairs_shortest_path_length(reference))
    for (u, v), found in zip(pairs.tolist(), score(graph, pairs, "shortest-path"), strict=True):
        if u == v:
            assert found == 2.0
        else:
            assert found == (1 / lengths[u][v] if v in lengths[u] else 0.0)


def test_adamic_adar_with_a_floor_is_the_weight_of_the_degree_bias_study(graph, pairs):
    adjacency = graph.adjacency().toarray()
    weights = 1 / np.maximum(np.log(np.maximum(graph.degrees, 1)), 1.0)
    expected = (adjacency @ np.diag(weights) @ adjacency)[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(score(graph, pairs, "aa", log_floor=1.0), expected, rtol=1e-13, atol=0)


def test_adamic_adar_of_a_leaf_s_neighbour_with_itself_counts_the_leaf_nothing():
    path = Graph.from_edges([[0, 1], [1, 2], [2, 3]])
    assert score(path, [[1, 1]], "aa").tolist() == [1 / np.log(2)]


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_local_random_walk_equals_the_matrix_formula(graph, pairs, steps):
    adjacency = graph.adjacency().toarray()
    degrees = adjacency.sum(axis=1)
    transition = adjacency / np.maximum(degrees, 1)[:, None]
    visits = sum(np.linalg.matrix_power(transition, t) for t in range(1, steps + 1))
    expected = (degrees[:, None] / degrees.sum() * visits)[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(score(graph, pairs, "lrw", steps=steps), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("epsilon", [0.0, 0.001, 0.5])
def test_local_path_equals_the_matrix_formula_to_the_bit(graph, pairs, epsilon):
    adjacency = graph.adjacency().toarray()
    squared = adjacency @ adjacency
    expected = (squared + epsilon * (squared @ adjacency))[pairs[:, 0], pairs[:, 1]]
    assert score(graph, pairs, "lpi", epsilon=epsilon).tolist() == expected.tolist()


def test_katz_equals_the_dense_closed_form(graph, pairs):
    identity = np.eye(graph.num_nodes)
    closed = np.linalg.inv(identity - 0.005 * graph.adjacency().toarray()) - identity
    expected = closed[pairs[:, 0], pairs[:, 1]]
    np.testing.assert_allclose(score(graph, pairs, "katz"), expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_truncated_katz_sums_the_powers_up_to_its_length(graph, pairs, length):
    adjacency = graph.adjacency().toarray()
    powers = sum(0.05**k * np.linalg.matrix_power(adjacency, k) for k in range(1, length + 1))
    expected = powers[pairs[:, 0], pairs[:, 1]]
    found = score(graph, pairs, "katz", beta=0.05, max_length=length)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_katz_up_to_two_is_edges_and_common_neighbors(graph, pairs):
    expected = 0.005 * graph.has_edges(pairs) + 0.005**2 * score(graph, pairs, "cn")
    found = score(graph, pairs, "katz", max_length=2)
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


def test_katz_approaches_its_closed_form_as_walks_get_longer(graph, pairs):
    found = score(graph, pairs, "katz", max_length=32)
    np.testing.assert_allclose(found, score(graph, pairs, "katz"), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", ["katz", "lrw"])
def test_pairs_in_the_same_position_tie(name):
    # A prism: its rotations carry any node's second next into any other's, and ids are shuffled.
    rng = np.random.default_rng(0)
    prism = nx.circular_ladder_graph(9)
    for _ in range(10):
        rename = rng.permutation(18)
        graph = Graph.from_edges(rename[np.array(prism.edges)], 18)
        across = rename[[[i, (i + 2) % 9] for i in range(9)]]
        assert len(set(score(graph, across, name).tolist())) == 1


def test_rounding_keeps_twelve_digits_zeros_signs_and_tiny_numbers():
    scores = np.array([0.0, 1 / 3, -1 / 3, 1e-300 / 7, 5e-324, 1e300 / 7, 1.0, np.nextafter(1.0, 2.0)])
    rounded = without_rounding_errors(scores)
    np.testing.assert_allclose(rounded, scores, rtol=1e-12, atol=0)
    assert rounded[0] == 0.0
    assert rounded[1] == -rounded[2]
    assert rounded[6] == rounded[7] == 1.0


def test_cosine_equals_the_dense_formula_and_is_one_for_a_row_with_itself(random_graph):
    graph = random_graph(3, nodes=25, edges=40, features=8)
    features = np.array(graph.features)
    features[4] = 0
    graph = Graph.from_edges(graph.edges, 25, features)
    pairs = all_pairs(25)
    wide = features.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1)
    lengths = np.outer(norms, norms)
    expected = np.where(lengths > 0, wide @ wide.T / np.where(lengths > 0, lengths, 1), 0)
    found = score(graph, pairs, "cosine")
    np.testing.assert_allclose(found, expected[pairs[:, 0], pairs[:, 1]], rtol=1e-13, atol=0)
    itself = found[pairs[:, 0] == pairs[:, 1]]
    assert set(itself.tolist()) <= {0.0, 1.0}
    assert itself[4] == 0.0


def test_cosine_of_opposite_rows_is_minus_one():
    graph = Graph.from_edges([[0, 1]], features=[[1.0, -2.0], [-1.0, 2.0]])
    np.testing.assert_allclose(score(graph, [[0, 1]], "cosine"), [-1.0], rtol=1e-15)


def test_cosine_without_features_names_the_graph(random_graph):
    with pytest.raises(InputError, match="cosine needs node features, and random-1 has none"):
        score(random_graph(1), [[0, 1]], "cosine")
