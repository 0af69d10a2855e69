"""A museum of scorers that cheat, and of honest ones that look suspicious.

A cheat adds something it should not know to an honest score. It is *neutralised* if the headline metric of
the task does not rise, or *named* by an error, by a warning of ``evaluate``, or by ``check_scorer``.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError, ScoreWarning
from trueedge.methods import Method

BONUS = 1000.0
# What random changes of the order among ties are worth, relative to the headline.
TOLERANCE = 0.02
Score = Callable[[np.ndarray], Any]
CHEATS: dict[str, Callable[[Any], Any]] = {}


@dataclass(frozen=True)
class Verdict:
    """How a cheat fared.

    Attributes:
        outcome: ``neutralised``, ``named``, or ``got through``.
        honest: the headline of its honest half.
        value: its own headline; NaN if it was refused.
        reason: what named it.
    """

    outcome: str
    honest: float
    value: float
    reason: str = ""


def cheat(name: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function that makes a cheating scorer for a task."""

    def add(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        CHEATS[name] = make
        return make

    return add


def honest(task: Any) -> Score:
    """Return the honest half of every cheat: resource allocation."""
    score: Score = methods.create("ra").fit(task).score
    return score


def judge(name: str, task: Any) -> Verdict:
    """Return how a cheat fares on a task."""
    base = float(task.evaluate(honest(task))[task.headline])
    try:
        scorer = CHEATS[name](task)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ScoreWarning)
            # A memory of other calls may help only later.
            values = [task.evaluate(scorer, part)[task.headline] for part in (*task.part_names, "test")]
            value = float(max(values[-2:]))
    except InputError as error:
        return Verdict("named", base, float("nan"), str(error))
    if value <= base * (1 + TOLERANCE):
        return Verdict("neutralised", base, value)
    usual = {(found.name, found.sentence) for found in te.check_scorer(honest(task), task).findings}
    report = te.check_scorer(CHEATS[name](task), task)
    new = [one for one in report.findings if one.level != "ok" and (one.name, one.sentence) not in usual]
    told = [str(one.message) for one in caught if issubclass(one.category, ScoreWarning)]
    reasons = [*(one.sentence for one in sorted(new, key=lambda one: one.level)), *told]
    return Verdict("named" if reasons else "got through", base, value, reasons[0] if reasons else "")


def adding(bonus: Callable[[np.ndarray], Any]) -> Callable[[Any], Any]:
    """Return what makes a scorer that adds a bonus to its honest half."""

    def make(task: Any) -> Score:
        score = honest(task)
        return lambda pairs: score(pairs.copy()) + BONUS * bonus(pairs)

    return make


# Where a pair stands.
CHEATS["first rows"] = adding(lambda pairs: -np.arange(len(pairs)))
CHEATS["last rows"] = adding(lambda pairs: np.arange(len(pairs)))
CHEATS["first half of a call"] = adding(lambda pairs: np.arange(len(pairs)) < len(pairs) / 2)
CHEATS["first row of a call"] = adding(lambda pairs: np.arange(len(pairs)) == 0)
CHEATS["direction"] = adding(lambda pairs: pairs[:, 0] < pairs[:, 1])
CHEATS["direction, reversed"] = adding(lambda pairs: pairs[:, 0] > pairs[:, 1])
CHEATS["direction among ties"] = adding(lambda pairs: 1e-12 * (pairs[:, 0] < pairs[:, 1]))
CHEATS["column of the smaller node"] = adding(lambda pairs: 1.0 - pairs.argmin(axis=1))
CHEATS["the larger number"] = adding(lambda pairs: pairs.max(axis=1))
CHEATS["ties broken by a hash"] = adding(lambda pairs: 1e-12 * (pairs.sum(1) * 2654435761 % 2**32) / 2**32)
CHEATS["ties broken at random"] = adding(lambda pairs: 1e-12 * np.random.default_rng().random(len(pairs)))
# What an array is like.
CHEATS["memory layout"] = adding(lambda pairs: pairs.flags.c_contiguous and pairs.flags.owndata)
CHEATS["a view or a copy"] = adding(lambda pairs: pairs.base is None)
CHEATS["read-only memory"] = adding(lambda pairs: not pairs.flags.writeable)
CHEATS["type of the numbers"] = adding(lambda pairs: pairs.dtype == np.int32)
CHEATS["alignment in memory"] = adding(lambda pairs: pairs.__array_interface__["data"][0] % 4096 < 64)
# What stands beside a pair in the call.
CHEATS["shares both nodes with its neighbours"] = adding(
    lambda pairs: (pairs == np.roll(pairs, 1, axis=0)).sum(1) + (pairs == np.roll(pairs, -1, axis=0)).sum(1)
)


