"""The ladder: small gains and the exact value of a submission are never shown."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.leaderboard.hidden.ladder import Values, climb, step_of

N = 200


def of(units: np.ndarray, without: np.ndarray | None = None) -> Values:
    return Values(units, np.empty(0) if without is None else without)


def test_the_step_is_at_least_one_hundredth_and_a_multiple_of_it() -> None:
    base = np.zeros(N)
    assert step_of(of(base), of(base)) == 0.01
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.1, 0.5, 1.0):
        new = scale * rng.random(N)
        error = np.std(new - base, ddof=1) / np.sqrt(N)
        step = step_of(of(new), of(base))
        assert step == pytest.approx(max(0.01, 0.01 * np.ceil(1.65 * error / 0.01)))


def test_a_gain_within_the_step_changes_nothing() -> None:
    best = np.full(N, 0.5)
    assert climb(of(best + 0.0099), of(best)) is None
    assert climb(of(best - 0.2), of(best)) is None
    assert climb(of(best + 0.0101), of(best)) == 0.51


def test_single_labels_do_not_pass_the_step_however_few_units_there_are() -> None:
    for count in (30, 60, 200, 1000):
        best = np.zeros(count)
        for right in (1, 2):
            new = best.copy()
            new[:right] = 1.0
            assert climb(of(new), of(best)) is None


def test_the_value_is_rounded_down_to_the_step() -> None:
    rng = np.random.default_rng(1)
    best = np.zeros(N)
    new = (rng.random(N) < 0.4).astype(float)
    step = step_of(of(new), of(best))
    found = climb(of(new), of(best))
    assert step > 0.01
    assert found == pytest.approx(step * np.floor(new.mean() / step))


def test_what_does_not_beat_constant_scores_has_no_value() -> None:
    assert climb(of(np.full(N, 0.1)), of(np.full(N, 0.1))) is None


def test_a_value_that_was_rounded_down_is_not_climbed_again() -> None:
    first = np.full(N, 0.509)
    assert climb(of(first), of(np.zeros(N))) == 0.5
    assert climb(of(first + 0.005), of(first)) is None


def test_the_step_grows_with_the_tries_of_all_teams() -> None:
    rng = np.random.default_rng(2)
    new, best = rng.random(N), rng.random(N)
    error = np.std(new - best, ddof=1) / np.sqrt(N)
    for tries, errors in ((1, 1.6449), (12, 2.6383), (500, 3.7190)):
        assert step_of(of(new), of(best), tries) == pytest.approx(0.01 * np.ceil(errors * error / 0.01))


def test_a_gain_that_rests_on_one_group_of_negatives_does_not_pass() -> None:
    best = of(np.full(N, 0.5), np.full(30, 0.5))
    without = np.full(30, 0.6)
    assert climb(of(np.full(N, 0.6), without), best) == 0.6
    without[3] = 0.5
    assert climb(of(np.full(N, 0.6), without), best) is None
