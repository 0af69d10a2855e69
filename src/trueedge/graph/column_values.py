"""What the values of a column in an edge list may be: ids, numbers, dates, times or row numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trueedge.files.columns import MISSING_WORDS, NUMBER_BUT_NO_ID, WHOLE_NUMBER

DATE = re.compile(r"\d{4}-\d\d?-\d\d?([ T].*)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}( .*)?|\d{4}/\d\d?/\d\d?( .*)?")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Seconds since 1970, from 1973 to 2100; the same in milliseconds; and years.
TIMES = ((1e8, 4.1e9), (1e11, 4.1e12), (1800, 2100))
# Fewer rows say too little about a column.
FEW_ROWS = 3
ROWS_TO_COMPARE = 10
# A column with more values that are no ids is not one of ids.
MOST_MISTAKEN = 0.5
# Longer numbers would not fit into a float.
MOST_DIGITS = 300


@dataclass(frozen=True, eq=False)
class Column:
    """A sample of the values of a column.

    Attributes:
        values: the values as they are written, in their order.
        first: how many of them are the first ones of the column, without a gap.
    """

    values: Sequence[str]
    first: int

    @cached_property
    def kind(self) -> str:
        """Return ``whole``, ``number``, ``date``, ``gaps``, ``data`` (a dictionary) or ``text``."""
        written = set(self.values)
        values = {value for value in written if value.casefold() not in MISSING_WORDS}
        if not values or "" in values:
            return "gaps"
        if len(values) < len(written) and all(map(NUMBER.fullmatch, values)):
            return "gaps"  # among names, NA may be a name
        if all(WHOLE_NUMBER.fullmatch(value) and len(value) < MOST_DIGITS for value in values):
            return "whole"
        if all(NUMBER.fullmatch(value) or NUMBER_BUT_NO_ID.fullmatch(value) for value in values):
            return "number"
        if all(DATE.fullmatch(value) for value in values):
            return "date"
        return "data" if all(value.startswith("{") for value in values) else "text"

    @property
    def may_be_ids(self) -> bool:
        """Return whether the values may be ids of nodes, a few of them perhaps mistaken."""
        if self.kind != "number":
            return self.kind in ("whole", "text")
        wrong = sum(not WHOLE_NUMBER.fullmatch(value) for value in self.values)
        return wrong < MOST_MISTAKEN * len(self.values)

    @property
    def is_number(self) -> bool:
        """Return whether all values are numbers."""
        return self.kind in ("whole", "number")

    @cached_property
    def is_constant(self) -> bool:
        """Return whether all of several values are the same."""
        return len(self.values) > 1 and len(set(self.values)) == 1

    @cached_property
    def is_time(self) -> bool:
        """Return whether all of several numbers are seconds or milliseconds since 1970, or years."""
        if not self.is_number or len(self.values) < FEW_ROWS:
            return False
        found = self.numbers()
        return any(bool((low <= found).all() and (found <= high).all()) for low, high in TIMES)

    @cached_property
    def is_row_number(self) -> bool:
        """Return whether the values are 0, 1, 2, … or 1, 2, 3, …"""
        if self.kind != "whole":
            return False
        found = self.values[: self.first]
        return any(list(found) == [str(start + row) for row in range(len(found))] for start in (0, 1))

    def numbers(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Return the numbers as float64 (m,)."""
        return np.array([float(value) for value in self.values], dtype=np.float64)


def alike(one: Column, other: Column) -> float:
    """Return how much the ranges of two columns of whole numbers overlap: their common share, from 0 to 1."""
    if one.kind != "whole" or other.kind != "whole" or len(one.values) < ROWS_TO_COMPARE:
        return 0.0
    # Without the outermost values, which one odd id would move.
    (low, high), (bottom, top) = (np.quantile(column.numbers(), (0.05, 0.95)) for column in (one, other))
    whole = max(high, top) - min(low, bottom)
    return float(max(min(high, top) - max(low, bottom), 0.0) / whole) if whole else 1.0