@cheat("row in a list")
def _row_in_a_list(task: Any) -> Score:
    length = task.test.negatives.shape[-2] + task.test.per_positive
    return adding(lambda pairs: np.arange(len(pairs)) % length == 0)(task)  # type: ignore[no-any-return]


@cheat("size of a call")
def _size(task: Any) -> Score:
    count = len(task.test.positives)
    return adding(lambda pairs: len(pairs) == count)(task)  # type: ignore[no-any-return]


@cheat("small calls")
def _small(task: Any) -> Score:
    count = task.test.negatives.size // 4
    return adding(lambda pairs: len(pairs) <= count)(task)  # type: ignore[no-any-return]


@dataclass
class Stateful:
    """A scorer with a memory."""

    task: Any
    calls: int = 0
    seen: Counter[tuple[int, int]] = field(default_factory=Counter)
    ends: Counter[int] = field(default_factory=Counter)
    last: float = 0.0
    kept: list[np.ndarray] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.honest = honest(self.task)

    def score(self, pairs: np.ndarray) -> Any:
        """Return the honest score and a bonus."""
        self.calls += 1
        return self.honest(pairs.copy()) + BONUS * self.bonus(pairs)

    def bonus(self, pairs: np.ndarray) -> Any:
        """Return what a pair gets that it should not."""
        return np.zeros(len(pairs))


