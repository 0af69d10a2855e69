"""A metric is data: its name, range, direction, expectation by chance, and how it is computed."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trueedge.errors import InputError, unknown
from trueedge.metrics.scores import Layout
from trueedge.registry import Registry

METRICS: Registry[Metric] = Registry("metric", "trueedge.metrics")

_SHAPES: dict[Layout, str] = {
    "shared": "negatives shared by all positives, (M,)",
    "own": "each positive's own negatives, (P, K)",
    "lists": "lists of candidates (evaluate_lists)",
}


@dataclass(frozen=True)
class Metric:
    """One way to judge scores.

    Attributes:
        pattern: the name, with a capital K where a number goes: ``mrr``, ``hits@K``.
        title: one line on what it says.
        low: the smallest value it can take.
        high: the largest value it can take.
        higher_is_better: which direction is good.
        layouts: what it judges: ``shared`` negatives (M,), each positive's ``own`` (P, K), ``lists``.
        formula: how it is computed, in one line, ties included.
        citation: the paper it comes from, one line.
        expect: its expectation when all scores are random and distinct, from the sizes
            (:class:`PairSizes` or :class:`ListSizes`) and, where the name has one, K.
        compute: its value, from checked scores (:class:`PairScores` or :class:`ListScores`) and, where
            the name has one, K.
        k: the number in the name; None in the catalogue and for metrics without one.
    """

    pattern: str
    title: str
    low: float
    high: float
    higher_is_better: bool
    layouts: tuple[Layout, ...]
    formula: str
    citation: str
    expect: Callable[..., float]
    compute: Callable[..., float]
    k: int | None = None

    @property
    def name(self) -> str:
        """What users type; in the catalogue the K stays a letter."""
        return self.pattern if self.k is None else self.pattern.replace("@K", f"@{self.k}")

    @property
    def takes_k(self) -> bool:
        """Whether a number belongs into the name."""
        return "@K" in self.pattern

    def expectation(self, sizes: Any) -> float:
        """Its expectation under random distinct scores.

        Args:
            sizes: the :class:`PairSizes` or :class:`ListSizes` of the scores.
        """
        return float(self.expect(sizes, *self._number()))

    def value(self, scores: Any) -> float:
        """Its value for checked scores; scores of a layout it is not made for are refused."""
        if scores.layout not in self.layouts:
            wanted = " or ".join(_SHAPES[layout] for layout in self.layouts)
            raise InputError(f"{self.name} judges {wanted}; it got {_SHAPES[scores.layout]}")
        return float(self.compute(scores, *self._number()))

    def _number(self) -> tuple[int, ...]:
        if not self.takes_k:
            return ()
        if self.k is None:
            raise InputError(f"{self.pattern} needs a number in the place of K, as in {_example(self)!r}")
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
