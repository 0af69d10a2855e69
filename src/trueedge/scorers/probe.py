"""One question to a scorer, asked again in another way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.scores import as_array
from trueedge.scorers.capabilities import Bound
from trueedge.scorers.reordering import compare_orders
from trueedge.scorers.scorer import Scorer

RELATIVE_NOISE = 1e-5

Level = Literal["ok", "look", "broken"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: ``ok``, ``look`` (judge for yourself) or ``broken`` (scores cannot be trusted).
        name: what was looked at, one word.
        sentence: what was found.
    """

    level: Level
    name: str
    sentence: str


@dataclass(frozen=True)
class Probe:
    """The same question in another way.

    Attributes:
        name: what is looked at.
        ask: asks again, and puts the answer into the order of ``scores``.
        scores: what was answered the first time.
        pairs: int64 (n, 2), what is asked; an answer may hold their scores several times over.
        same: the sentence where the answer is the same.
        changed: the sentence where it is not.
        how: how it was asked, to begin a sentence about the order of pairs.
        fault: how bad a change is.
        repeated: the very same question, to which the last digits have no reason to change either.
    """

    name: str
    ask: Callable[[], NDArray[Any]]
    scores: NDArray[np.float64]
    pairs: NDArray[np.int64]
    same: str
    changed: str
    how: str
    fault: Level = "broken"
    repeated: bool = False

    def run(self) -> Finding:
        """Ask, and compare: what rounding may do is let pass, unless it decides the order of pairs."""
        try:
            again = self.ask().astype(np.float64)
        except BadAnswerError as trouble:
            return Finding("broken", self.name, str(trouble))
        size = np.abs(self.scores)
        usual = float(np.median(size[np.isfinite(size)])) if np.isfinite(size).any() else 0.0
        with np.errstate(invalid="ignore"):
            difference = np.abs(again - self.scores)
            agree = difference <= RELATIVE_NOISE * np.maximum(size, usual)
        agree |= (again == self.scores) | (np.isnan(again) & np.isnan(self.scores))
        if agree.all():
            if again.ndim > 1 or self.pairs.ndim != 2:
                return Finding("ok", self.name, self.same)
            return self._judge_order(again, np.maximum(size, usual))
        extent = _extent(difference[~agree], agree.size, "pairs" if again.ndim == 1 else "answers")
        return Finding(self.fault, self.name, f"{self.changed} ({extent})")

    def _judge_order(self, again: NDArray[np.float64], scale: NDArray[np.float64]) -> Finding:
        """Scores that agree up to rounding: is the order of the pairs the same?"""
        count, found = len(self.pairs), Finding("ok", self.name, self.same)
        for at in range(0, len(again), count):
            part = slice(at, at + count)
            if np.array_equal(again[part], self.scores[part], equal_nan=True):
                continue
            change = compare_orders(self.pairs, self.scores[part], again[part], scale[part])
            if change.is_systematic or (self.repeated and change.split):
                told = f"tie-breaking: {self.how}, scores change in their last digits, which decide {change}"
                return Finding(self.fault, self.name, told)
            if change.moved:
                told = f"rounding: {self.how}, scores change in their last digits, which decide {change}"
                found = Finding("look", self.name, told)
        return found


class BadAnswerError(Exception):
    """The answer is not one real number for each pair; the message says what it is instead."""


def ask(scorer: Scorer, pairs: NDArray[np.int64]) -> NDArray[Any]:
    """A scorer's answer, real numbers (n,); NaN and infinite ones are let through."""
    try:
        answer = scorer.score(np.array(pairs, order="C"))
    except (Exception, SystemExit) as problem:
        text = f": {str(problem).splitlines()[0]}" if str(problem) else ""
        told = f"it raises {type(problem).__name__}{text} (asked {_count(pairs)})"
        raise BadAnswerError(told) from problem
    try:
        array = as_array(answer, "the answer")
    except InputError as problem:
        raise BadAnswerError(str(problem)) from problem
    rows_of_pairs = pairs.ndim == 2 and not isinstance(scorer, Bound)
    if array.shape[:1] != (len(pairs),) or array.ndim > (1 if rows_of_pairs else 2):
        raise BadAnswerError(f"the answer to {_count(pairs)} has the shape {array.shape}")
    if array.dtype.kind not in "biuf":
        raise BadAnswerError(f"the answer holds values of type {array.dtype}, not real numbers")
    return array


def _count(pairs: NDArray[np.int64]) -> str:
    return "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"


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
