"""Does the value of a metric change when the same pairs are asked about in another way?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics import PairScores, get
from trueedge.scorers.asking import neutral_direction
from trueedge.scorers.probe import BadAnswerError, CheckResult

Ask = Callable[[NDArray[np.int64]], NDArray[np.float64]]
DRAWS = 24
# A value is off if it is so many standard errors away from DRAWS others: by chance once in 70,000 times.
ERRORS = 5.5
# Smaller changes, relative to the value, are not mentioned.
SMALLEST = 0.01
DIRECTION = "direction: (u, v) and (v, u) get different scores, though an edge has no direction"


@dataclass(frozen=True, eq=False)
class Headline:
    """The value of a metric on a sample of pairs: positives first, then negatives.

    Attributes:
        metric: its name.
        listing: int64 array (n, 2), the pairs in the direction in which the task lists them.
        positives: the number of positives.
        shape: the shape of the negatives: (M,) shared, or (P, K).
    """

    #: Whether the questions are pairs, which can be asked in either direction.
    has_direction: ClassVar[bool] = True

    metric: str
    listing: NDArray[np.int64]
    positives: int
    shape: tuple[int, ...]

    def value(self, scores: NDArray[np.float64]) -> float:
        """Return the metric of scores in the order of the listing; NaN if some are not finite."""
        if not np.isfinite(scores).all():
            return math.nan
        checked = PairScores.check(scores[: self.positives], scores[self.positives :].reshape(self.shape))
        return get(self.metric).value(checked)

    def direction(self, ask: Ask, rng: np.random.Generator, random: bool = False) -> CheckResult:
        """Compare directions that could tell a positive from a negative with random directions.

        Args:
            ask: returns the scores of pairs.
            rng: for the random directions.
            random: whether scores differ in repeated calls, so that two directions cannot be compared.
        """
        neutral = neutral_direction(self.listing)
        ways = {"as the task lists them": self.listing, "with the smaller node first": neutral}
        ways |= {"as listed, reversed": self.listing[:, ::-1], "with the larger node first": neutral[:, ::-1]}
        draws = []
        for _ in range(DRAWS):
            turned = rng.random(len(neutral)) < 0.5
            draws.append(self.value(ask(np.where(turned[:, None], neutral[:, ::-1], neutral))))
        for way, pairs in ways.items():
            value = self.value(ask(pairs))
            if is_off(value, draws):
                found = (
                    f"{self.metric} is {value:.4f} on the pairs {way}, and {np.mean(draws):.4f} in random"
                    " directions, though an edge has no direction"
                )
                return CheckResult("broken", "direction", f"direction: {found}")
        if random:
            return CheckResult("ok", "direction", f"{self.metric} is the same in every direction")
        return CheckResult("look", "direction", f"{DIRECTION}; {self.metric} does not depend on it")

    def same_on_average(
        self, name: str, how: str, ask: Callable[[], NDArray[np.float64]], draws: Sequence[float]
    ) -> CheckResult:
        """Compare a scorer with random scores, asked in another way, with its values under repetition."""
        try:
            value = float(np.mean([self.value(ask()) for _ in range(3)]))
        except BadAnswerError as trouble:
            return CheckResult("broken", name, str(trouble))
        if is_off(value, draws):
            return CheckResult(
                "broken",
                name,
                f"{how}, {self.metric} is {value:.4f}; in {len(draws)} equal calls it is"
                f" {np.mean(draws):.4f} ± {np.std(draws):.4f}",
            )
        return CheckResult("ok", name, f"{how}, {self.metric} is the same up to the scorer's randomness")


def is_off(value: float, draws: Sequence[float]) -> bool:
    """Return whether a value is too far from some draws to be another one of them."""
    mean, error = float(np.mean(draws)), float(np.std(draws, ddof=1)) * math.sqrt(1 + 1 / len(draws))
    return abs(value - mean) > max(ERRORS * error, SMALLEST * abs(mean))


def drift(draws: Sequence[float]) -> bool:
    """Return whether repeated calls settle on one value after the first, or only ever rise or fall."""
    steps = np.diff(draws)
    settled = len(draws) > 2 and (steps[1:] == 0).all() and steps[0] != 0
    return bool(settled or (steps > 0).all() or (steps < 0).all())
