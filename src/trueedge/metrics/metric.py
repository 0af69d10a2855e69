"""Metrics as data: name, range, direction, expected value for random scores, computation and display."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.metrics.scores import Scores, describe_layout
from trueedge.registry import Registry

METRICS: Registry[Metric] = Registry("metric", "trueedge.metrics")

# How people read a value: a share of 1 as a percentage, a number as it is, or a place in a ranking.
Shown = Literal["percent", "number", "rank"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One way to evaluate scores.

    Attributes:
        pattern: the name, with a capital K where a number goes: ``mrr``, ``hits@K``.
        title: a one-line description.
        low: the smallest possible value.
        high: the largest possible value.
        higher_is_better: which direction is good.
        layouts: the layouts of scores it evaluates: ``shared`` or ``per-positive`` negatives, ``lists``, …
        formula: how it is computed, in one line, ties included.
        citation: the paper it comes from, one line.
        expect: its expected value for random distinct scores, from the sizes of the scores and K, if the name
            has one; None if unknown.
        values: the value for each unit (a positive, a query, a node, a user), float64 (n,), from checked
            scores and K, if the name has one. None for a metric that is not a mean over units.
        compute: its value, from the same; by default the mean of ``values``.
        of_rank: its value for each positive, from the positives' mean ranks and K, if the name has one; None
            if it is not a function of these.
        most_k: the largest K that scores of some sizes allow; None if every K is allowed.
        shown: how people read it.
        k: the number in the name; None in the catalogue and for metrics without one.
    """

    pattern: str
    title: str
    layouts: tuple[str, ...]
    formula: str
    citation: str
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool = True
    expect: Callable[..., float] | None = None
    values: Callable[..., NDArray[np.float64]] | None = None
    compute: Callable[..., float] | None = None
    of_rank: Callable[..., NDArray[Any]] | None = None
    most_k: Callable[[Any], int] | None = None
    shown: Shown = "percent"
    k: int | None = None

    def __post_init__(self) -> None:
        if self.values is None and self.compute is None:
            raise InputError(
                f"the metric {self.pattern!r} needs values for each unit, or a way to compute it"
            )

    @property
    def name(self) -> str:
        """Return what users type; in the catalogue the K stays a letter."""
        return self.pattern if self.k is None else self.pattern.replace("@K", f"@{self.k}")

    @property
    def takes_k(self) -> bool:
        """Return whether the name takes a number."""
        return "@K" in self.pattern

    def expectation(self, sizes: Any) -> float:
        """Return its expected value for random distinct scores of some sizes (``scores.sizes``), or NaN."""
        return float("nan") if self.expect is None else float(self.expect(sizes, *self._number(sizes)))

    def value(self, scores: Scores) -> float:
        """Return its value for checked scores."""
        number = self._accept(scores)
        found = float(self.compute(scores, *number) if self.compute else np.mean(self.per_unit(scores)))
        if not np.isfinite(found):
            raise InputError(f"{self.name} of these scores is {found}, which is not a finite number")
        return found

    def per_unit(self, scores: Scores) -> NDArray[np.float64]:
        """Return its value for each unit of checked scores, float64 (n,); their mean is the metric."""
        if self.values is None:
            raise InputError(f"{self.name} is not a mean over units: it has no value for each of them")
        return np.asarray(self.values(scores, *self._accept(scores)), dtype=np.float64)

    def fits(self, scores: Scores) -> bool:
        """Return whether there are enough scores for its K."""
        return self.k is None or self.most_k is None or self.k <= self.most_k(scores.sizes)

    @property
    def scale(self) -> float:
        """Return the factor for display: 100 for percentages."""
        return 100.0 if self.shown == "percent" else 1.0

    def _accept(self, scores: Scores) -> tuple[int, ...]:
        """Return K, or raise an InputError for scores of another layout or too few scores."""
        if scores.layout not in self.layouts:
            wanted = " or ".join(describe_layout(layout) for layout in self.layouts)
            raise InputError(f"{self.name} evaluates {wanted}; it got {describe_layout(scores.layout)}")
        return self._number(getattr(scores, "sizes", None))

    def _number(self, sizes: Any) -> tuple[int, ...]:
        if not self.takes_k:
            return ()
        if self.k is None:
            raise InputError(f"{self.pattern} needs a number in the place of K, as in {_example(self)!r}")
        most = None if self.most_k is None else self.most_k(sizes)
        if most is not None and self.k > most:
            raise InputError(f"{self.name}: K can be at most {most} with so few scores")
        return (self.k,)


def register(metric: Metric) -> Metric:
    """Add a metric to the catalogue."""
    return METRICS.add(metric.pattern, metric)


def get(name: str) -> Metric:
    """Return a metric by name, such as ``mrr``, ``hits@10`` or ``hits@10.pessimistic``."""
    found = re.fullmatch(r"([^@]+)@([^.]*)(.*)", str(name)) if "@" in str(name) else None
    pattern = f"{found[1]}@K{found[3]}" if found else str(name)
    metric = METRICS.find(pattern)
    if metric is None:
        raise _unknown(str(name), found[2] if found else "")
    if found is None:
        return metric
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", found[2], re.ASCII):
        raise InputError(f"{name}: K must be a whole number, 1 or more, as in {_example(metric)!r}")
    return dataclasses.replace(metric, k=int(found[2]))


def scale(name: str) -> float:
    """Return the factor for the display of a metric; 100 for unknown metrics.

    Args:
        name: the metric's name.
    """
    return _display(name)[1]


def format_value(name: str, value: float, decimals: int | None = None) -> str:
    """Return a metric's value as tables show it: ``26.34`` for a share of 0.2634, ``3.14`` for a mean rank.

    Args:
        name: the metric's name; values of unknown metrics are taken as shares.
        value: the value.
        decimals: by default 2 for percentages and ranks, and 3 for other numbers.
    """
    shown, factor = _display(name)
    places = decimals if decimals is not None else 3 if shown == "number" else 2
    return f"{factor * value:.{places}f}"


def _display(name: str) -> tuple[Shown, float]:
    try:
        return _known_display(name)
    except InputError:
        return "percent", 100.0


# A page shows one metric thousands of times. Unknown names are not kept: they may be registered later.
@lru_cache(maxsize=256)
def _known_display(name: str) -> tuple[Shown, float]:
    metric = get(name)
    return metric.shown, metric.scale


def catalogue() -> tuple[Metric, ...]:
    """Return all metrics, those of lists last, with the letter K in names that take a number."""
    return tuple(sorted(METRICS.values(), key=lambda metric: "lists" in metric.layouts))


def _example(metric: Metric) -> str:
    return metric.pattern.replace("@K", "@10")


def _unknown(name: str, number: str) -> InputError:
    """Return an error with the nearest name, compared without case and with the given number."""
    given = number if number.isdecimal() else "10"
    known = [pattern.replace("@K", f"@{given}") for pattern in METRICS.names()]
    stem = name.lower().split("@")[0]
    near = (
        difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.85)
        or [candidate for candidate in known if candidate.split("@")[0] == stem]
        or difflib.get_close_matches(name.lower(), known, n=1)
    )
    if near:
        return InputError(f"no metric is called {name!r}; did you mean {near[0]!r}?")
    return unknown("metric", name, METRICS.names())
