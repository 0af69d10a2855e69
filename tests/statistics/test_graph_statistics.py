"""Statistics of graphs beside networkx and plain formulas."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.stats

import trueedge as te
from trueedge.errors import InputError
from trueedge.statistics.degree_laws import lognormal_scale, lognormal_sigma
from trueedge.statistics.graph_statistics import (
    degree_assortativity,
    degree_heterogeneity,
    local_clustering,
    normalised_degree_variance,
    transitivity,
    triangles,
)

TRIANGLE = [[0, 1], [1, 2], [2, 0]]


def twin(graph: te.Graph) -> nx.Graph:
    found = nx.Graph(graph.edges.tolist())
    found.add_nodes_from(range(graph.num_nodes))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_triangles_assortativity_and_clustering_are_those_of_networkx(random_graph, seed) -> None:
    graph = random_graph(seed, 40, 90 + 40 * seed)
    other = twin(graph)
    assert triangles(graph).tolist() == [nx.triangles(other)[node] for node in range(graph.num_nodes)]
    assert transitivity(graph) == pytest.approx(nx.transitivity(other), abs=1e-12)
    local = [nx.clustering(other)[node] for node in other if other.degree(node) >= 2]
    assert local_clustering(graph) == pytest.approx(np.mean(local), abs=1e-12)
    wanted = nx.degree_assortativity_coefficient(other)
    assert degree_assortativity(graph) == pytest.approx(wanted, abs=1e-9)


def test_a_graph_without_pairs_of_neighbours_has_no_clustering() -> None:
    pair = te.Graph.from_edges([[0, 1]])
    assert (transitivity(pair), local_clustering(pair), normalised_degree_variance(pair)) == (0.0, 0.0, 0.0)
    whole = te.Graph.from_edges(TRIANGLE)
    assert (transitivity(whole), local_clustering(whole)) == (1.0, 1.0)
    assert degree_assortativity(whole) == normalised_degree_variance(whole) == 0.0


def test_heterogeneity_is_the_sum_over_degrees_of_the_paper() -> None:
    degrees = np.array([1, 1, 2, 3, 3, 3, 7, 9])
    n, shares = len(degrees), Counter(degrees.tolist())
    total = sum((1 - Fraction(count, n)) ** 2 for count in shares.values()) / n
    for large, highest in ((False, 1 - Fraction(3, n) + Fraction(n + 2, n**3)), (True, 1 - Fraction(3, n))):
        wanted = float(total / highest) ** 0.5
        assert degree_heterogeneity(degrees, many_nodes=large) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 9])
def test_heterogeneity_is_one_for_as_many_degrees_as_a_connected_graph_can_have(nodes) -> None:
    # Two nodes of a graph always have the same degree.
    assert degree_heterogeneity(np.array([*range(1, nodes), 1])) == pytest.approx(float(nodes > 2))
    assert degree_heterogeneity(np.full(nodes, 3)) == 0.0


def test_what_has_no_heterogeneity_is_refused() -> None:
    with pytest.raises(InputError, match="no node"):
        degree_heterogeneity(np.array([], dtype=np.int64))
    with pytest.raises(InputError, match="with many_nodes=True of different degrees needs 4 nodes, got 3"):
        degree_heterogeneity(np.array([1, 1, 2]), many_nodes=True)
    with pytest.raises(InputError, match="degree_heterogeneity of different degrees needs 3 nodes, got 2"):
        degree_heterogeneity(np.array([1, 2]))


def test_normalised_degree_variance_is_one_for_a_star_of_many_leaves() -> None:
    star = te.Graph.from_edges([[0, leaf] for leaf in range(1, 4000)])
    assert normalised_degree_variance(star) == pytest.approx(1.0, abs=1e-3)


def test_the_log_normal_distribution_has_the_moments_of_the_degrees() -> None:
    degrees = np.random.default_rng(0).integers(1, 60, 500)
    fitted = scipy.stats.lognorm(lognormal_sigma(degrees), scale=lognormal_scale(degrees))
    assert fitted.mean() == pytest.approx(degrees.mean())
    assert fitted.var() == pytest.approx(degrees.var())
    with pytest.raises(InputError, match="no degree above 0"):
        lognormal_scale(np.zeros(3, dtype=np.int64))
