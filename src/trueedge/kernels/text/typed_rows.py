"""Rows of typed nodes and typed links in the bytes of a text: whole numbers, names and lists of features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float32s, Float64s, Int32s, Int64s, UInt8s

NEWLINE, TAB, COMMA, DOT, ZERO, NINE, PLUS, MINUS, RETURN = (ord(mark) for mark in "\n\t,.09+-\r")
LOWER_E, UPPER_E = ord("e"), ord("E")
# So many digits fit into an int64, whatever they are.
SAFE_DIGITS = 18
# Powers of ten up to this one are exact in float64, and so many digits fit into a uint64.
EXACT_POWER, MANTISSA_DIGITS = 22, 19
POWERS = 10.0 ** np.arange(EXACT_POWER + 1)
# A mantissa and a product are rounded once each: the true value is not further away than this.
CLOSE = 2.0**-51


class NodeRows(NamedTuple):
    """The rows of a block of ``node.dat``.

    Attributes:
        ids: int64 (rows, 2), id and type.
        lines: int64 (rows,), the line of each row, from 0.
        names: int64 (rows, 2), where each name begins and ends.
        widths: int64 (rows, 2), how many features each row has, and how many of them are not 0.
        columns: int32, the columns of the features that are not 0.
        values: float32, these features.
        unread: int64 (u, 4), features that must be read with care: row, place in ``values``, begin and end.
        bad: the line that is not as it must be, or -1.
    """

    ids: Int64s
    lines: Int64s
    names: Int64s
    widths: Int64s
    columns: Int32s
    values: Float32s
    unread: Int64s
    bad: int


def read_node_rows(data: bytes) -> NodeRows:
    """Read lines of id, name, type and, where there are any, features separated by commas."""
    text = np.frombuffer(data, dtype=np.uint8)
    rows, commas = data.count(b"\n"), data.count(b",")
    ids, names, widths = (np.empty((rows, 2), dtype=np.int64) for _ in range(3))
    lines = np.empty(rows, dtype=np.int64)
    room = commas + rows
    columns, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
    unread = np.empty((room, 4), dtype=np.int64)
    row, kept, hard, bad = _nodes(text, POWERS, ids, lines, names, widths, columns, values, unread)
    # Copies, since the arrays have room for much more than most blocks hold.
    return NodeRows(
        ids[:row].copy(),
        lines[:row].copy(),
        names[:row].copy(),
        widths[:row].copy(),
        columns[:kept].copy(),
        values[:kept].copy(),
        unread[:hard].copy(),
        bad,
    )


def read_link_rows(data: bytes) -> tuple[Int64s, Int64s, int, int]:
    """Read lines of head, tail, relation and weight.

    Returns:
        int64 (rows, 3); the lines of the rows, from 0; how many weights are not 1; and the line that is not
        as it must be, or -1.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    rows = data.count(b"\n")
    found, lines = np.empty((rows, 3), dtype=np.int64), np.empty(rows, dtype=np.int64)
    row, weighted, bad = _links(text, POWERS, found, lines)
    return found[:row], lines[:row], weighted, bad


@njit(cache=True, nogil=True)
def _nodes(
    text: UInt8s,
    powers: Float64s,
    ids: Int64s,
    lines: Int64s,
    names: Int64s,
    widths: Int64s,
    columns: Int32s,
    values: Float32s,
    unread: Int64s,
) -> tuple[int, int, int, int]:
    """Read whole lines; the numbers of rows, features that are not 0 and unread features, and a bad line."""
    at, line, row, kept, hard = 0, 0, 0, 0, 0
    while at < len(text):
        if _ends(text, at):
            at, line = _next_line(text, at), line + 1
            continue
        node, behind = _whole(text, at)
        if behind < 0 or text[behind] != TAB:
            return row, kept, hard, line
        names[row, 0] = at = behind + 1
        while text[at] != TAB and text[at] != NEWLINE:
            at += 1
        names[row, 1] = at
        if text[at] != TAB:
            return row, kept, hard, line
        kind, behind = _whole(text, at + 1)
        if behind < 0:
            return row, kept, hard, line
        ids[row, 0], ids[row, 1], lines[row] = node, kind, line
        width, first = 0, kept
        if text[behind] == TAB and not _ends(text, behind + 1):
            width, kept, hard, behind = _features(
                text, behind + 1, powers, row, columns, values, kept, unread, hard
            )
        elif text[behind] == TAB:
            behind += 1
        if not _ends(text, behind):
            return row, kept, hard, line
        widths[row, 0], widths[row, 1] = width, kept - first
        row += 1
        at, line = _next_line(text, behind), line + 1
    return row, kept, hard, -1


