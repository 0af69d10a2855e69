"""The ladder: answers that say too little about hidden labels to learn them by asking.

A team has a best submission and the value that was shown for it. A new submission changes the value only if
it is better by more than a step, and the new value is rounded down to a multiple of the step. The step is the
larger of 0.01 and z paired standard errors, rounded up to a multiple of 0.01, so that it does not tell the
standard error. z is 1.65 for the first submission: one in twenty that is no better passes by chance. It grows
with the submissions of all teams to the task, as Bonferroni's rule asks: 2.6 for the twelfth, 3.5 for the
200th. With 1.65 throughout, 500 tries raise the value by points, and a counter for each team would not stop
new accounts (``python -m benchmarks.leaderboard_attack``). The first submission of a team is compared with
constant scores.

Where all positives share their negatives, a single negative can move the values of all units together. So the
standard error also has a part of the negatives, by a jackknife over groups of these.

Blum and Hardt, The Ladder: A Reliable Leaderboard for Machine Learning Competitions, ICML 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from trueedge.statistics.standard_error import variance_of_mean

SMALLEST_STEP = 0.01
# How many submissions pass by chance is divided by their number.
ERROR_RATE = 0.05
# Multiples of the step are exact to this: 0.07 / 0.01 is 7.000000000000001.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Values:
    """What a submission is worth on some units.

    Attributes:
        units: float64 (n,), the metric's value of each unit; larger is better.
        without: float64 (g,), the metric's value without each of g groups of shared negatives; else empty.
    """

    units: NDArray[np.float64]
    without: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Return the metric's value."""
        return float(self.units.mean())


@dataclass(frozen=True)
class Answer:
    """The answer to a submission.

    Attributes:
        value: what is shown for the team, a multiple of 0.01; None until it beats constant scores.
        improved: whether this submission changed it, and becomes the one that others are compared with.
    """

    value: float | None
    improved: bool


def paired_error(new: Values, best: Values) -> float:
    """Return the standard error of the gain of a submission over another one on the same units."""
    variance = variance_of_mean(new.units - best.units)
    groups = new.without - best.without
    if len(groups) > 1:
        variance += (len(groups) - 1) ** 2 * variance_of_mean(groups)
    return math.sqrt(variance)


def step_of(new: Values, best: Values, tries: int = 1) -> float:
    """Return the gain that a submission needs, a multiple of 0.01.

    Args:
        new: its values of the public units.
        best: those of the team's best submission.
        tries: how many submissions to the task have been judged, of all teams and with this one.
    """
    errors = NormalDist().inv_cdf(1.0 - ERROR_RATE / max(1, tries))
    needed = max(SMALLEST_STEP, errors * paired_error(new, best))
    return SMALLEST_STEP * math.ceil(needed / SMALLEST_STEP - ROUNDING)


def climb(new: Values, best: Values, shown: float | None, tries: int = 1) -> Answer:
    """Answer a submission.

    Args:
        new: its values of the public units.
        best: those of the team's best submission, or of constant scores.
        shown: the value that was shown for the best one; None if there was none.
        tries: how many submissions to the task have been judged, of all teams and with this one.
    """
    step = step_of(new, best, tries)
    # Compared with the best value itself: what was shown is lower, and would be passed by a smaller gain.
    if not new.mean - best.mean > step:
        return Answer(shown, False)
    return Answer(round(step * math.floor(new.mean / step + ROUNDING), 2), True)
