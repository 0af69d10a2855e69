"""A check is data: a question about a benchmark, the kinds of tasks it applies to, and how it is answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from trueedge.analysis.figure import Figure
from trueedge.analysis.figure import Kind as FigureKind
from trueedge.errors import InputError
from trueedge.registry import Registry

Verdict = Literal["ok", "look", "broken", "too small"]
# What deserves attention first.
VERDICTS: tuple[Verdict, ...] = ("broken", "look", "ok", "too small")
Family = Literal["leaks", "negatives", "likeness", "shortcuts", "degree bias", "data"]
# From what is wrong under every protocol to what is good to know.
FAMILIES: tuple[Family, ...] = ("leaks", "negatives", "likeness", "shortcuts", "degree bias", "data")


@dataclass(frozen=True, eq=False)
class Finding:
    """What a check found.

    Attributes:
        check: the check's name.
        verdict: ``ok``, ``look`` or ``broken``; ``too small`` if chance alone can reach the number.
        shown: the deciding number, formatted.
        sentence: the reason, with its numbers.
        numbers: all numbers by name; the deciding one is first.
        series: what a picture is drawn from: arrays of one length, the first is the horizontal axis; a value
            that is missing is nan. ``low NAME`` and ``high NAME`` are the interval of the series NAME.
        looked: how many pairs were examined, where the check examines pairs.
        advice: what to do about it, in one sentence; the check's own if empty.
    """

    check: str
    verdict: Verdict
    shown: str
    sentence: str
    numbers: Mapping[str, float]
    series: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    looked: str = ""
    advice: str = ""

    def __post_init__(self) -> None:
        if len({len(array) for array in self.series.values()}) > 1:
            raise InputError(f"the series of {self.check} differ in length")

    def __repr__(self) -> str:
        return f"Finding({self.check}: {self.verdict}, {self.shown})"

    @property
    def number(self) -> float:
        """The deciding number."""
        return next(iter(self.numbers.values()))

    @property
    def wrong(self) -> bool:
        """Whether something was found that is broken or deserves a look."""
        return self.verdict in ("broken", "look")


@dataclass(frozen=True)
class Skipped:
    """Why a check does not apply; ``reason`` is a sentence."""

    reason: str


# Answers a check from a Subject, or from the subclass of it that the check's kinds have.
Run = Callable[[Any], Finding | Skipped]
# What to do, or a function that tells it for a Subject.
Advice = str | Callable[[Any], str]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question about a benchmark: make one and give it to :func:`register`.

    Attributes:
        name: what users read and type.
        family: what it is about.
        title: one line on what is examined.
        question: what it asks.
        rule: when the verdict is ``look`` and when ``broken``, in words.
        run: answers it, or says why it does not apply.
        advice: what to do if something is found, in one imperative sentence.
        fewest: what it needs to judge, by the names of :meth:`Subject.sizes`: with less, chance alone can
            reach what is broken.
        picture: how the findings' series are drawn, see :func:`picture`; None for findings without series.
        kinds: the kinds of tasks it applies to; None for every kind.
    """

    name: str
    family: Family
    title: str
    question: str
    rule: str
    run: Run
    advice: Advice
    fewest: Mapping[str, int] = field(default_factory=dict)
    picture: Figure | None = None
    kinds: tuple[str, ...] | None = ("link",)


CHECKS: Registry[Check] = Registry("check", "trueedge.audit")


def register(made: Check) -> Check:
    """Add a check to the catalogue."""
    return CHECKS.add(made.name, made)


def check(name: str, family: Family, **fields: Any) -> Callable[[Run], Run]:
    """Register a function as the ``run`` of a check; the other fields are those of :class:`Check`."""

    def add(run: Run) -> Run:
        register(Check(name=name, family=family, run=run, **fields))
        return run

    return add


def picture(title: str, kind: FigureKind, y: str, x: str = "", **fields: Any) -> Figure:
    """Return how a finding's series are drawn: a figure without values.

    Args:
        title: one line above it.
        kind: lines, points, bars or heat.
        y: what the values are.
        x: what the horizontal axis is; the first series' name where empty.
        fields: other fields of :class:`trueedge.analysis.figure.Figure`.
    """
    return Figure("", title, kind, x, y, (), **fields)


def catalogue(kind: str | None = None) -> tuple[Check, ...]:
    """Return all checks by family, or those that apply to a kind of task."""
    found = (one for one in CHECKS.values() if kind is None or one.kinds is None or kind in one.kinds)
    return tuple(sorted(found, key=lambda one: FAMILIES.index(one.family)))


def graded(value: float, look: float, broken: float, noise: float = -math.inf) -> Verdict:
    """Return the verdict for a number, where larger is worse.

    Args:
        value: the number.
        look: a larger number is at least ``look``.
        broken: a larger number is ``broken``.
        noise: what so few pairs reach by chance; a number no larger is ``ok``, or ``too small`` to judge if
            it would be a ``look``.
    """
    if value <= look:
        return "ok"
    if value <= noise:
        return "too small"
    return "broken" if value > broken else "look"


# What happens by chance so seldom is no chance; random numbers are then so many standard errors away from
# their mean.
UNLIKELY = 0.001
STANDARD_ERRORS = 3.29
# A share is taken as it is if so many units are expected at its bound: their number then exceeds so many
# standard errors of itself.
ENOUGH = math.ceil(STANDARD_ERRORS**2)


def chance_auc(positives: int, negatives: int) -> float:
    """How far from 0.5 the AUC of random scores is in one case of a thousand (Mann and Whitney 1947)."""
    return STANDARD_ERRORS * math.sqrt((positives + negatives + 1) / (12 * positives * negatives))


def chance_share(bound: float, units: int) -> float:
    """Return the share that a few units reach in one case of a thousand if the true share is at the bound.

    Args:
        bound: the true share.
        units: how many units there are; if they are many, the bound itself is returned.
    """
    if not units or min(bound, 1.0 - bound) * units >= ENOUGH:
        return bound
    return bound + STANDARD_ERRORS * math.sqrt(bound * (1.0 - bound) / units)


def graded_share(share: float, look: float, broken: float, units: int) -> Verdict:
    """Return the verdict for a share of test units, where larger is worse.

    Args:
        share: the share.
        look: a larger share is at least ``look``.
        broken: a larger share is ``broken``.
        units: how many units there are. With few of them, the share must be larger by some standard errors,
            and a small share is not ``ok`` if a broken one could not be seen in so few.
    """
    verdict = graded(share, look, broken, chance_share(look, units))
    unseen = (1.0 - broken) ** units > UNLIKELY
    return "too small" if verdict == "ok" and unseen else verdict


def smallest(chance: Callable[[int], float], bound: float) -> int:
    """Return the smallest size at which chance does not exceed a bound.

    Args:
        chance: what chance reaches at a size.
        bound: a number that chance reaches at small sizes only.
    """
    size = 1
    while chance(size) > bound:
        size += 1
    return size


def pairs_needed(
    chance: Callable[[int, int], float],
    bound: float,
    names: Sequence[str] = ("test positives", "test negatives"),
) -> dict[str, int]:
    """Return how many positives, and as many negatives, are needed for chance not to exceed a bound."""
    return dict.fromkeys(names, smallest(lambda count: chance(count, count), bound))


def percent(share: float) -> str:
    """A share in percent; one that is not 0 is not rounded to it."""
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else f"{100 * share:.2g} %"
