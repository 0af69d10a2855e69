"""The ladder: small gains and the exact value of a submission are never shown."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.leaderboard.hidden.ladder import Answer, climb, step_of

N = 200


def test_the_step_is_at_least_one_hundredth_and_a_multiple_of_it() -> None:
    base = np.zeros(N)
    assert step_of(base, base) == 0.01
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.1, 0.5, 1.0):
        new = scale * rng.random(N)
        error = np.std(new - base, ddof=1) / np.sqrt(N)
        step = step_of(new, base)
        assert step == pytest.approx(max(0.01, 0.01 * np.ceil(1.65 * error / 0.01)))


def test_a_gain_within_the_step_changes_nothing() -> None:
    best = np.full(N, 0.5)
    assert climb(best + 0.0099, best, 0.5) == Answer(0.5, False)
    assert climb(best - 0.2, best, 0.5) == Answer(0.5, False)
    assert climb(best + 0.0101, best, 0.5) == Answer(0.51, True)


def test_single_labels_do_not_pass_the_step_however_few_units_there_are() -> None:
    for count in (30, 60, 200, 1000):
        best = np.zeros(count)
        for right in (1, 2):
            new = best.copy()
            new[:right] = 1.0
            assert not climb(new, best, 0.0).improved


def test_the_value_is_rounded_down_to_the_step() -> None:
    rng = np.random.default_rng(1)
    best = np.zeros(N)
    new = (rng.random(N) < 0.4).astype(float)
    step = step_of(new, best)
    found = climb(new, best, None)
    assert step > 0.01
    assert found.improved
    assert found.value == pytest.approx(step * np.floor(new.mean() / step))


def test_what_does_not_beat_constant_scores_has_no_value() -> None:
    assert climb(np.full(N, 0.1), np.full(N, 0.1), None) == Answer(None, False)


def test_a_value_that_was_rounded_down_is_not_climbed_again() -> None:
    first = np.full(N, 0.509)
    assert climb(first, np.zeros(N), None) == Answer(0.5, True)
    assert climb(first + 0.005, first, 0.5) == Answer(0.5, False)