@njit(cache=True, nogil=True)
def _features(
    text: UInt8s,
    at: int,
    powers: Float64s,
    row: int,
    columns: Int32s,
    values: Float32s,
    kept: int,
    unread: Int64s,
    hard: int,
) -> tuple[int, int, int, int]:
    """Read numbers separated by commas up to the end of a column; their number, and the byte behind them."""
    width, place = 0, np.uint64(at)
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    while True:
        # Nearly all features are one of these. A line feed ends the text, so nothing is read behind it.
        while text[place] == ZERO:
            if text[place + one] == COMMA:
                place += two
            elif text[place + one] == DOT and text[place + two] == ZERO and text[place + three] == COMMA:
                place += np.uint64(4)
            else:
                break
            width += 1
        begin = np.int64(place)
        value, end, exact = _number(text, begin, powers)
        if not exact or value != 0:
            columns[kept], values[kept] = width, value
            if not exact:
                unread[hard, 0], unread[hard, 1], unread[hard, 2], unread[hard, 3] = row, kept, begin, end
                hard += 1
            kept += 1
        width += 1
        if text[end] != COMMA:
            return width, kept, hard, end
        place = np.uint64(end + 1)


@njit(cache=True, nogil=True)
def _links(text: UInt8s, powers: Float64s, found: Int64s, lines: Int64s) -> tuple[int, int, int]:
    """Read whole lines; the numbers of rows and of weights that are not 1, and a bad line."""
    at, line, row, weighted = 0, 0, 0, 0
    while at < len(text):
        if _ends(text, at):
            at, line = _next_line(text, at), line + 1
            continue
        for column in range(3):
            value, behind = _whole(text, at)
            if behind < 0 or text[behind] != TAB:
                return row, weighted, line
            found[row, column] = value
            at = behind + 1
        weight, behind, _ = _number(text, at, powers)
        if np.isnan(weight) or not _ends(text, behind):
            return row, weighted, line
        weighted += weight != 1
        lines[row] = line
        row += 1
        at, line = _next_line(text, behind), line + 1
    return row, weighted, -1


@njit(cache=True, nogil=True)
def _number(text: UInt8s, begin: int, powers: Float64s) -> tuple[float, int, bool]:
    """Read a decimal number up to a comma, a tab or the end of the line.

    Returns:
        Its value (NaN for text that is no plain number), the byte behind it, and whether rounding the value
        to float32 gives what rounding the text gives.
    """
    at = begin
    minus = text[at] == MINUS
    if minus or text[at] == PLUS:
        at += 1
    mantissa, digits, seen, power, dotted = np.uint64(0), 0, 0, 0, False
    while True:
        byte = text[at]
        if ZERO <= byte <= NINE:
            mantissa = mantissa * np.uint64(10) + np.uint64(byte - ZERO)
            digits += mantissa != 0
            seen += 1
            power -= dotted
        elif byte == DOT and not dotted:
            dotted = True
        else:
            break
        at += 1
    if seen and (text[at] == LOWER_E or text[at] == UPPER_E):
        exponent, at = _exponent(text, at + 1)
        power += exponent
    regular = seen > 0 and (text[at] == COMMA or text[at] == TAB or _ends(text, at))
    if not regular:
        while text[at] != COMMA and text[at] != TAB and not _ends(text, at):
            at += 1
        return np.nan, at, False
    if mantissa == 0 and digits == 0:
        return 0.0, at, True
    if digits > MANTISSA_DIGITS or abs(power) > EXACT_POWER:
        return 2.0, at, False
    size = float(mantissa)
    size = size * powers[power] if power >= 0 else size / powers[-power]
    exact = np.float32(size * (1 - CLOSE)) == np.float32(size * (1 + CLOSE)) and size < 3e38
    return (-size if minus else size), at, exact


@njit(cache=True, nogil=True)
def _exponent(text: UInt8s, at: int) -> tuple[int, int]:
    """Return the exponent that begins at a byte, and the byte behind it; a huge one where there is none."""
    minus = text[at] == MINUS
    if minus or text[at] == PLUS:
        at += 1
    value, seen = 0, 0
    while ZERO <= text[at] <= NINE:
        value = min(10 * value + (text[at] - ZERO), 1 << 20)
        seen += 1
        at += 1
    if not seen:
        return 1 << 20, at
    return (-value if minus else value), at


@njit(cache=True, nogil=True)
def _whole(text: UInt8s, begin: int) -> tuple[np.int64, int]:
    """Return the whole number that begins at a byte, and the byte behind it; -1 where there is none."""
    value, at = np.int64(0), begin
    while ZERO <= text[at] <= NINE:
        value = 10 * value + np.int64(text[at] - ZERO)
        at += 1
    return value, (at if begin < at <= begin + SAFE_DIGITS else -1)


@njit(cache=True, nogil=True)
def _ends(text: UInt8s, at: int) -> bool:
    """Return whether a line ends at a byte: with a line feed, or a carriage return before it."""
    return bool(text[at] == NEWLINE or (text[at] == RETURN and text[at + 1] == NEWLINE))


@njit(cache=True, nogil=True)
def _next_line(text: UInt8s, at: int) -> int:
    """Return the first byte of the line after the one that ends at a byte."""
    return at + 1 if text[at] == NEWLINE else at + 2
