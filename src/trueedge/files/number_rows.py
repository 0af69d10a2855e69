"""Lines of whole numbers, any number of them in each line, read as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_memory
from trueedge.files.text import TextFile, shown

NEWLINE, SPACE = (ord(mark) for mark in "\n ")
WHOLE_NUMBERS = b"0123456789 \t\n"
# So many digits fit into an int64, whatever they are.
SAFE_DIGITS = 18
# The memory that a byte of the text takes until its numbers are an array.
BYTES_A_BYTE = 24


@dataclass(frozen=True, eq=False)
class NumberRows:
    """The numbers of a text file, line by line.

    Attributes:
        text: the file.
        numbers: int64 (n,), all numbers in their order.
        starts: int64 (rows + 1,), where the numbers of each line begin.
        lines: int64 (rows,), the line of each row; blank lines are left out.
    """

    text: TextFile
    numbers: NDArray[np.int64]
    starts: NDArray[np.int64]
    lines: NDArray[np.int64]

    def table(self, columns: int, what: str) -> NDArray[np.int64]:
        """Return the numbers as (rows, columns); refuse a line with more or fewer.

        Args:
            columns: how many numbers a line has.
            what: what they are, for the error.
        """
        counts = np.diff(self.starts)
        odd = counts != columns
        if odd.any():
            row = int(odd.argmax())
            count = f"{counts[row]} number" + ("" if counts[row] == 1 else "s")
            raise self.text.error(int(self.lines[row]), f"a line has {what}, this one has {count}")
        return self.numbers.reshape(-1, columns)

    def line_of(self, place: int) -> int:
        """Return the line of a number by its place in ``numbers``."""
        return int(self.lines[np.searchsorted(self.starts, place, side="right") - 1])

    def error(self, place: int, what: str) -> InputError:
        """Return an error that names the file and the line of a number."""
        return self.text.error(self.line_of(place), what)


def read_number_rows(text: TextFile) -> NumberRows:
    """Read lines of whole numbers that are separated by white space; blank lines are skipped."""
    data = text.data
    check_memory(BYTES_A_BYTE * len(data), str(text.path))
    if data.translate(None, WHOLE_NUMBERS):
        raise _no_number(text)
    raw = np.frombuffer(data, dtype=np.uint8)
    inside = np.zeros(len(raw) + 2, dtype=np.bool_)
    np.greater(raw, SPACE, out=inside[1:-1])
    borders = np.flatnonzero(inside[1:] != inside[:-1])
    begins, ends = borders[::2], borders[1::2]
    breaks = np.append(np.flatnonzero(raw == NEWLINE), len(raw))
    behind = np.searchsorted(begins, breaks)  # the numbers up to the end of each line
    counts = np.diff(behind, prepend=0)
    filled = np.flatnonzero(counts)
    starts = np.concatenate([[0], behind[filled]]).astype(np.int64)
    long = ends - begins > SAFE_DIGITS
    found = np.fromstring(data, dtype=np.int64, sep=" ") if len(begins) else np.empty(0, dtype=np.int64)
    rows = NumberRows(text, found, starts, filled.astype(np.int64) + 1)
    if long.any():
        place = int(long.argmax())
        written = data[begins[place] : ends[place]].decode()
        raise rows.error(place, f"the number {shown(written)} is too large")
    return rows


def _no_number(text: TextFile) -> InputError:
    """Return an error for the first field that is not a whole number."""
    for number, line in enumerate(text.lines, start=1):
        for field in line.split():
            if field.isascii() and field.isdigit():
                continue
            below = field[0] == "-" and field[1:].isascii() and field[1:].isdigit()
            why = f"the id {field} is below 0" if below else f"{shown(field)} is not a whole number"
            return text.error(number, why)
    return InputError(f"{text.path} holds white space other than spaces, tabs and line feeds")
