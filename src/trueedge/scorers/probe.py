"""One question to a scorer, asked again in another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_array
from trueedge.scorers.reordering import Reordering, compare_orders
from trueedge.scorers.scorer import Scorer, dimensions_of

RELATIVE_NOISE = 1e-5

Level = Literal["ok", "look", "broken"]


@dataclass(frozen=True)
class CheckResult:
    """What one check of a scorer found.

    Attributes:
        level: ``ok``, ``look`` (decide for yourself) or ``broken`` (scores cannot be trusted).
        name: what was checked, one word.
        sentence: what was found.
    """

    level: Level
    name: str
    sentence: str


@dataclass(frozen=True)
class Probe:
    """The same question in another way.

    Attributes:
        name: what is checked.
        ask: asks again, and puts the answer into the order of ``scores``.
        scores: what was answered the first time.
        rows: int64 (n, …), what is asked; an answer may hold their scores several times over.
        same: the sentence where the answer is the same.
        changed: the sentence where it is not.
        how: how it was asked, to begin a sentence about the order of pairs.
        fault: how bad a change is.
        repeated: the very same question, to which the last digits have no reason to change either.
        noun: what a row is, in the plural.
    """

    name: str
    ask: Callable[[], NDArray[Any]]
    scores: NDArray[np.float64]
    rows: NDArray[np.int64]
    same: str
    changed: str
    how: str
    fault: Level = "broken"
    repeated: bool = False
    noun: str = "pairs"

    def run(self) -> CheckResult:
        """Ask, and compare: what rounding may do is let pass, unless it decides the order of pairs."""
        try:
            again = self.ask().astype(np.float64)
        except BadAnswerError as trouble:
            return CheckResult("broken", self.name, str(trouble))
        size = np.abs(self.scores)
        usual = float(np.median(size[np.isfinite(size)])) if np.isfinite(size).any() else 0.0
        with np.errstate(invalid="ignore"):
            difference = np.abs(again - self.scores)
            agree = difference <= RELATIVE_NOISE * np.maximum(size, usual)
        agree |= (again == self.scores) | (np.isnan(again) & np.isnan(self.scores))
        if agree.all():
            if again.ndim > 1 or self.rows.ndim != 2:
                return CheckResult("ok", self.name, self.same)
            return self._compare_order(again, np.maximum(size, usual))
        extent = _extent(difference[~agree], agree.size, self.noun)
        return CheckResult(self.fault, self.name, f"{self.changed} ({extent})")

    def _compare_order(self, again: NDArray[np.float64], scale: NDArray[np.float64]) -> CheckResult:
        """Scores that agree up to rounding: is the order of the pairs the same?"""
        count, found = len(self.rows), CheckResult("ok", self.name, self.same)
        for at in range(0, len(again), count):
            part = slice(at, at + count)
            if np.array_equal(again[part], self.scores[part], equal_nan=True):
                continue
            change = compare_orders(self.rows, self.scores[part], again[part], scale[part])
            if change.is_systematic or (self.repeated and change.split):
                return CheckResult(self.fault, self.name, f"tie-breaking: {self._last_digits(change)}")
            if change.moved:
                found = CheckResult("look", self.name, f"rounding: {self._last_digits(change)}")
        return found

    def _last_digits(self, change: Reordering) -> str:
        return f"{self.how}, scores change in their last digits, which decide {change}"


class BadAnswerError(Exception):
    """The answer is not a real number, or a row of them, for each question; the message says what it is."""


def ask(scorer: Scorer, rows: NDArray[np.int64], noun: str = "pairs") -> NDArray[Any]:
    """Return a scorer's answer, real numbers (n,) or (n, d); NaN and infinite ones are let through."""
    asked = f"{len(rows)} {noun}" if len(rows) != 1 else f"1 {'query' if noun == 'queries' else noun[:-1]}"
    try:
        answer = scorer.score(np.array(rows, order="C"))
    except (Exception, SystemExit) as problem:
        text = f": {str(problem).splitlines()[0]}" if str(problem) else ""
        raise BadAnswerError(f"it raises {type(problem).__name__}{text} (asked {asked})") from problem
    try:
        array = as_array(answer, "the answer")
    except InputError as problem:
        raise BadAnswerError(str(problem)) from problem
    if array.shape[:1] != (len(rows),) or array.ndim not in dimensions_of(scorer):
        raise BadAnswerError(f"the answer to {asked} has the shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise BadAnswerError(f"the answer holds values of type {array.dtype}, not real numbers")
    # A copy: the scorer may use its buffer again.
    return np.array(array)


def _extent(differences: NDArray[np.float64], asked: int, noun: str) -> str:
    """How many scores changed, and by how much; a change to or from NaN has no size."""
    sized = differences[np.isfinite(differences)]
    lost = len(differences) - len(sized)
    words = [f"{len(differences)} of {asked} {noun}"]
    if len(sized):
        words.append(f"by up to {sized.max():.3g}")
    if lost:
        which = f"{lost} of them " if len(sized) else ""
        words.append(f"{which}to or from NaN or infinity")
    return ", ".join(words)
