"""Two columns of whole numbers in the bytes of a text file, parsed on all cores."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int64s, UInt8s
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

NEWLINE, TAB, SPACE, QUOTE, ZERO, LAST_PRINTABLE = (ord(mark) for mark in '\n\t "0~')
LEAST_BYTES_PER_BLOCK = 1 << 20
# So many digits fit into an int64, whatever they are.
SAFE_DIGITS = 18


def read_digits(
    data: bytes, start: int, separator: str | None, columns: int
) -> tuple[Int64s, Int64s | None] | None:
    """Return the first two columns and the rows' lines (from 0), or None where a line is not quite regular.

    Lines are None where there is no blank one: then each is the next row.

    Args:
        data: the text.
        start: the byte its first line begins with.
        separator: what stands between columns, or None for white space.
        columns: how many columns every row must have, at least two.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    mark = SPACE if separator is None else ord(separator)
    borders = _borders(data, start)
    blocks = len(borders) - 1
    counts = run_blocks(lambda b, _, __: _lines(text, borders[b], borders[b + 1]), blocks, 1, lambda: None)
    first_line = np.concatenate([[0], np.cumsum(counts)])
    numbers = np.empty((first_line[-1], 2), dtype=np.int64)

    def parse(block: int, _: int, __: None) -> int:
        here = numbers[first_line[block] : first_line[block + 1]]
        rows: int = _parse(text, borders[block], borders[block + 1], mark, columns, here)
        return rows

    rows = run_blocks(parse, blocks, 1, lambda: None)
    if min(rows) < 0 or not sum(rows):
        return None
    if sum(rows) == len(numbers):
        return numbers, None
    kept = [numbers[first : first + count] for first, count in zip(first_line[:-1], rows, strict=True)]
    return np.concatenate(kept), _filled_lines(text, start, sum(rows))


def _borders(data: bytes, start: int) -> list[int]:
    """Return where blocks of whole lines begin, and where the last one ends."""
    size = even_blocks(len(data) - start, LEAST_BYTES_PER_BLOCK)
    borders = [start]
    while borders[-1] + size < len(data):
        end = data.find(b"\n", borders[-1] + size)
        if end < 0 or end + 1 == len(data):
            break
        borders.append(end + 1)
    return [*borders, len(data)]


@njit(cache=True, nogil=True)
def _lines(text: UInt8s, begin: int, end: int) -> int:
    """Return how many lines there are, the last one with a line feed or without."""
    count = 0
    for i in range(begin, end):
        count += text[i] == NEWLINE
    return count + (begin < end and text[end - 1] != NEWLINE)


@njit(cache=True, nogil=True)
def _parse(text: UInt8s, begin: int, end: int, mark: int, columns: int, numbers: Int64s) -> int:
    """Read the rows of a block; how many there are, or -1 for something unusual."""
    row, at = 0, begin
    while at < end:
        row, at = _plain_rows(text, at, end, mark, columns, numbers, row)
        at = _skip(text, at, end, mark)
        if at >= end or text[np.uint64(at)] == NEWLINE:
            at += 1
            continue
        value, behind = _number(text, np.uint64(at), np.uint64(end))
        middle = np.int64(behind)
        if not at < middle <= at + SAFE_DIGITS:
            return -1
        numbers[row, 0] = value
        at = _skip(text, middle, end, mark)
        if mark == SPACE:
            if at == middle:
                return -1
        elif at < end and text[np.uint64(at)] == mark:
            at = _skip(text, at + 1, end, mark)
        else:
            return -1
        value, behind = _number(text, np.uint64(at), np.uint64(end))
        if not at < np.int64(behind) <= at + SAFE_DIGITS:
            return -1
        numbers[row, 1] = value
        at = _rest(text, np.int64(behind), end, mark, columns)
        if at < 0:
            return -1
        row += 1
    return row


@njit(cache=True, nogil=True)
def _plain_rows(
    text: UInt8s, begin: int, end: int, mark: int, columns: int, numbers: Int64s, row: int
) -> tuple[int, int]:
    """Read rows as long as they are digits, mark, digits, line feed; the next row, and its first byte.

    Nearly all rows are, and in one tight loop they take half the time.
    """
    if columns > 2:
        return row, begin
    line = at = np.uint64(begin)
    stop, one, most = np.uint64(end), np.uint64(1), np.uint64(SAFE_DIGITS)
    while True:
        first, at = _number(text, at, stop)
        if at == line or at - line > most or at >= stop or text[at] != mark:
            break
        at += one
        middle = at
        second, at = _number(text, at, stop)
        if at == middle or at - middle > most or at >= stop or text[at] != NEWLINE:
            break
        numbers[row, 0], numbers[row, 1] = first, second
        row += 1
        at += one
        line = at
    return row, int(line)


@njit(cache=True, nogil=True)
def _skip(text: UInt8s, at: int, end: int, mark: int) -> int:
    """Return the next byte that is no white space; a tab that separates columns is none."""
    while at < end:
        byte = text[np.uint64(at)]
        if byte > SPACE or not (byte == SPACE or (byte == TAB and mark != TAB)):
            break
        at += 1
    return at


@njit(cache=True, nogil=True)
def _number(text: UInt8s, at: np.uint64, end: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the number that begins at a byte, if any does, and the byte behind it."""
    value = np.uint64(0)
    # An unsigned index cannot count from the end, so the compiler need not ask.
    while at < end:
        digit = text[at] ^ np.uint8(ZERO)
        if digit > np.uint8(9):
            break
        value = value * np.uint64(10) + np.uint64(digit)
        at += np.uint64(1)
    return value, at


@njit(cache=True, nogil=True)
def _rest(text: UInt8s, at: int, end: int, mark: int, columns: int) -> int:
    """Pass over the columns behind the second; the byte behind the line, or -1 if they are not as many."""
    after = at
    at = _skip(text, at, end, mark)
    if at == end or text[np.uint64(at)] == NEWLINE:
        return at + 1 if columns == 2 else -1
    if columns == 2:
        return -1
    found = 2
    if mark == SPACE:
        if at == after:
            return -1
        inside = False
        while at < end and text[at] != NEWLINE:
            byte = text[at]
            if not _is_plain(byte):
                return -1
            blank = byte in (SPACE, TAB)
            found += not blank and not inside
            inside = not blank
            at += 1
    else:
        if text[at] != mark:
            return -1
        while at < end and text[at] != NEWLINE:
            byte = text[at]
            if not _is_plain(byte):
                return -1
            found += byte == mark
            at += 1
    return at + 1 if found == columns else -1


@njit(cache=True, nogil=True)
def _is_plain(byte: int) -> bool:
    """Printable ASCII without what makes a quoted field, or a tab."""
    return (SPACE <= byte <= LAST_PRINTABLE and byte != QUOTE) or byte == TAB


@njit(cache=True, nogil=True)
def _filled_lines(text: UInt8s, start: int, count: int) -> Int64s:
    """Return the lines, from 0, that are not blank, where there are so many."""
    lines = np.empty(count, dtype=np.int64)
    found, line, filled = 0, 0, False
    for i in range(start, len(text)):
        if text[i] == NEWLINE:
            line, filled = line + 1, False
        elif text[i] > SPACE and not filled:
            lines[found] = line
            found += 1
            filled = True
    return lines
