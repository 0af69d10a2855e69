"""The ladder: answers that say too little about hidden labels to learn them by asking.

A team has a best submission and the value that was shown for it. A new submission changes the value only if
it is better by more than a step, and the new value is rounded down to a multiple of the step. The step is the
larger of 0.01 and 1.65 paired standard errors, rounded up to a multiple of 0.01, so that it does not tell
the standard error. The first submission is compared with constant scores.

Blum and Hardt, The Ladder: A Reliable Leaderboard for Machine Learning Competitions, ICML 2015.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.statistics.standard_error import variance_of_mean

SMALLEST_STEP = 0.01
STANDARD_ERRORS = 1.65
# Multiples of the step are exact to this: 0.07 / 0.01 is 7.000000000000001.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Answer:
    """The answer to a submission.

    Attributes:
        value: what is shown for the team, a multiple of 0.01; None until it beats constant scores.
        improved: whether this submission changed it, and becomes the one that others are compared with.
    """

    value: float | None
    improved: bool


def step_of(new: NDArray[np.float64], best: NDArray[np.float64]) -> float:
    """Return the gain that a submission needs, a multiple of 0.01.

    Args:
        new: float64 (n,), its values of the public units, in one direction: larger is better.
        best: float64 (n,), those of the team's best submission.
    """
    error = math.sqrt(variance_of_mean(new - best))
    needed = max(SMALLEST_STEP, STANDARD_ERRORS * error)
    return SMALLEST_STEP * math.ceil(needed / SMALLEST_STEP - ROUNDING)


def climb(new: NDArray[np.float64], best: NDArray[np.float64], shown: float | None) -> Answer:
    """Answer a submission.

    Args:
        new: float64 (n,), its values of the public units; larger is better.
        best: float64 (n,), those of the team's best submission, or of constant scores.
        shown: the value that was shown for the best one; None if there was none.
    """
    step = step_of(new, best)
    value = float(new.mean())
    # Compared with the best value itself: what was shown is lower, and would be passed by a smaller gain.
    if not value - float(best.mean()) > step:
        return Answer(shown, False)
    return Answer(round(step * math.floor(value / step + ROUNDING), 2), True)