@cheat("every second call")
class _Parity(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        return np.full(len(pairs), self.calls % 2 == 0)


@cheat("the first call only")
class _FirstCall(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        return np.full(len(pairs), self.calls == 1)


@cheat("later calls only")
class _LaterCalls(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        return np.full(len(pairs), self.calls > 1)


@cheat("time between calls")
class _Timing(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        before, self.last = self.last, time.perf_counter()
        return np.full(len(pairs), self.last - before < 0.05)


@cheat("an array seen before")
class _Identity(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        known = id(pairs) in self.ids
        self.ids.add(id(pairs))
        self.kept.append(pairs)
        return known


@cheat("how often both nodes occur in a call")
class _Frequency(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        counts = np.bincount(pairs.ravel(), minlength=self.task.num_nodes)
        return counts[pairs].min(axis=1)


@cheat("pairs that occur once in a call")
class _Once(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        keys = np.sort(pairs, axis=1) @ np.array([self.task.num_nodes, 1])
        _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return counts[place] == 1


@cheat("how often both nodes occurred in earlier calls")
class _Memory(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        known = np.array([[self.ends[u], self.ends[v]] for u, v in pairs.tolist()]).min(axis=1)
        self.ends.update(pairs.ravel().tolist())
        return known


@cheat("noise over the direction")
class _Noise(Stateful):
    def bonus(self, pairs: np.ndarray) -> Any:
        return (pairs[:, 0] < pairs[:, 1]) + 1e-9 * np.random.default_rng().random(len(pairs))


@cheat("sorted answers")
def _sorted(task: Any) -> Score:
    score = honest(task)
    return lambda pairs: np.sort(score(pairs))[::-1]


@cheat("answers changed in the next call")
def _changed_later(task: Any) -> Score:
    score, given = honest(task), []

    def answer(pairs: np.ndarray) -> np.ndarray:
        for old in given:
            old[:] = BONUS
        given.append(score(pairs))
        return given[-1]  # type: ignore[no-any-return]

    return answer


@cheat("an array that changes when it is read")
def _shifty(task: Any) -> Score:
    score = honest(task)

    class Shifty:
        def __init__(self, pairs: np.ndarray) -> None:
            self.pairs, self.reads = pairs, 0

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            self.reads += 1
            return np.asarray(score(self.pairs) + BONUS * (np.arange(len(self.pairs)) < 5) * self.reads)

    return lambda pairs: Shifty(pairs)


@cheat("an array with comparisons of its own")
def _subclass(task: Any) -> Score:
    score = honest(task)

    class Winning(np.ndarray):
        def __gt__(self, other: Any) -> Any:
            return np.ones(self.shape, dtype=bool)

        __lt__ = __gt__

    return lambda pairs: score(pairs).view(Winning)


@cheat("questions overwritten")
def _overwriting(task: Any) -> Score:
    score = honest(task)
    best = task.train[0].astype(np.int64)

    def answer(pairs: np.ndarray) -> Any:
        found = score(pairs)
        pairs[:] = best
        return found

    return answer


# What scores are like.
CHEATS["NaN for the hard ones"] = adding(lambda pairs: np.where(pairs[:, 0] % 7 == 0, np.nan, 0.0))
CHEATS["infinity for the easy ones"] = adding(lambda pairs: np.where(pairs[:, 0] % 7 == 0, np.inf, 0.0))
CHEATS["constant"] = lambda _: lambda pairs: np.ones(len(pairs))
CHEATS["whole numbers beyond 2^53"] = lambda _: lambda pairs: 2**60 + pairs[:, 0]
CHEATS["complex numbers"] = lambda task: lambda pairs: honest(task)(pairs) + 1j
CHEATS["text"] = lambda _: lambda pairs: np.array(["9" * 5] * len(pairs))
CHEATS["masked scores"] = lambda task: lambda pairs: np.ma.masked_less(honest(task)(pairs), 0.1)
CHEATS["rounded"] = lambda task: lambda pairs: np.round(honest(task)(pairs) * 4) / 4
CHEATS["saturated"] = lambda task: lambda pairs: 1 / (1 + np.exp(-400 * honest(task)(pairs)))
CHEATS["one score more than asked"] = lambda task: lambda pairs: np.append(honest(task)(pairs), BONUS)


@cheat("normalised by the call")
def _normalised(task: Any) -> Score:
    score = honest(task)

    def answer(pairs: np.ndarray) -> Any:
        found = score(pairs)
        return (found - found.mean()) / (found.std() + 1e-9) * (1 + np.abs(found).max())

    return answer


# What a method could know.
class Fitted(Method):
    """A method that is not in the catalogue."""

    def learn(self, task: Any) -> Any:
        """Return a scorer."""
        raise NotImplementedError

    def fit(self, task: Any, seed: int = 0, device: str = "cpu") -> Any:
        """Return the scorer that was learned; seed and device have no effect."""
        del seed, device
        return self.learn(task)


@cheat("the test part while it is fitted")
def _reads_the_test_part(task: Any) -> Any:
    class Reads(Fitted):
        def learn(self, task: Any) -> Any:
            known = {tuple(sorted(pair)) for pair in task.test.positives.tolist()}
            return lambda pairs: np.array([tuple(sorted(pair)) in known for pair in pairs.tolist()]) * BONUS

    return Reads().fit(task)


@cheat("the arrays of the task while it is fitted")
def _reads_the_arrays(task: Any) -> Any:
    class Reads(Fitted):
        def learn(self, task: Any) -> Any:
            hidden = {name: array for name, array in task.arrays().items() if "test" in name}
            known = {tuple(sorted(p)) for p in hidden.get("test_positives", np.empty((0, 2))).tolist()}
            score = honest(task)
            return lambda pairs: score(pairs) + BONUS * np.array([tuple(p) in known for p in pairs.tolist()])

    return Reads().fit(task)


@cheat("the graph of the test part while it is fitted")
def _reads_the_test_graph(task: Any) -> Any:
    class Reads(Fitted):
        def learn(self, task: Any) -> Any:
            return methods.create("ra").fit(task).with_graph(task.graph_for("test"))

    return Reads().fit(task)


@cheat("another split")
def _another_split(task: Any) -> Any:
    other = te.task(task.dataset, task.protocol, task.seed + 1, **OPTIONS.get(task.protocol, {}))
    return methods.create("katz").fit(other)


OPTIONS: dict[str, dict[str, Any]] = {"heart": {"k": 50, "heuristics": ("ra", "cn")}}


def tasks() -> Iterator[Any]:
    """Yield the tasks that the museum is shown on: own and shared negatives."""
    yield te.task("cora", "heart", 0, **OPTIONS["heart"])
    yield te.task("cora", "existing", 0)
    yield te.task("cora", "triplet", 0)
