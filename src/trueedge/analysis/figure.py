"""Figures as data: what is drawn, not how."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from trueedge.errors import InputError, unknown

Kind = Literal["lines", "points", "bars", "heat"]


@dataclass(frozen=True)
class Series:
    """One line, cloud, group of bars or row of a figure.

    Attributes:
        name: the name in the legend.
        x: the positions: numbers, or texts on an axis with names.
        y: as many values; nan if missing.
        low: the lower ends of the values' intervals, or nothing.
        high: the upper ends.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        ends = {len(self.low), len(self.high)} if self.low or self.high else set()
        lengths = {len(self.x), len(self.y)} | ends
        if len(lengths) != 1:
            raise InputError(f"the series {self.name!r} has values of different lengths: {sorted(lengths)}")
        for axis in ("x", "y", "low", "high"):
            object.__setattr__(self, axis, tuple(_value(one, self.name, axis) for one in getattr(self, axis)))


@dataclass(frozen=True)
class Figure:
    """The content of a figure.

    Attributes:
        name: the name in files and links.
        title: one line above it.
        kind: ``lines`` and ``points`` over numbers, ``bars`` over names or numbers, ``heat`` a row a series.
        x_label: the label of the horizontal axis.
        y_label: the label of the vertical axis; in a heat map, that of the colours.
        series: the data.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is.
        diagonal: whether the line of equal values is drawn.
        note: a sentence below it.
    """

    name: str
    title: str
    kind: Kind
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    diagonal: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise unknown("kind of figure", self.kind, get_args(Kind))

    def to_dict(self) -> dict[str, Any]:
        """Return a plain dictionary for JSON; missing values are null."""
        plain = asdict(self)
        for one in plain["series"]:
            for axis in ("x", "y", "low", "high"):
                one[axis] = [None if _missing(value) else value for value in one[axis]]
        return plain

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Figure:
        """Return the figure of a dictionary from :meth:`to_dict`."""
        try:
            series = tuple(
                Series(one["name"], *(_numbers(one[axis]) for axis in ("x", "y", "low", "high")))
                for one in values["series"]
            )
            return cls(**{**values, "series": series})
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"this is not a figure ({type(error).__name__}: {error})") from None


def _value(value: Any, name: str, axis: str) -> float | str:
    """Return a number as a plain float, or a text on the horizontal axis."""
    if isinstance(value, str) and axis == "x":
        return value
    try:
        if isinstance(value, (str, bool)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the series {name!r} has {value!r} where a number belongs") from None


def _missing(value: float | str) -> bool:
    return not isinstance(value, str) and not math.isfinite(value)


def _numbers(values: Sequence[float | str | None]) -> tuple[Any, ...]:
    return tuple(math.nan if value is None else value for value in values)
