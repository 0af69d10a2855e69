"""Read columns of numbers fast: bytes instead of lines, compiled where there are many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Below this, whole arrays take less time than loading a compiled kernel.
BYTES_WORTH_COMPILING = 4 << 20
LARGEST_ID = int(np.iinfo(np.int64).max)
NEWLINE, SPACE, ZERO, NINE = (ord(mark) for mark in "\n 09")
#: Printable ASCII without quotes, and tabs and line feeds.
PLAIN = bytes(set(range(32, 127)) - {ord('"')}) + b"\t\n"

IntVector = NDArray[np.int64]


def read_digits(
    data: bytes, start: int, separator: str | None, columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64] | range] | None:
    """Return the first two columns and the rows' lines (from 0), or None where a line is not quite regular.

    After None, the caller reads line by line to find out what is wrong.

    Args:
        data: the text; blank lines are skipped.
        start: the byte after the header, where line 0 begins.
        separator: what separates columns, or None for white space.
        columns: how many columns every row must have, at least two.
    """
    if len(data) - start < BYTES_WORTH_COMPILING:
        return _read_arrays(data[start:], separator, columns)
    from trueedge.kernels.text import digits

    found = digits.read_digits(data, start, separator, columns)
    if found is None:
        return None
    numbers, lines = found
    return numbers, range(len(numbers)) if lines is None else lines


def read_numbers(
    data: bytes, start: int, separator: str | None, place: int, rows: int
) -> NDArray[np.float64] | None:
    """Return a column of the rows that :func:`read_digits` found, float64 (rows,); None if it is not plain.

    Args:
        data: the text.
        start: the byte where line 0 begins.
        separator: what separates columns, or None for white space.
        place: the column, from 0.
        rows: the number of rows.
    """
    if len(data) - start >= BYTES_WORTH_COMPILING:
        from trueedge.kernels.text import numbers

        return numbers.read_numbers(data, start, separator, place, rows)
    lines = [line for line in data[start:].decode("ascii").split("\n") if line.strip()]
    texts = [line.split(separator)[place] for line in lines]
    try:
        return np.array([float(text) for text in texts if "_" not in text], dtype=np.float64).reshape(rows)
    except ValueError:
        return None


def _read_arrays(
    body: bytes, separator: str | None, columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    if body.translate(None, PLAIN):
        return None
    raw = np.frombuffer(body, dtype=np.uint8)
    # Of the plain bytes only the tab, the line feed and the space are not above the space.
    starts, ends = _runs(raw > SPACE)
    breaks = np.append(np.flatnonzero(raw == NEWLINE), len(raw))
    lines = np.flatnonzero(np.diff(np.searchsorted(starts, breaks), prepend=0))
    row_ends = breaks[lines]
    if separator is None:
        field_ends = _per_row(ends, row_ends, columns)
    else:
        field_ends = _per_row(np.flatnonzero(raw == ord(separator)), row_ends, columns - 1)
    if field_ends is None or not lines.size:
        return None
    field_ends = np.column_stack([field_ends, row_ends])
    kept = _without_rest(raw, field_ends[:, 1], row_ends) if columns > 2 else raw
    numbers = _parse(kept, separator, field_ends[:, 0], row_ends)
    return None if numbers is None else (numbers, lines.astype(np.int64))


def _runs(inside: NDArray[np.bool_]) -> tuple[IntVector, IntVector]:
    """Return where runs of true values start and end."""
    padded = np.zeros(len(inside) + 2, dtype=np.bool_)
    padded[1:-1] = inside
    borders = np.flatnonzero(padded[1:] != padded[:-1])
    return borders[::2], borders[1::2]


def _per_row(places: IntVector, row_ends: IntVector, count: int) -> NDArray[np.int64] | None:
    """Return the places as (rows, count), or None where a row has another number of them."""
    if len(places) != len(row_ends) * count:
        return None
    counts = np.diff(np.searchsorted(places, row_ends, side="right"), prepend=0)
    return places.reshape(-1, count) if (counts == count).all() else None


def _without_rest(raw: NDArray[np.uint8], cuts: IntVector, row_ends: IntVector) -> NDArray[np.uint8]:
    """Return the bytes with spaces from each cut to the end of its row."""
    step = np.zeros(len(raw) + 1, dtype=np.int8)
    step[cuts] += 1
    step[row_ends] -= 1
    rest = np.cumsum(step[:-1], dtype=np.int8).view(np.bool_)
    kept = raw.copy()
    kept[rest] = SPACE
    return kept


def _parse(
    kept: NDArray[np.uint8], separator: str | None, middle: IntVector, row_ends: IntVector
) -> NDArray[np.int64] | None:
    """Return the numbers before and after the middle of every row, int64 (m, 2); None if there are others."""
    plain = kept.tobytes()
    if separator is not None:
        plain = plain.replace(separator.encode(), b" ")
    if plain.translate(None, b"0123456789 \t\n"):
        return None
    starts, _ = _runs((kept >= ZERO) & (kept <= NINE))
    pairs = _per_row(starts, row_ends, 2)
    if pairs is None or (pairs[:, 0] > middle).any() or (pairs[:, 1] < middle).any():
        return None
    numbers = np.fromstring(plain, dtype=np.int64, sep=" ")
    # A number too large for an int64 is read as the largest one.
    return None if numbers.max() == LARGEST_ID else numbers.reshape(-1, 2)
