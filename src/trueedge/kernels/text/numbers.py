"""A column of numbers in the bytes of a text file."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, UInt8s

NEWLINE, TAB, SPACE, ZERO, POINT, PLUS, MINUS = (ord(mark) for mark in "\n\t 0.+-")
# A whole number up to this, divided by a power of ten up to 10^22, is the nearest float.
LARGEST_EXACT = 2**53
MOST_DIGITS = 17
POWERS = np.array([10.0**power for power in range(MOST_DIGITS + 1)])


def read_numbers(data: bytes, start: int, separator: str | None, place: int, rows: int) -> Float64s | None:
    """Return a column of regular rows as float64 (rows,), or None if a field is not a short number.

    Args:
        data: the text; blank lines are skipped, and every other line has as many columns.
        start: the byte its first line begins with.
        separator: what stands between columns, or None for white space.
        place: the column, from 0.
        rows: the number of rows.
    """
    values = np.empty(rows, dtype=np.float64)
    mark = SPACE if separator is None else ord(separator)
    found = _read(np.frombuffer(data, dtype=np.uint8), start, mark, place, values, POWERS)
    return values if found == rows else None


@njit(cache=True, nogil=True)
def _read(text: UInt8s, at: int, mark: int, place: int, values: Float64s, powers: Float64s) -> int:
    """Read the rows; how many there are, or -1 for something unusual."""
    row, end = 0, len(text)
    while at < end:
        at = _skip(text, at, end, mark)
        if at >= end or text[at] == NEWLINE:
            at += 1
            continue
        for _ in range(place):
            at = _next_field(text, at, end, mark)
        if row == len(values):
            return -1
        value, at = _number(text, at, end, powers)
        if np.isnan(value) or not _ends_field(text, at, end, mark):
            return -1
        values[row] = value
        row += 1
        while at < end and text[at] != NEWLINE:
            at += 1
        at += 1
    return row


@njit(cache=True, nogil=True)
def _skip(text: UInt8s, at: int, end: int, mark: int) -> int:
    """Return the next byte that is no white space; a tab that separates columns is none."""
    while at < end and (text[at] == SPACE or (text[at] == TAB and mark != TAB)):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _ends_field(text: UInt8s, at: int, end: int, mark: int) -> bool:
    """Return whether nothing but white space is left of a field."""
    if mark == SPACE:
        return at == end or text[at] <= SPACE
    at = _skip(text, at, end, mark)
    return at == end or text[at] == mark or text[at] == NEWLINE


@njit(cache=True, nogil=True)
def _next_field(text: UInt8s, at: int, end: int, mark: int) -> int:
    """Return where the next field of a line begins."""
    if mark == SPACE:
        while at < end and text[at] > SPACE:
            at += 1
    else:
        while at < end and text[at] != mark and text[at] != NEWLINE:
            at += 1
        at += 1
    behind: int = _skip(text, at, end, mark)
    return behind


@njit(cache=True, nogil=True)
def _number(text: UInt8s, at: int, end: int, powers: Float64s) -> tuple[float, int]:
    """Return the number that begins at a byte, and the byte behind it; NaN if it is not a short one."""
    negative = at < end and text[at] == MINUS
    if at < end and text[at] in (PLUS, MINUS):
        at += 1
    whole, digits, power, after_point = 0, 0, 0, False
    while at < end:
        if text[at] == POINT and not after_point:
            after_point = True
        elif ZERO <= text[at] <= ZERO + 9:
            whole = whole * 10 + int(text[at]) - ZERO
            digits += 1
            power -= after_point
            if digits > MOST_DIGITS:
                return np.nan, at
        else:
            break
        at += 1
    if digits == 0 or whole > LARGEST_EXACT:
        return np.nan, at
    value = whole / powers[-power]
    return -value if negative else value, at
