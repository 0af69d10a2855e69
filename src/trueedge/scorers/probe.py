"""Ask a scorer again in another way, and compare the scores and their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import pair_keys
from trueedge.metrics.scores import as_array
from trueedge.scorers.scorer import Scorer, dimensions_of

RELATIVE_NOISE = 1e-5
# All pairs are compared with each other, so their number is limited.
MOST_PAIRS = 1500
# In 1e-7 to 1e-5 of all comparisons the scores of a model are close enough for rounding to matter.
MOVED_SHARE = 1e-3
# The last rows of a matrix product are summed in another order, which splits their ties with equal rows: 18 %
# of a model's ties in batches of 50. Code that breaks ties on purpose splits at least half of them.
SPLIT_SHARE = 0.5
TIES_THAT_SHOW = 10
# If everything that moved is within rounding, only many split ties show a purpose.
MOVED_SHARE_OF_NOISE = 1e-2
# Sixteen steps of a float32, and some thousands of a float64.
FLOAT32_NOISE, FLOAT64_NOISE = 2e-6, 1e-12

Level = Literal["ok", "look", "broken"]


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of a scorer.

    Attributes:
        level: ``ok``, ``look`` (decide for yourself) or ``broken`` (the scores cannot be trusted).
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
        scores: the first answer.
        rows: int64 (n, …), the questions; an answer may hold their scores several times.
        same: the sentence if the answer is the same.
        changed: the sentence if it is not.
        how: how it was asked, to begin a sentence about the order of pairs.
        fault: the level of a change.
        repeated: whether the question is exactly the same, so that not even the last digits may change.
        noun: the plural noun for rows.
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
        """Ask and compare; changes by rounding are accepted unless they decide the order of pairs."""
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
        extent = _extent(difference[~agree], agree.size, self.noun if again.ndim == 1 else "scores")
        return CheckResult(self.fault, self.name, f"{self.changed} ({extent})")

    def _compare_order(self, again: NDArray[np.float64], scale: NDArray[np.float64]) -> CheckResult:
        """Compare the order of pairs whose scores agree up to rounding."""
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
    """Return a scorer's answer, real numbers (n,) or (n, d); NaN and infinity are accepted."""
    asked = f"{len(rows)} {noun}" if len(rows) != 1 else f"1 {'query' if noun == 'queries' else noun[:-1]}"
    try:
        answer = scorer.score(np.array(rows, order="C"))
    except InputError as problem:
        raise BadAnswerError(str(problem)) from problem
    except (Exception, SystemExit) as problem:
        text = f": {str(problem).splitlines()[0]}" if str(problem) else ""
        raise BadAnswerError(f"it raises {type(problem).__name__}{text} (asked {asked})") from problem
    try:
        array = as_array(answer, "the answer")
    except InputError as problem:
        raise BadAnswerError(str(problem)) from problem
    if array.shape[:1] != (len(rows),) or array.ndim not in dimensions_of(scorer):
        raise BadAnswerError(f"the answer to {asked} has the shape {array.shape}")
    width: int | None = getattr(scorer, "num_entities", None)
    if width is not None and array.shape[1:] != (width,):
        raise BadAnswerError(
            f"the answer to {asked} has the shape {array.shape} instead of {(len(rows), width)}: a score"
            f" for each of {width} entities"
        )
    if array.dtype.kind not in "biuf":
        raise BadAnswerError(f"the answer holds values of type {array.dtype}, not real numbers")
    # A copy: the scorer may use its buffer again.
    return np.array(array)


def _extent(differences: NDArray[np.float64], asked: int, noun: str) -> str:
    """Say how many scores changed and by how much; a change to or from NaN has no size."""
    sized = differences[np.isfinite(differences)]
    lost = len(differences) - len(sized)
    words = [f"{len(differences)} of {asked} {noun}"]
    if len(sized):
        words.append(f"by up to {sized.max():.3g}")
    if lost:
        which = f"{lost} of them " if len(sized) else ""
        words.append(f"{which}to or from NaN or infinity")
    return ", ".join(words)


@dataclass(frozen=True)
class Reordering:
    """How two answers differ in the order of pairs.

    Attributes:
        compared: the number of comparisons of two different pairs.
        moved: how many of them have another result: won, tied or lost.
        tied: how many are ties in at least one answer.
        split: how many are ties in one answer only.
        is_noise: whether everything that moved is within rounding.
    """

    compared: int
    moved: int
    tied: int
    split: int
    is_noise: bool

    @property
    def is_systematic(self) -> bool:
        """Return whether more has moved than other batches explain for a model of fixed weights."""
        are_split = self.tied >= TIES_THAT_SHOW and self.split >= SPLIT_SHARE * self.tied
        if self.is_noise:
            return are_split and self.moved >= MOVED_SHARE_OF_NOISE * self.compared
        return are_split or self.moved >= max(2, MOVED_SHARE * self.compared)

    def __str__(self) -> str:
        share = f"{self.moved / self.compared:.2g}" if self.compared else "0"
        ties = f", {self.split:,} of {self.tied:,} ties among them" if self.split else ""
        return f"{self.moved:,} of {self.compared:,} comparisons of two pairs ({share} of all{ties})"


def compare_orders(
    pairs: NDArray[np.int64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> Reordering:
    """Compare the order of pairs, int64 (n, 2), under two answers (n,); repeated pairs count once.

    ``scale`` (n,) is the magnitude relative to which a change is measured.
    """
    rows = np.unique(pair_keys(pairs, int(pairs.max(initial=0)) + 1), return_index=True)[1]
    rows = rows[np.isfinite(first[rows]) & np.isfinite(second[rows])]
    rows = rows[:: -(-len(rows) // MOST_PAIRS) or 1]
    a, b, size = first[rows], second[rows], scale[rows]
    with np.errstate(over="ignore"):
        before, after = a[:, None] - a, b[:, None] - b
        gap = np.maximum(np.abs(before), np.abs(after))
    # The difference of two numbers that are not equal is never 0 in IEEE arithmetic.
    moved = np.triu(np.sign(before) != np.sign(after))
    tied_before, tied_after = np.triu(before == 0, 1), np.triu(after == 0, 1)
    noise = FLOAT32_NOISE if _is_float32(a) and _is_float32(b) else FLOAT64_NOISE
    return Reordering(
        compared=len(rows) * (len(rows) - 1) // 2,
        moved=int(np.count_nonzero(moved)),
        tied=int(np.count_nonzero(tied_before | tied_after)),
        split=int(np.count_nonzero(tied_before ^ tied_after)),
        is_noise=bool((gap <= noise * np.maximum(size[:, None], size))[moved].all()),
    )


def _is_float32(scores: NDArray[np.float64]) -> bool:
    with np.errstate(over="ignore"):
        return bool((scores.astype(np.float32) == scores).all())
