"""Intervals hold what they promise, tables are corrected, and letters say who cannot be told apart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from trueedge.errors import InputError
from trueedge.statistics.bootstrap import bootstrap_interval, resampled_means
from trueedge.statistics.rank_tests import friedman
from trueedge.statistics.sample import seeds_compared
from trueedge.statistics.significance import (
    Difference,
    Sample,
    difference,
    difference_over_tasks,
    gap_at,
    mean_interval,
    mean_over_tasks,
    smallest_gap,
    spread_of,
)
from trueedge.statistics.tie_groups import holm, letters, runs_within, tie_groups


def ranks_of(rng: np.random.Generator, seeds: int, edges: int, spread: float = 0.0) -> np.ndarray:
    """Reciprocal ranks with ties, of edges that are hard or easy for every seed."""
    log_rank = 1.0 + 1.6 * rng.standard_normal(edges) + spread * rng.standard_normal((seeds, 1))
    return 1 / np.clip(np.ceil(np.exp(log_rank + 0.4 * rng.standard_normal((seeds, edges)))), 1, 501)


def test_one_seed_gives_students_interval_and_paired_test() -> None:
    rng = np.random.default_rng(0)
    one, other = ranks_of(rng, 1, 60)[0], ranks_of(rng, 1, 60)[0]
    found = mean_interval(one)
    reference = stats.ttest_1samp(one, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high), rel=1e-12)
    assert found.over == "edges"
    gap = difference(one, other, level=0.9)
    paired = stats.ttest_rel(one, other)
    assert gap.p == pytest.approx(paired.pvalue, rel=1e-10)
    ends = paired.confidence_interval(0.9)
    assert (gap.low, gap.high) == pytest.approx((ends.low, ends.high), rel=1e-12)
    assert gap.df == pytest.approx(59)


def test_the_parts_of_the_variance_are_those_of_a_slow_two_way_table() -> None:
    values = ranks_of(np.random.default_rng(1), 4, 30, 0.8)
    mean = values.mean()
    rest = 0.0
    for s in range(4):
        for e in range(30):
            rest += (values[s, e] - values[s].mean() - values[:, e].mean() + mean) ** 2
    rest /= 3 * 29 * 4 * 30
    sample = Sample.of(values)
    assert sample.mean == pytest.approx(mean)
    assert sample.rest == pytest.approx(rest)
    assert sample.seed_variance == pytest.approx(np.var(values.mean(axis=1), ddof=1) / 4 - rest)
    found = mean_interval(values)
    parts = np.var(values.mean(axis=0), ddof=1) / 30 + sample.seed_variance
    assert found.std_error == pytest.approx(math.sqrt(parts))
    assert found.over == "edges and seeds"


def test_rows_one_after_another_give_what_the_whole_table_gives() -> None:
    values = ranks_of(np.random.default_rng(2), 3, 50, 0.5)
    assert mean_interval(Sample.of(iter(values))) == mean_interval(values)


def test_the_standard_error_is_that_of_many_resamples() -> None:
    rng = np.random.default_rng(3)
    one, other = ranks_of(rng, 60, 400, 0.3), ranks_of(rng, 50, 400, 0.3)
    draws = resampled_means(one, other, 3000, seed=1)
    # A bootstrap counts the rest once more: with many edges and seeds that is little.
    assert draws.std() == pytest.approx(difference(one, other).std_error, rel=0.06)
    assert draws.mean() == pytest.approx(one.mean() - other.mean(), abs=0.003)


def test_a_resample_takes_the_same_edges_for_both_methods() -> None:
    one = ranks_of(np.random.default_rng(4), 1, 200)
    assert np.abs(resampled_means(one, one - 0.25, 50) - 0.25).max() < 1e-12
    assert resampled_means(one, None, 50).std() > 0.01


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_bootstrap_intervals_of_one_seed_are_scipys(kind: str) -> None:
    values = ranks_of(np.random.default_rng(5), 1, 80)
    ours = bootstrap_interval(values, kind=kind, resamples=20000)
    theirs = stats.bootstrap(
        (values[0],), np.mean, n_resamples=20000, method=kind, rng=np.random.default_rng(0)
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.003)
    assert ours == bootstrap_interval(values, kind=kind, resamples=20000)


@pytest.mark.parametrize(("seeds", "spread"), [(1, 0.3), (2, 0.0), (2, 0.3), (3, 0.1), (5, 0.3)])
def test_intervals_of_a_difference_hold_the_truth_about_as_often_as_they_say(
    seeds: int, spread: float
) -> None:
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(600):
        # Both methods have the same law, so the true difference is 0; with one seed both have the same seed.
        common = 1.0 + 1.4 * rng.standard_normal(150)
        effects = spread * rng.standard_normal((2, seeds, 1)) * (seeds > 1)
        rest = 0.8 * rng.standard_normal((2, seeds, 150))
        values = 1 / np.clip(np.ceil(np.exp(common + effects + rest)), 1, 501)
        found = difference(values[0], values[1])
        held += found.low <= 0 <= found.high
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)
    # Three standard errors of 600 simulations beside the 1.5 points.
    assert 0.95 - 0.042 < held / 600 < 0.95 + 0.042


def on_splits(values: np.ndarray) -> Sample:
    return Sample.of_splits({f"split {number}": [row] for number, row in enumerate(values)})


def test_seeds_that_share_their_split_are_paired() -> None:
    rng = np.random.default_rng(0)
    edges, seeds, repeats = 500, 5, 300
    held, width = np.zeros(2), np.zeros(2)
    for _ in range(repeats):
        # Each split moves both methods, and each method for itself a quarter of that.
        common = rng.normal(0, 0.3, edges) + rng.normal(0, 0.02, (seeds, 1))
        one, other = (
            common + rng.normal(0, 0.005, (seeds, 1)) + rng.normal(0, 0.1, (seeds, edges)) for _ in range(2)
        )
        for place, found in enumerate((difference(on_splits(one), on_splits(other)), difference(one, other))):
            held[place] += found.low <= 0 <= found.high
            width[place] += (found.high - found.low) / repeats
    assert 0.95 - 0.03 < held[0] / repeats < 0.95 + 0.03
    assert held[1] / repeats > 0.99
    assert width[0] < 0.45 * width[1]


def test_a_difference_is_that_of_the_splits_that_both_methods_have() -> None:
    rng = np.random.default_rng(13)
    one, other = ranks_of(rng, 4, 50, 0.5), ranks_of(rng, 4, 50, 0.5)
    gap, gaps = difference(on_splits(one), on_splits(other)), mean_interval(one - other)
    assert (gap.value, gap.low, gap.high) == pytest.approx((gaps.value, gaps.low, gaps.high))
    assert (gap.df, gap.over) == (pytest.approx(gaps.df), "edges and seeds")
    assert smallest_gap(on_splits(one), on_splits(other)) == pytest.approx(gap_at(spread_of(gap)))
    several, first = on_splits(one), on_splits(other[:1])
    alone = difference(several, first)
    assert (alone.value, alone.p, alone.over) == (*_value_and_p(difference(one[:1], other[:1])), "edges")
    assert seeds_compared(several, first) == 1
    elsewhere = Sample.of_splits({f"split {number}": [row] for number, row in enumerate(other, 4)})
    apart = difference(several, elsewhere)
    assert _value_and_p(apart) == pytest.approx(_value_and_p(difference(one, other)))
    assert seeds_compared(several, elsewhere) == 4


def _value_and_p(found: Difference) -> tuple[float, float]:
    return found.value, found.p


def test_a_percentile_interval_of_three_seeds_is_too_narrow_where_ours_is_not() -> None:
    rng = np.random.default_rng(7)
    held = np.zeros(2)
    for number in range(200):
        values = 0.5 + 0.1 * rng.standard_normal((3, 1)) + 0.2 * rng.standard_normal((3, 60))
        ours = mean_interval(values)
        low, high = bootstrap_interval(values, kind="percentile", resamples=300, seed=number)
        held += [ours.low <= 0.5 <= ours.high, low <= 0.5 <= high]
    assert held[0] > 0.91 * 200
    assert held[1] < 0.88 * 200


def test_seeds_that_agree_count_as_one() -> None:
    row = ranks_of(np.random.default_rng(8), 1, 40)
    once, thrice = mean_interval(row), mean_interval(np.repeat(row, 3, axis=0))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high), rel=1e-9)


def test_effects_count_edges_and_standard_deviations() -> None:
    one, other = [[1.0, 1.0, 0.5, 0.25]], [[0.5, 0.5, 0.5, 1.0]]
    found = difference(one, other)
    gaps = np.array([0.5, 0.5, 0.0, -0.75])
    assert (found.better, found.worse) == (0.5, 0.25)
    assert found.standardised == pytest.approx(gaps.mean() / gaps.std(ddof=1))
    turned = difference(other, one)
    assert (turned.value, turned.p, turned.better) == (-found.value, found.p, 0.25)


def test_what_never_varies_has_no_width_and_the_p_value_of_signs() -> None:
    same = difference([[0.5] * 9], [[0.5] * 9])
    assert (same.low, same.high, same.p, same.standardised) == (0, 0, 1, 0)
    ahead = difference([[0.75] * 9], [[0.5] * 9])
    assert (ahead.low, ahead.high, ahead.p) == (0.25, 0.25, 2**-8)
    assert ahead.standardised == math.inf


def test_one_edge_says_nothing() -> None:
    found = difference([[0.5], [0.7]], [[0.1]])
    assert (found.low, found.high, found.p) == (-math.inf, math.inf, 1)
    assert mean_interval([0.5]).high == math.inf


def test_tasks_of_their_own_edges_are_compared_by_their_means() -> None:
    rng = np.random.default_rng(9)
    pairs = [(ranks_of(rng, 2, size), ranks_of(rng, 1, size)) for size in (30, 40, 50, 60)]
    gaps = [one.mean() - other.mean() for one, other in pairs]
    reference = stats.ttest_1samp(gaps, 0)
    found = difference_over_tasks([(Sample.of(one), Sample.of(other)) for one, other in pairs])
    assert (found.value, found.p) == pytest.approx((np.mean(gaps), reference.pvalue))
    assert found.over == "tasks"
    alone = mean_over_tasks([Sample.of(one) for one, _ in pairs])
    ends = stats.ttest_1samp([one.mean() for one, _ in pairs], 0).confidence_interval()
    assert (alone.low, alone.high) == pytest.approx((ends.low, ends.high))
    with pytest.raises(InputError, match="at least two tasks, got 1"):
        mean_over_tasks([Sample.of(pairs[0][0])])


def of_splits(means: Iterable[float]) -> list[Sample]:
    return [Sample.of([[one]]) for one in means]


def test_an_interval_over_splits_stays_within_the_bounds_of_its_metric() -> None:
    for means in ([0.01, 0.02, 0.09], [0.9, 0.99, 1.0]):
        found = mean_over_tasks(of_splits(means), span=(0, 1))
        assert 0 < found.low < np.mean(means) < found.high < 1
    turned = mean_over_tasks(of_splits([0.99, 0.98, 0.91]), span=(0, 1))
    near = mean_over_tasks(of_splits([0.01, 0.02, 0.09]), span=(0, 1))
    assert (turned.low, turned.high) == pytest.approx((1 - near.high, 1 - near.low))
    scaled = mean_over_tasks(of_splits([-0.98, -0.96, -0.82]), span=(-1, 1))
    assert (scaled.low, scaled.high) == pytest.approx((2 * near.low - 1, 2 * near.high - 1))
    # Where all splits are alike, at a bound too, there is nothing to widen.
    assert [mean_over_tasks(of_splits([one] * 3), span=(0, 1)).high for one in (0, 0.5, 1)] == [0, 0.5, 1]


def test_an_interval_in_the_middle_of_a_range_is_nearly_students() -> None:
    means = [0.49, 0.50, 0.51, 0.505]
    one, other = mean_over_tasks(of_splits(means)), mean_over_tasks(of_splits(means), span=(0, 1))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-4)
    assert (one.std_error, one.df) == (other.std_error, other.df)


def test_means_that_are_skewed_are_covered_better_on_the_scale_of_log_odds() -> None:
    rng = np.random.default_rng(11)
    drawn = 0.1 * np.exp(0.5 * rng.standard_normal((500, 5)))
    truth = 0.1 * math.exp(0.5**2 / 2)
    held, above = np.zeros(2), np.zeros(2)
    for means in drawn:
        samples = of_splits(means)
        found = [mean_over_tasks(samples), mean_over_tasks(samples, span=(0, 1))]
        held += [one.low <= truth <= one.high for one in found]
        above += [truth > one.high for one in found]
    assert held[1] >= held[0] + 5
    assert above[1] < 0.8 * above[0]


def test_the_smallest_gap_is_found_with_the_power_it_names() -> None:
    rng = np.random.default_rng(10)
    pilot = 0.5 + 0.2 * rng.standard_normal((2, 5000))
    gap = smallest_gap(pilot[:1], pilot[1:], edges=300)
    found = 0
    for _ in range(1500):
        one, other = 0.5 + 0.2 * rng.standard_normal((2, 1, 300))
        found += difference(one + gap, other).p < 0.05
    assert found / 1500 == pytest.approx(0.8, abs=0.03)


def test_more_edges_seeds_or_less_power_make_the_smallest_gap_smaller() -> None:
    rng = np.random.default_rng(11)
    one, other = ranks_of(rng, 3, 200, 0.3), ranks_of(rng, 3, 200, 0.3)
    base = smallest_gap(one, other)
    estimate = difference(one, other)
    assert base == pytest.approx(gap_at(spread_of(estimate)))
    # Where seeds decide, more edges leave fewer degrees of freedom: here they do not.
    steady = ranks_of(rng, 3, 200), ranks_of(rng, 3, 200)
    assert smallest_gap(*steady, edges=2000) < 0.5 * smallest_gap(*steady)
    assert smallest_gap(one, other, seeds=20) < base
    assert smallest_gap(one, other, power=0.5) < base
    for wrong, words in (({"edges": 1}, "2 or more"), ({"seeds": 0}, "1 or more"), ({"power": 1.0}, "power")):
        with pytest.raises(InputError, match=words):
            smallest_gap(one, other, **wrong)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([[0.5, math.nan]], "1 of 2 values is NaN"),
        ([], "no values|row"),
        (np.zeros((2, 0)), "shape"),
        (np.zeros((2, 2, 2)), "shape"),
        ([["a"]], "real numbers"),
    ],
)
def test_values_that_are_none_are_named(values: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        mean_interval(values)


def test_other_edges_and_levels_are_refused() -> None:
    with pytest.raises(InputError, match="same edges, got 2 and 3"):
        difference([[1, 2]], [[1, 2, 3]])
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        mean_interval([1, 2], level=95)
    with pytest.raises(InputError, match="a seed has 1 values, and another 2"):
        Sample.of([[1, 2], [3]])
    with pytest.raises(InputError, match="same edges"):
        resampled_means([[1, 2]], [[1, 2, 3]])
    with pytest.raises(InputError, match="kind"):
        bootstrap_interval([1, 2], kind="t")


def slow_holm(p_values: list[float]) -> list[float]:
    """The smallest level at which Holm's step-down procedure rejects each, tried on every candidate level."""
    count = len(p_values)
    levels = sorted({min(1.0, p * times) for p in p_values for times in range(1, count + 1)})
    adjusted = []
    for p in p_values:
        for level in levels:
            rejected = []
            for step, candidate in enumerate(sorted(p_values)):
                if candidate * (count - step) > level:
                    break
                rejected.append(candidate)
            if p in rejected:
                adjusted.append(level)
                break
        else:
            adjusted.append(1.0)
    return adjusted


