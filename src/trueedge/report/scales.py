"""Axes: where a value stands, and which values are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

# What is nearer to 0 is not told from it, and what is as far from it has no place.
SMALLEST = 1e-100
# Numbers that differ by less of their size stand at one place.
SAME = 1e-12
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """From values to places on paper.

    Attributes:
        low: the value at ``start``.
        high: the value at ``end``.
        start: the place of ``low``.
        end: the place of ``high``; less than ``start`` where values grow upwards.
        log: whether equal steps are equal factors.
        names: what stands at 0, 1, …, where the axis has names instead of numbers.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    names: tuple[str, ...] = ()

    def at(self, value: float | str) -> float:
        """The place of a value."""
        number = self.number(value)
        low, high = (math.log(self.low), math.log(self.high)) if self.log else (self.low, self.high)
        share = ((math.log(number) if self.log else number) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def number(self, value: float | str) -> float:
        """The value, or a name's number."""
        return float(self._places[value]) if isinstance(value, str) else float(value)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def shows(self, value: float | str) -> bool:
        """Whether a value has a place: a known name, or a number of a size that is drawn."""
        return value in self._places if isinstance(value, str) else _has_place(value, self.log)

    def ticks(self, most: int = 7, ranks: bool = False) -> list[tuple[float, str]]:
        """Values to write beside the axis, with their text, at most about so many; of ranks whole ones."""
        if self.names:
            return [(float(place), name) for place, name in enumerate(self.names)]
        if self.log:
            values = _log_ticks(self.low, self.high, most)
        else:
            values = _ticks(self.low, self.high, most, 1.0 if ranks else 0.0)
        step = 0.0 if self.log or len(values) < 2 else values[1] - values[0]
        # The first rank is 1, whatever the step is.
        values = list(dict.fromkeys(max(value, 1.0) for value in values)) if ranks else values
        return [(value, number_text(value, step)) for value in values]


def scale(
    values: Iterable[float | str],
    start: float,
    end: float,
    *,
    log: bool = False,
    zero: bool = False,
    room: float = 0.04,
    edge: float = 0.5,
) -> Scale:
    """The scale that shows all values.

    Args:
        values: numbers or names; what has no place on the axis is passed over.
        start: where the lowest value stands.
        end: where the highest value stands.
        log: whether the axis is logarithmic.
        zero: whether 0 must be on it.
        room: the share of the span that is left free at either end.
        edge: how many steps between names are left free at either end.
    """
    listed = list(values)
    names = tuple(dict.fromkeys(value for value in listed if isinstance(value, str)))
    if names:
        free = edge if len(names) > 1 else 0.5
        return Scale(-free, len(names) - 1 + free, start, end, names=names)
    numbers = [float(value) for value in listed if not isinstance(value, str) and _has_place(value, log)]
    if not numbers:
        return Scale(0.1 if log else 0.0, 1.0, start, end, log)
    numbers = [0.0 if abs(number) < SMALLEST else number for number in numbers]
    low, high = min(numbers), max(numbers)
    if log:
        factor = (high / low) ** room if high > low * (1 + SAME) else 2.0
        return Scale(low / factor, high * factor, start, end, True)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= SAME * max(abs(low), abs(high)):
        spread = abs(low) * 0.1 or 0.5
        low, high = low - spread, high + spread
    free = room * (high - low)
    below = 0.0 if zero and low == 0 else low - free
    above = 0.0 if zero and high == 0 else high + free
    # A share stays a share: no axis runs below 0 or above 1 for the sake of free room alone.
    if low >= 0 > below:
        below = 0.0
    if low >= 0 and high <= 1 < above:
        above = 1.0
    return Scale(below, above, start, end)


def number_text(value: float, step: float = 0.0) -> str:
    """A number as it is written beside an axis: as many decimals as the step asks for.

    Args:
        value: the number.
        step: between neighbours; 0 where there is none, and the number is written as short as it goes.
    """
    size = abs(value)
    if not SMALLEST <= size <= 1 / SMALLEST and size:
        return f"{value:.3g}".replace("-", "−")
    if value != 0 and (size >= 1e6 or size < 1e-4) and not 0 < step / size < 1e-3:
        exponent = math.floor(math.log10(size) + 1e-12)
        factor = value / 10.0**exponent
        power = f"10{str(exponent).translate(DIGITS)}"
        front = "" if abs(factor - 1) < 1e-9 else "−" if abs(factor + 1) < 1e-9 else f"{factor:.3g} × "
        return (front + power).replace("-", "−")
    if step > 0:
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        # 0.25 has two, though its first digit is in the first place.
        decimals += round(step, decimals) != round(step, decimals + 1)
        text = f"{value:,.{decimals}f}"
    else:
        text = f"{value:,.4g}" if size < 1000 else f"{value:,.0f}"
    return text.replace("-", "−") if value != 0 else text.replace("-", "")


def _has_place(value: float, log: bool = False) -> bool:
    """Whether a number can be drawn: neither without end nor of a size that no sum survives."""
    return abs(value) <= 1 / SMALLEST and (value >= SMALLEST or not log)


def _step(low: float, high: float, most: int) -> float:
    """A round step, 1, 2 or 5 times a power of ten, that divides a span into so many parts at most."""
    raw = max((high - low) / max(1, most - 1), 5e-300)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= raw * (1 - 1e-9))


def _ticks(low: float, high: float, most: int, least: float = 0.0) -> list[float]:
    step = max(_step(low, high, most), least)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [place * step for place in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, or of 1, 2 and 5 times one where they are few."""
    first, last = math.floor(math.log10(low) - 1e-9), math.ceil(math.log10(high) + 1e-9)
    found: list[float] = []
    for factors in ((1,), (1, 3), (1, 2, 5), range(1, 10)):
        candidates = (f * 10.0**power for power in range(first, last + 1) for f in factors)
        values = [value for value in candidates if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if found and len(values) > most:
            break
        found = values
        if len(found) >= 4:
            break
    every = max(1, -(-len(found) // most))
    kept = found[::every]
    return kept if len(kept) > 1 else _ticks(low, high, most)


def thinned(names: Sequence[str], room: float, needed: float) -> list[int]:
    """The places whose names are written where all do not fit: every second, third, …"""
    every = max(1, math.ceil(len(names) * needed / max(room, 1e-9)))
    return list(range(0, len(names), every))
