"""Read scores from text files: numbers only, or with ids as they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.columns import find_separator, split_fields
from trueedge.files.text import TextFile, shown

COMMENTS = ("#", "%")


@dataclass(frozen=True, eq=False)
class Written:
    """The lines ``u,v,score`` of a text, or others with ids and a score.

    Attributes:
        ids: the ids of all m lines as they are written, line by line.
        scores: float64 array (m,).
        lines: the m line numbers, from 1.
    """

    ids: list[str]
    scores: NDArray[np.float64]
    lines: list[int]


def read_written(text: TextFile, width: int = 2) -> Written | None:
    """Read ids and scores, in columns as in an edge list; None if the first line has other columns.

    Args:
        text: the file.
        width: the number of ids in a line; the score follows.
    """
    ids: list[str] = []
    scores: list[float] = []
    lines: list[int] = []
    separator, begun = None, False
    for number, line in enumerate(text.lines, start=1):
        if _is_passed_over(line):
            continue
        separator = separator if begun else find_separator(line)
        fields = split_fields(text, number, line, separator)
        further = fields[width + 1 :]
        if separator is None and further and further[0].startswith(COMMENTS):
            fields = fields[: width + 1]
        if len(fields) != width + 1:
            if not begun:
                return None
            raise text.error(number, f"{len(fields)} columns, where the first line has {width + 1}")
        score = _without_comment(fields[width])
        is_header = not begun and not any(map(_is_number, (*fields[:width], score)))
        begun = True
        if is_header:
            continue
        if not _is_number(score):
            raise text.error(number, f"{shown(score)} is not a number")
        ids += fields[:width]
        scores.append(float(score))
        lines.append(number)
    return Written(ids, np.array(scores), lines) if lines else None


def read_numbers(text: TextFile) -> NDArray[np.float64]:
    """Read numbers, separated by white space, commas or semicolons, as float64 (n,) or (n, columns)."""
    lines = text.lines
    first = next((at for at, line in enumerate(lines) if not _is_passed_over(line)), len(lines))
    separator = next((mark for mark in ";," if mark in "".join(lines[first : first + 1])), None)
    if not any(_is_number(field) for field in "".join(lines[first : first + 1]).split(separator)):
        first += 1  # a header
    rows = lines[first:]
    if all(map(_is_passed_over, rows)):
        return np.empty(0)
    try:
        array = np.loadtxt(rows, comments=COMMENTS, delimiter=separator, ndmin=2)
    except ValueError as problem:
        raise _first_fault(text, first, separator) from problem
    return array[:, 0] if array.shape[1] == 1 else array


def _first_fault(text: TextFile, first: int, separator: str | None) -> InputError:
    """Return an error for the first line that does not hold numbers."""
    columns = 0
    for number, line in enumerate(text.lines[first:], start=first + 1):
        if _is_passed_over(line):
            continue
        fields = [field.strip() for field in _without_comment(line).split(separator)]
        columns = columns or len(fields)
        bad = [field for field in fields if not _is_number(field)]
        if bad:
            return text.error(number, f"{shown(bad[0])} is not a number")
        if len(fields) != columns:
            return text.error(number, f"{len(fields)} columns, where the first line has {columns}")
    return InputError(f"{text.path} cannot be read as columns of numbers")


def _is_passed_over(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _without_comment(text: str) -> str:
    return re.split("|".join(COMMENTS), text)[0].strip()


def _is_number(field: str) -> bool:
    """Return whether numpy reads a number here: no underscores, and only the digits 0 to 9."""
    try:
        float(field)
    except ValueError:
        return False
    return field.isascii() and "_" not in field