@pytest.mark.parametrize("seed", range(5))
def test_holm_agrees_with_the_procedure_step_by_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p_values = np.round(rng.random(8) ** 4, 2)
    assert holm(p_values).tolist() == pytest.approx(slow_holm(p_values.tolist()))


def test_holm_keeps_one_p_value_and_refuses_what_is_none() -> None:
    assert holm([0.03]).tolist() == [0.03]
    assert holm([]).size == 0
    for wrong in ([1.2], [math.nan], [[0.1]]):
        with pytest.raises(InputError):
            holm(wrong)


@pytest.mark.parametrize("seed", range(6))
def test_tie_groups_are_all_maximal_cliques(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = 9
    distinct = [pair for pair in combinations(range(count), 2) if rng.random() < 0.1 + 0.15 * seed]
    same = nx.Graph([pair for pair in combinations(range(count), 2) if pair not in distinct])
    same.add_nodes_from(range(count))
    groups = tie_groups(count, distinct)
    assert groups == sorted(tuple(sorted(clique)) for clique in nx.find_cliques(same))
    marks = [set(found) for found in letters(count, groups)]
    for first, second in combinations(range(count), 2):
        assert bool(marks[first] & marks[second]) == ((first, second) not in distinct)
    assert "a" in marks[0]


def test_letters_go_on_after_z_and_a_lone_method_has_one() -> None:
    groups = tie_groups(30, combinations(range(30), 2))
    marks = letters(30, groups)
    assert [marks[0], marks[25], marks[26], marks[29]] == [("a",), ("z",), ("aa",), ("ad",)]
    assert letters(1, tie_groups(1, [])) == [("a",)]
    assert tie_groups(0, []) == []
    with pytest.raises(InputError, match="not a pair of two of 3"):
        tie_groups(3, [(1, 3)])


def test_friedman_is_scipys_with_ties_and_nemenyis_difference_is_the_printed_one() -> None:
    values = np.round(np.random.default_rng(12).random((10, 5)) + np.arange(5) / 10, 1)
    found = friedman(values)
    reference = stats.friedmanchisquare(*values.T)
    assert (found.statistic, found.p) == pytest.approx((reference.statistic, reference.pvalue))
    assert found.mean_ranks == pytest.approx(stats.rankdata(-values, axis=1).mean(axis=0))
    assert friedman(values, higher_is_better=False).mean_ranks == pytest.approx(6 - found.mean_ranks)
    # Demšar 2006, section 3.2.2: q 2.569 for four classifiers, 14 data sets.
    assert friedman(np.random.default_rng(0).random((14, 4))).critical_difference == pytest.approx(
        1.25, abs=0.01
    )


def test_friedmans_f_is_the_printed_one() -> None:
    """Demšar 2006, section 3.2.2: mean ranks 3.143, 2.000, 2.893, 1.964 over 14 data sets give F = 3.69."""
    n, k = 14, 4
    ranks = np.array([3.143, 2.0, 2.893, 1.964])
    chi = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    f = (n - 1) * chi / (n * (k - 1) - chi)
    assert f == pytest.approx(3.69, abs=0.02)
    values = np.random.default_rng(3).random((n, k))
    found = friedman(values)
    f_ours = (n - 1) * found.statistic / (n * (k - 1) - found.statistic)
    assert found.p_f == pytest.approx(stats.f.sf(f_ours, k - 1, (k - 1) * (n - 1)))


def test_friedman_of_methods_that_always_rank_alike_or_are_equal() -> None:
    agreed = friedman([[3, 2, 1]] * 6)
    assert agreed.p_f == 0
    assert agreed.statistic == pytest.approx(12)
    equal = friedman(np.ones((6, 3)))
    assert (equal.statistic, equal.p, equal.p_f) == (0, 1, 1)
    assert equal.groups == ((0, 1, 2),)
    for wrong in ([[1, 2]], [1, 2], [[1], [2]], [[1, math.nan], [1, 2]]):
        with pytest.raises(InputError):
            friedman(wrong)


def test_runs_within_a_width_are_the_bars_of_the_plot() -> None:
    assert runs_within([3.0, 1.0, 1.5, 2.4], 1.0) == [(1, 2), (2, 3), (3, 0)]
    assert runs_within([1.0, 5.0], 1.0) == [(0,), (1,)]
    assert runs_within([2.0, 1.0, 1.5], 5.0) == [(1, 2, 0)]
