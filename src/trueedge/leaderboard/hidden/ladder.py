"""The ladder: answers that say too little about hidden labels to learn them by asking.

A task has a best submission. The value of a new one is shown only if it is better by more than a step, and
is rounded down to a multiple of the step. The step is the larger of 0.01 and z paired standard errors,
rounded up to a multiple of 0.01, so that it does not tell the standard error. z is 1.65 for the first
submission: one in twenty that is no better passes by chance. It grows with the submissions to the task, as
Bonferroni's rule asks: 2.6 for the twelfth, 3.5 for the 200th. With 1.65 throughout, 500 tries raise the
value by points.

There is one ladder for all teams. If each team had its own, the first answer of each new account would tell
on which side of a rounding edge a submission is, and 200 accounts would decode two thirds of 200 labels
(``python -m benchmarks.leaderboard_attack``). The first submission is compared with constant scores. A ladder
that begins so low can be climbed in many small steps, so the organiser should submit a baseline first.

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
        best: those of the best submission to the task.
        tries: how many submissions to the task have been judged, of all teams and with this one.
    """
    errors = NormalDist().inv_cdf(1.0 - ERROR_RATE / max(1, tries))
    needed = max(SMALLEST_STEP, errors * paired_error(new, best))
    return SMALLEST_STEP * math.ceil(needed / SMALLEST_STEP - ROUNDING)


def climb(new: Values, best: Values, tries: int = 1) -> float | None:
    """Return what is shown for a submission, a multiple of 0.01; None if it is not better by a step.

    Args:
        new: its values of the public units.
        best: those of the best submission to the task, or of constant scores if there is none.
        tries: how many submissions to the task have been judged, of all teams and with this one.
    """
    step = step_of(new, best, tries)
    # Compared with the best value itself: what was shown is lower, and would be passed by a smaller gain.
    if not new.mean - best.mean > step:
        return None
    return round(step * math.floor(new.mean / step + ROUNDING), 2)
