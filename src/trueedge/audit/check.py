"""A check is data: a question about a benchmark, and how it is answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from trueedge.audit.picture import Picture
from trueedge.audit.subject import Subject
from trueedge.errors import InputError
from trueedge.registry import Registry

Verdict = Literal["ok", "look", "broken"]
Family = Literal["leaks", "negatives", "likeness", "shortcuts", "degree bias"]
# From what is wrong whatever the protocol, to what it is good to know.
FAMILIES: tuple[Family, ...] = ("leaks", "negatives", "likeness", "shortcuts", "degree bias")


@dataclass(frozen=True, eq=False)
class Finding:
    """What a check found.

    Attributes:
        check: the check's name.
        verdict: ``ok``, ``look`` or ``broken``.
        shown: the number that decided, as a reader reads it.
        sentence: the reason, with its numbers.
        numbers: all numbers by their names; the one that decided is first.
        series: what a picture is drawn from: arrays of one length, the first along the axis; nan is none.
        looked: how many pairs were looked at, where the check looks at pairs.
    """

    check: str
    verdict: Verdict
    shown: str
    sentence: str
    numbers: Mapping[str, float]
    series: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    looked: str = ""

    def __post_init__(self) -> None:
        if len({len(array) for array in self.series.values()}) > 1:
            raise InputError(f"the series of {self.check} differ in length")

    @property
    def number(self) -> float:
        """The number that decided."""
        return next(iter(self.numbers.values()))


@dataclass(frozen=True)
class Skipped:
    """Why a check does not apply."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Check:
    """A question about a benchmark: make one and give it to :func:`register`.

    Attributes:
        name: what users read and type.
        family: what it is about.
        title: one line on what is looked at.
        question: what it asks.
        rule: when the verdict is ``look`` and when ``broken``, in words.
        run: answers it, or says why it does not apply.
        picture: how the findings' series are drawn; None for findings without series.
    """

    name: str
    family: Family
    title: str
    question: str
    rule: str
    run: Callable[[Subject], Finding | Skipped]
    picture: Picture | None = None


CHECKS: Registry[Check] = Registry("check", "trueedge.audit")


def register(check: Check) -> Check:
    """Add a check to the catalogue."""
    return CHECKS.add(check.name, check)


def catalogue() -> tuple[Check, ...]:
    """All checks, by family."""
    return tuple(sorted(CHECKS.values(), key=lambda check: FAMILIES.index(check.family)))


def graded(value: float, look: float, broken: float, noise: float = -math.inf) -> Verdict:
    """The verdict for a number that is the worse the larger it is: each bound is passed by more than it.

    Args:
        value: the number.
        look: the bound of ``ok``.
        broken: the bound of ``look``.
        noise: what so few pairs reach by chance; a number no larger is ``ok``.
    """
    if value <= noise:
        return "ok"
    return "broken" if value > broken else "look" if value > look else "ok"


def chance_auc(positives: int, negatives: int) -> float:
    """How far from 0.5 the AUC of random scores is in one case of a thousand (Mann and Whitney 1947)."""
    return 3.29 * math.sqrt((positives + negatives + 1) / (12 * positives * negatives))


def percent(share: float) -> str:
    """A share as a reader reads it; one that is not 0 is not rounded to it."""
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else f"{100 * share:.2g} %"
