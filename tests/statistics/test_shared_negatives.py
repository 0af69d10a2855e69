"""Negatives that all edges share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.statistics.shared_negatives import mean_over_seeds, variance_over_draws
from trueedge.statistics.significance import Sample, difference, mean_interval, smallest_gap

SPAN = (0.0, 1.0)
DRAWS = np.array([0.2, 0.3, 0.5, 0.4, 0.35, 0.1])


def test_other_draws_add_their_variance() -> None:
    values = np.random.default_rng(0).random(80)
    plain, drawn = (mean_interval(Sample.of([values], redraws=[one])) for one in (None, DRAWS))
    assert drawn.std_error**2 == pytest.approx(plain.std_error**2 + DRAWS.var(ddof=1))
    # Nearly all of the variance has five degrees of freedom.
    assert 5 <= drawn.df < 6
    assert (plain.over, drawn.over) == ("edges", "edges and negatives")
    both = mean_interval(Sample.of([values, values / 2], redraws=[DRAWS, DRAWS / 2]))
    assert both.over == "edges, negatives and seeds"


def test_two_methods_are_compared_on_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    values = rng.random(80)
    one = Sample.of([values + 0.02 + 0.01 * rng.random(80)], redraws=[DRAWS + 0.02])
    other = Sample.of([values], redraws=[DRAWS])
    # Both move together with the negatives, so the difference is clear although both intervals are wide.
    assert difference(one, other).p < 1e-9
    assert mean_interval(one).low < 0.2
    assert smallest_gap(one, other) < 0.01


def test_without_other_draws_nothing_is_known() -> None:
    values, none = np.random.default_rng(2).random(30), np.empty(0)
    shared = Sample.of([values], redraws=[none])
    found = mean_interval(shared, span=SPAN)
    assert (found.std_error, found.low, found.high) == (math.inf, 0, 1)
    for other in (none, None, DRAWS, DRAWS[:1]):
        gap = difference(shared, Sample.of([values / 2], redraws=[other]))
        assert (gap.p, gap.low, gap.high) == (1, -math.inf, math.inf)


def test_seeds_with_different_draws_have_no_common_ones() -> None:
    assert mean_over_seeds([None, None]) is None
    assert mean_over_seeds([DRAWS, DRAWS + 1]) == pytest.approx(DRAWS + 0.5)
    for other in (None, DRAWS[:3]):
        assert len(mean_over_seeds([DRAWS, other])) == 0
    assert variance_over_draws(None, None) == []
    assert variance_over_draws(DRAWS)[0].degrees == 5


def test_few_values_near_a_bound_give_a_wide_interval_on_the_side_of_the_middle() -> None:
    rare = mean_interval([[0.0] * 199 + [1.0]], span=SPAN)
    assert 0 < rare.low < rare.value - 0.003
    assert rare.high > 0.03
    # Clopper and Pearson's interval where nothing or everything is a hit.
    none, all_hits = mean_interval([[0.0] * 50], span=SPAN), mean_interval([[1.0] * 50], span=SPAN)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 50))
    assert all_hits.low == pytest.approx(0.025 ** (1 / 50))


def test_ends_must_be_those_of_the_edges() -> None:
    with pytest.raises(InputError, match="3 edges, but ends of shape"):
        Sample.of([[1, 2, 3]], ends=np.zeros((2, 2), dtype=np.int64))


def test_draws_of_two_methods_are_paired_within_each_split() -> None:
    rng = np.random.default_rng(3)
    rows = {name: [rng.random(40)] for name in ("one", "two")}
    # Only the first of several splits has other draws.
    drawn, none = {"one": [DRAWS], "two": [np.empty(0)]}, {"one": [np.empty(0)], "two": [np.empty(0)]}
    plain = difference(Sample.of_splits(rows), Sample.of_splits(rows))
    first, second = (
        Sample.of_splits(rows, redraws={**drawn, "one": [DRAWS + shift]}) for shift in (0.02, 0.0)
    )
    assert difference(first, second).std_error == pytest.approx(plain.std_error, abs=1e-12)
    varied = Sample.of_splits(rows, redraws={**drawn, "one": [DRAWS[::-1]]})
    error = np.std(DRAWS[::-1] - DRAWS, ddof=1)
    assert difference(varied, second).std_error == pytest.approx(error)
    for unknown in (Sample.of_splits(rows), Sample.of_splits(rows, redraws=none)):
        assert difference(first, unknown).std_error == np.inf
