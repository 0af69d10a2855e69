"""Edges that share nodes."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.statistics.shared_nodes import independent_edges, shared_ends, variance_over_nodes
from trueedge.statistics.significance import Sample, difference, mean_interval


def by_definition(values: np.ndarray, edges: np.ndarray) -> float:
    """Sum over all pairs of edges with a common node."""
    errors, count = values - values.mean(), len(values)
    total = sum(
        errors[i] * errors[j]
        for i in range(count)
        for j in range(count)
        if i == j or set(edges[i]) & set(edges[j])
    )
    return float(total) / (count * (count - 1))


@pytest.fixture
def edges() -> np.ndarray:
    """Edges with hubs, nodes of one edge, a pair of nodes that is joined twice, and a loop."""
    drawn = np.random.default_rng(3).integers(0, 40, size=(30, 2)) ** 2 // 40
    return np.concatenate([drawn[drawn[:, 0] != drawn[:, 1]], [[0, 1], [1, 0], [70, 71], [5, 5]]])


def test_the_variance_is_the_sum_over_edges_that_share_a_node(edges) -> None:
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(40):
        values = rng.standard_normal(len(edges)) + rng.standard_normal(80)[edges].sum(axis=1)
        wanted, plain = by_definition(values, edges), values.var(ddof=1) / len(values)
        found, degrees = variance_over_nodes(values, shared_ends(edges))
        assert found == pytest.approx(max(wanted, plain))
        assert 1 <= degrees <= len(edges) - 1
        compared += wanted > plain
    assert compared > 20


def test_edges_without_common_nodes_are_independent() -> None:
    edges = np.arange(20).reshape(10, 2)
    values = np.random.default_rng(1).random(10)
    ends = shared_ends(edges)
    assert not ends.any()
    assert variance_over_nodes(values, ends) == (pytest.approx(values.var(ddof=1) / 10), 9)
    assert independent_edges(ends) == 10


def test_groups_of_edges_are_counted_by_the_nodes_that_connect_them() -> None:
    ends = shared_ends(np.array([[0, 1], [1, 2], [3, 4], [4, 5], [5, 6], [8, 9], [7, 7]]))
    assert independent_edges(ends) == 4


def test_one_hub_is_one_observation() -> None:
    """All edges are at one node, so nothing is known of how much nodes vary."""
    ends = shared_ends(np.column_stack([np.zeros(50, dtype=int), np.arange(1, 51)]))
    one = mean_interval(Sample.of([np.random.default_rng(0).random(50)], ends=ends))
    # The sum of all errors is 0: it cannot show the hub's effect, and is not taken for certainty.
    assert one.std_error > 0
    assert difference(Sample.of([[0.75] * 50], ends=ends), Sample.of([[0.5] * 50], ends=ends)).p == 1


def test_node_effects_widen_an_interval_and_its_coverage_holds() -> None:
    rng = np.random.default_rng(5)
    held = np.zeros(2)
    for _ in range(400):
        edges = (rng.random((150, 2)) ** 2 * 120).astype(int)
        edges = edges[edges[:, 0] != edges[:, 1]]
        values = rng.standard_normal(120)[edges].sum(axis=1) + rng.standard_normal(len(edges))
        for place, ends in enumerate((None, shared_ends(edges))):
            found = mean_interval(Sample.of([values], ends=ends))
            held[place] += found.low <= 0 <= found.high
    assert held[0] / 400 < 0.85
    assert 0.91 < held[1] / 400 < 0.98
