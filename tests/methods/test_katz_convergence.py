"""Where Katz's sum over all walks exists, and what is said where it does not."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.heuristics.katz import Katz, _eigenvalue_bound, largest_eigenvalue


def complete(nodes: int) -> Graph:
    return Graph.from_edges(np.argwhere(np.triu(np.ones((nodes, nodes)), 1)), name="clique")


@pytest.mark.parametrize("nodes", [5, 64, 66, 90])
def test_a_beta_past_the_largest_eigenvalue_is_refused_with_the_bound(nodes):
    beta = 1.01 / (nodes - 1)
    with pytest.raises(InputError, match="clique diverges") as caught:
        Katz(beta=beta).score(complete(nodes), [[0, 1]])
    assert f"beta {beta:g}" in str(caught.value)
    assert f"1 / λmax is {1 / (nodes - 1):.4g}" in str(caught.value)
    assert "max_length" in str(caught.value)


def test_a_beta_just_below_the_bound_is_refused_as_too_slow():
    with pytest.raises(InputError, match="converges too slowly"):
        Katz(beta=0.9999 / 9).score(complete(10), [[0, 1]])


def test_a_beta_at_nine_tenths_of_the_bound_is_solved():
    # On a clique the sum is β / ((1 - β (n - 1)) (1 + β)) between any two nodes.
    beta = 0.9 / 9
    expected = beta / ((1 - 9 * beta) * (1 + beta))
    np.testing.assert_allclose(Katz(beta=beta).score(complete(10), [[2, 7]]), [expected], rtol=1e-12)


def test_a_length_makes_every_beta_fine():
    assert Katz(beta=1.0, max_length=2).score(complete(10), [[0, 1]]).tolist() == [9.0]
    assert np.isfinite(Katz(beta=1.0, max_length=32).score(complete(40), [[0, 1]])).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_quick_bound_is_never_below_the_eigenvalue(seed, random_graph):
    graph = random_graph(seed, nodes=100, edges=40 * (seed + 1))
    exact = np.linalg.eigvalsh(graph.adjacency().toarray())[-1]
    assert largest_eigenvalue(graph) == pytest.approx(exact, rel=1e-9)
    assert _eigenvalue_bound(graph) >= exact * (1 - 1e-12)


@pytest.mark.parametrize(
    "settings", [{"max_length": 2.5}, {"max_length": 0}, {"max_length": "2"}, {"beta": 0}]
)
def test_settings_that_make_no_sense_are_named(settings):
    (key,) = settings
    with pytest.raises(InputError, match=f"katz: {key} must be"):
        create("katz", settings)


@pytest.mark.parametrize("steps", [0, 2.5, True, None])
def test_a_walker_takes_whole_steps(steps):
    with pytest.raises(InputError, match="lrw: steps must be"):
        create("lrw", {"steps": steps})
