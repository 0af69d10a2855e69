"""A metric is data: its name, range, direction, expectation by chance, how it is computed and shown."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
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
        title: one line on what it says.
        low: the smallest value it can take.
        high: the largest value it can take.
        higher_is_better: which direction is good.
        layouts: the layouts of scores it evaluates: ``shared`` or ``per-positive`` negatives, ``lists``, …
        formula: how it is computed, in one line, ties included.
        citation: the paper it comes from, one line.
        expect: its expectation when all scores are random and distinct, from the sizes of the scores and,
            where the name has one, K; None where it is not known.
        values: one value for each unit (a positive, a query, a node, a user), float64 (n,), from checked
            scores and, where the name has one, K. None for a metric that is not a mean over units.
        compute: its value, from the same; the mean of ``values`` where None.
        of_rank: its value for each positive as a function of the positives' mean ranks and, where the name
            has one, K; None where it is no such function.
        most_k: the largest K that scores of some sizes allow; None where every K is allowed.
        shown: how people read it.
        interval_over: what its interval is taken over: the ``units`` of one test part, or several ``tasks``
            where one test part does not show how much the metric varies.
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
    interval_over: Literal["units", "tasks"] = "units"
    k: int | None = None

    def __post_init__(self) -> None:
        if self.values is None and self.compute is None:
            raise InputError(
                f"the metric {self.pattern!r} needs values for each unit, or a way to compute it"
            )

    @property
    def name(self) -> str:
        """What users type; in the catalogue the K stays a letter."""
        return self.pattern if self.k is None else self.pattern.replace("@K", f"@{self.k}")

    @property
    def takes_k(self) -> bool:
        """Whether a number belongs into the name."""
        return "@K" in self.pattern

    def expectation(self, sizes: Any) -> float:
        """Return its expectation under random distinct scores; NaN where it is not known.

        Args:
            sizes: the sizes of the scores, such as :class:`PairSizes` or :class:`ListSizes`.
        """
        return float("nan") if self.expect is None else float(self.expect(sizes, *self._number(sizes)))

    def value(self, scores: Scores) -> float:
        """Return its value for checked scores."""
        number = self._accept(scores)
        found = float(self.compute(scores, *number) if self.compute else np.mean(self.per_unit(scores)))
        if not np.isfinite(found):
            raise InputError(f"{self.name} of these scores is {found}, which is no finite number")
        return found

    def per_unit(self, scores: Scores) -> NDArray[np.float64]:
        """Return its value for each unit of checked scores, float64 (n,); their mean is the metric."""
        if self.values is None:
            raise InputError(f"{self.name} is not a mean over units: it has no value for each of them")
        return np.asarray(self.values(scores, *self._accept(scores)), dtype=np.float64)

    def fits(self, scores: Scores) -> bool:
        """Whether there are enough scores for its K."""
        return self.k is None or self.most_k is None or self.k <= self.most_k(scores.sizes)

    @property
    def scale(self) -> float:
        """What a value is multiplied by before it is shown: 100 for percentages."""
        return 100.0 if self.shown == "percent" else 1.0

    def _accept(self, scores: Scores) -> tuple[int, ...]:
        """Refuse scores of a layout it is not made for, and a K that is too large for them."""
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
    """Put a metric into the catalogue."""
    return METRICS.add(metric.pattern, metric)


def get(name: str) -> Metric:
    """A metric by its name; the number after ``@`` becomes its K.

    Args:
        name: such as ``mrr``, ``hits@10`` or ``hits@10.pessimistic``.
    """
    found = re.fullmatch(r"([^@]+)@([^.]*)(.*)", str(name))
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
    """Return what a metric's values are multiplied by before they are shown; 100 for unknown metrics."""
    try:
        return get(name).scale
    except InputError:
        return 100.0


def format_value(name: str, value: float, decimals: int | None = None) -> str:
    """Return a metric's value as tables show it: ``26.34`` for a share of 0.2634, ``3.14`` for a mean rank.

    Args:
        name: the metric's name; values of one that is not known here are taken for shares.
        value: the value.
        decimals: 2 for percentages and ranks and 3 for other numbers where None.
    """
    try:
        shown = get(name).shown
    except InputError:
        shown = "percent"
    places = decimals if decimals is not None else 3 if shown == "number" else 2
    return f"{scale(name) * value:.{places}f}"


def catalogue() -> tuple[Metric, ...]:
    """All metrics, those of lists last, with the letter K in the names that take a number."""
    return tuple(sorted(METRICS.values(), key=lambda metric: "lists" in metric.layouts))


def _example(metric: Metric) -> str:
    return metric.pattern.replace("@K", "@10")


def _unknown(name: str, number: str) -> InputError:
    """Names are compared without case and with the number asked for, so that near misses are near."""
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
