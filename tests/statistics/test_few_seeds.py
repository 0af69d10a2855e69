"""With few seeds, intervals and letters stay honest: two seeds say little, and three leave a heavy tail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from trueedge.statistics.all_pairs import all_pairs
from trueedge.statistics.sample import Sample
from trueedge.statistics.significance import difference, ends_at, mean_interval, spread_of
from trueedge.statistics.standard_error import Part, SeedPart, standard_error
from trueedge.statistics.tails import p_values, quantile


def on_splits(values: np.ndarray) -> Sample:
    return Sample.of_splits({str(place): [row] for place, row in enumerate(values)})


def p_value(score: float, df: float, tail_df: float) -> float:
    return p_values(*(np.array([one]) for one in (score, df, tail_df))).item()


@pytest.mark.parametrize(("df", "tail_df"), [(50.0, 2.0), (7.5, 3.0), (1e9, 1.0)])
def test_the_tail_begins_at_the_five_percent_level(df: float, tail_df: float) -> None:
    for level in (0.5, 0.8, 0.95):
        share = 0.5 + level / 2
        assert quantile(share, df, tail_df) == pytest.approx(stats.t.ppf(share, df))
        assert p_value(quantile(share, df, tail_df), df, tail_df) == pytest.approx(1 - level)
    for level in (0.951, 0.99, 0.9999):
        further = quantile(0.5 + level / 2, df, tail_df)
        assert further > stats.t.ppf(0.5 + level / 2, df)
        assert p_value(further, df, tail_df) == pytest.approx(1 - level)
        assert p_value(-further, df, tail_df) == pytest.approx(1 - level)
    assert quantile(0.9751, df, tail_df) == pytest.approx(quantile(0.975, df, tail_df), rel=0.02)


def test_one_distribution_has_no_other_tail() -> None:
    scores = np.linspace(-9, 9, 40)
    df = np.full(40, 6.0)
    assert p_values(scores, df, df) == pytest.approx(2 * stats.t.sf(np.abs(scores), 6))
    assert quantile(0.9999, 6.0, 6.0) == pytest.approx(stats.t.ppf(0.9999, 6))


def test_seeds_that_hardly_matter_leave_the_tail_as_it_is() -> None:
    edges = Part(1.0, 400.0)
    still = standard_error([edges], [SeedPart(1e-4, 1e-5, 2)])
    assert still.tail_df == pytest.approx(still.df)
    moving = standard_error([edges], [SeedPart(1.0, 0.1, 2)])
    assert moving.tail_df < 2 < moving.df
    assert standard_error([edges], [SeedPart(0.0, 0.0, 0)]).tail_df == pytest.approx(400.0)


def test_ten_equal_methods_with_three_seeds_seldom_differ() -> None:
    rng = np.random.default_rng(0)
    wrong, repeats = 0, 200
    for _ in range(repeats):
        common = 1.2 * rng.normal(size=200)
        own = [
            0.6 * rng.normal(size=200) + 0.4 * rng.normal(size=(3, 1)) + 0.3 * rng.normal(size=(3, 200))
            for _ in range(10)
        ]
        pairs = all_pairs([[on_splits((0.8 + common + one > 0).astype(float))] for one in own])
        wrong += pairs.p_holm.min() < 0.05
    # Student's with the degrees of freedom of 95 % intervals alone is wrong in 39 % of the cases.
    assert wrong / repeats < 0.1


def test_the_difference_of_two_seeds_holds_the_truth_where_units_differ_by_seed_alone() -> None:
    rng = np.random.default_rng(1)
    held, repeats = 0, 1500
    for _ in range(repeats):
        one, other = (rng.normal(size=(2, 1)) * 0.1 + rng.normal(size=(2, 100)) for _ in range(2))
        found = difference(on_splits(one), on_splits(other))
        held += found.low <= 0 <= found.high
    # Without the degrees of freedom of seeds that came out below the rest, it is 92 %.
    assert held / repeats > 0.93


def test_an_interval_at_a_higher_level_has_the_tail_too() -> None:
    rng = np.random.default_rng(2)
    found = mean_interval(rng.normal(size=(3, 1)) + rng.normal(size=(3, 50)))
    low, high = ends_at(found, 0.999)
    error, *degrees = spread_of(found)
    assert high - low == pytest.approx(2 * error * quantile(0.9995, *degrees))
    assert high - low > 2 * error * stats.t.ppf(0.9995, found.df)
