"""Read scores from text files: numbers only, or with ids as they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.columns import find_separator, split_fields
from trueedge.files.named_columns import word
from trueedge.files.number_fields import is_number_field
from trueedge.files.text import TextFile, shown
from trueedge.graph.column_names import end_pairs
from trueedge.graph.interaction_tables import ITEM, USER

COMMENTS = ("#", "%")
# What a column of scores may be called, in lower case, and one of ranks.
SCORES = {"score", "scores", "prediction", "predictions", "pred", "probability", "prob", "logit", "relevance"}
RANKS = {"rank", "place", "position"}


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


def read_written(text: TextFile, width: int = 2, nodes: Collection[str] = ()) -> Written | None:
    """Read ids and scores, in columns as in an edge list; None if the first line has other columns.

    Args:
        text: the file.
        width: the number of ids in a line; the score follows.
        nodes: what nodes are called: a first line that begins with two of them is no header.
    """
    ids: list[str] = []
    scores: list[float] = []
    lines: list[int] = []
    separator, begun = None, False
    places, count = list(range(width + 1)), width + 1
    for number, line in enumerate(text.lines, start=1):
        if _is_passed_over(line):
            continue
        separator = separator if begun else find_separator(line)
        fields = split_fields(text, number, line, separator)
        begun = begun or _is_row(fields, width, nodes)
        if not begun and width == 2 and not any(map(is_number_field, fields)):
            found = pair_columns(text, number, fields)
            if found is not None:
                places, count, begun = found, len(fields), True
                continue
        further = fields[count:]
        if separator is None and further and further[0].startswith(COMMENTS):
            fields = fields[:count]
        if len(fields) != count:
            if not begun:
                return None
            raise text.error(number, f"{len(fields)} columns, where the first line has {count}")
        *row, score = (fields[place] for place in places)
        score = _without_comment(score)
        is_header = not begun and not any(map(is_number_field, (*row, score)))
        begun = True
        if is_header:
            continue
        if not is_number_field(score):
            raise text.error(number, f"{shown(score)} is not a number" if score else "the score is missing")
        ids += row
        scores.append(float(score))
        lines.append(number)
    return Written(ids, np.array(scores), lines) if lines else None


def read_numbers(text: TextFile) -> NDArray[np.float64]:
    """Read numbers, separated by white space, commas or semicolons, as float64 (n,) or (n, columns)."""
    lines = text.lines
    first = next((at for at, line in enumerate(lines) if not _is_passed_over(line)), len(lines))
    separator = next((mark for mark in ";," if mark in "".join(lines[first : first + 1])), None)
    head = [field.strip() for field in "".join(lines[first : first + 1]).split(separator)]
    places = None
    if not any(map(is_number_field, head)):
        first += 1  # a header
        places = pair_columns(text, first, head)
    rows = lines[first:]
    if all(map(_is_passed_over, rows)):
        return np.empty(0)
    try:
        array = np.loadtxt(rows, comments=COMMENTS, delimiter=separator, ndmin=2, usecols=places)
    except ValueError as problem:
        raise _first_fault(text, first, separator) from problem
    return array[:, 0] if array.shape[1] == 1 else array


def pair_columns(text: TextFile, number: int, names: list[str]) -> list[int] | None:
    """Return the columns of the two nodes and of the score, if the first line says them.

    The user of a bipartite graph comes first, since an id of both columns is read by its column.

    Args:
        text: the file.
        number: the first line.
        names: its fields.
    """
    plain = [name.strip('" ').casefold() for name in names]
    if len(plain) > 2 and not SCORES.intersection(plain) and RANKS.intersection(plain):
        rank = next(name for name in plain if name in RANKS)
        raise text.error(number, f"{shown(rank)} is not a score, where more is better: negate it")
    scores = [place for place, name in enumerate(plain) if name in SCORES]
    scores = scores or [2] * (len(plain) == 3)
    others = [place for place in range(len(plain)) if place not in scores]
    users, items = (
        [place for place in others if word(plain[place]) in one.words | one.others] for one in (USER, ITEM)
    )
    if len(scores) != 1 or len(others) < 2:
        return None
    if len(users) == len(items) == 1:
        return [*users, *items, scores[0]]
    ends = [tuple(others)] if len(others) == 2 else end_pairs(plain)
    return [*ends[0], scores[0]] if len(ends) == 1 else None


def _first_fault(text: TextFile, first: int, separator: str | None) -> InputError:
    """Return an error for the first line that does not hold numbers."""
    columns = 0
    for number, line in enumerate(text.lines[first:], start=first + 1):
        if _is_passed_over(line):
            continue
        fields = [field.strip() for field in _without_comment(line).split(separator)]
        columns = columns or len(fields)
        bad = [field for field in fields if not is_number_field(field)]
        if bad:
            return text.error(number, f"{shown(bad[0])} is not a number")
        if len(fields) != columns:
            return text.error(number, f"{len(fields)} columns, where the first line has {columns}")
    return InputError(f"{text.path} cannot be read as columns of numbers")


def _is_row(fields: Sequence[str], width: int, nodes: Collection[str]) -> bool:
    """Return whether fields are two nodes and a score, and not titles that nodes have as names."""
    if len(fields) != width + 1 or fields[-1].casefold() in SCORES:
        return False
    return fields[0] in nodes and fields[width - 1] in nodes


def _is_passed_over(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _without_comment(text: str) -> str:
    return re.split("|".join(COMMENTS), text)[0].strip()
