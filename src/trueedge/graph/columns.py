"""The two columns of ids in a text file, and the line each row stands on."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.text import TextFile, shown

HEADER_WORDS = frozenset(
    "source target src dst from to u v head tail start end node1 node2 node_1 node_2 node_a node_b"
    " id1 id2 id_1 id_2 id_a id_b node_id node source_id target_id src_id dst_id from_id to_id"
    " from_node to_node fromnodeid tonodeid user1 user2".split()
)
#: What programs write for a value that is not there; among names it may be a name.
MISSING_WORDS = frozenset("na n/a null none nil - -- ? .".split())
#: Numbers that name no node. "12e5" is let through: it is a good hexadecimal name, unlike "1e+05".
NUMBER_BUT_NO_ID = re.compile(
    r"[+-]? (nan|inf) | [+-] [0-9]+ | [0-9]+ \s+ [0-9]+"
    r" | [+-]? ([0-9]+ \. [0-9]* | \. [0-9]+) (e [+-]? [0-9]+)? | [+-]? [0-9]+ e [+-] [0-9]+",
    re.VERBOSE | re.IGNORECASE,
)
WHOLE_NUMBER = re.compile("[0-9]+")
LARGEST_ID = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Columns:
    """Two columns of ids.

    Attributes:
        numbers: int64 array (m, 2) where every id is a whole number, else None.
        names: the ids as they are written, row by row, 2m of them; empty where ``numbers`` is given.
        lines: int64 array (m,), the line each row stands on, from 1.
        notes: what was decided on the way.
    """

    numbers: NDArray[np.int64] | None
    names: list[str]
    lines: NDArray[np.int64]
    notes: tuple[str, ...]


def read_columns(text: TextFile, numbers_only: bool = False) -> Columns:
    """Find the ids in a text file.

    Comments (``#``, ``%``) and blank lines are passed over. The first line left says what separates
    columns: a tab, a semicolon or a comma if it holds one (in this order), else white space. It is a
    header if its first two fields are words, and either they are usual column names that are no id on
    another line, or no other line has a word for an id. Every row has as many columns as this line.

    Args:
        text: the file.
        numbers_only: refuse ids that are not whole numbers.
    """
    if text.data.startswith(b"%%MatrixMarket"):
        raise InputError(
            f"{text.path} is a Matrix Market file, not an edge list:"
            " read it with scipy.io.mmread and make the graph with Graph.from_scipy"
        )
    clean = _read_digits(text)
    return _read_anything(text, numbers_only) if clean is None else clean


def _read_digits(text: TextFile) -> Columns | None:
    """The columns of a file of plain digits below comments and a header, fast; None for other files."""
    number, start, line = _first_row(text.data)
    separator = _separator(line)
    fields = _fields(text, number, line, separator)
    notes: tuple[str, ...] = ()
    if len(fields) < 2:
        return None
    if _is_word(fields[0]) and _is_word(fields[1]):
        notes = (_header_note(number, fields),)
        number, start = number + 1, start + len(line.encode()) + 1
    body = text.data[start:]
    spacing = b" \t" if separator is None else separator.encode()
    if body.translate(None, b"0123456789\n" + spacing):
        return None
    per_line, longest = _count_ids(np.frombuffer(body, dtype=np.uint8), separator)
    rows = np.flatnonzero(per_line)
    # 18 digits always fit an int64.
    if rows.size == 0 or longest > 18 or (per_line[rows] != len(fields)).any():
        return None
    values = np.fromstring(body.replace(spacing, b" "), dtype=np.int64, sep=" ")
    pairs = np.ascontiguousarray(values.reshape(len(rows), len(fields))[:, :2])
    return Columns(pairs, [], rows + number, notes)


def _first_row(data: bytes) -> tuple[int, int, str]:
    """The first line that is neither blank nor a comment: its number, its first byte, its text."""
    number, start = 1, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end].decode()
        if not _is_passed_over(line):
            return number, start, line
        number, start = number + 1, end + 1
    return number, start, ""


def _count_ids(body: NDArray[np.uint8], separator: str | None) -> tuple[NDArray[np.int64], int]:
    """How many ids each line has, -1 where the separators are not one between two ids; the longest id."""
    digit = np.zeros(len(body) + 2, dtype=np.bool_)
    digit[1:-1] = (body >= ord("0")) & (body <= ord("9"))
    borders = np.flatnonzero(digit[1:] != digit[:-1])
    starts, ends = borders[::2], borders[1::2]
    breaks = np.append(np.flatnonzero(body == ord("\n")), len(body))
    per_line = np.diff(np.searchsorted(starts, breaks), prepend=0).astype(np.int64)
    if separator is not None:
        marks = np.flatnonzero(body == ord(separator))
        marks_per_line = np.diff(np.searchsorted(marks, breaks), prepend=0)
        per_line[marks_per_line != np.maximum(per_line - 1, 0)] = -1
    return per_line, int((ends - starts).max(initial=0))


def _read_anything(text: TextFile, numbers_only: bool) -> Columns:
    """The columns of any file, or an error for the first thing that is wrong with it."""
    ids, lines = _split_rows(text)
    notes: tuple[str, ...] = ()
    if _is_header(ids[:2], ids[2:]):
        notes = (_header_note(lines[0], ids),)
        ids, lines = ids[2:], lines[1:]
    if not lines:
        raise InputError(f"{text.path} is empty: it holds no edge")

    def refuse(value: str, why: str) -> NoReturn:
        raise text.error(lines[ids.index(value) // 2], why.format(shown(value)))

    distinct = dict.fromkeys(ids)
    for value in distinct:
        if not value:
            refuse(value, "an id is missing, {}")
        if NUMBER_BUT_NO_ID.fullmatch(value):
            refuse(value, "the id {} is below 0" if _is_negative(value) else "{} is not a node id")
    at = np.array(lines, dtype=np.int64)
    names = [value for value in distinct if not WHOLE_NUMBER.fullmatch(value)]
    if not names:
        for value in distinct:
            if len(value.lstrip("0")) > 18 and (len(value.lstrip("0")) > 19 or int(value) > LARGEST_ID):
                refuse(value, "the id {} is too large")
        number = {value: int(value) for value in distinct}
        flat = np.fromiter((number[value] for value in ids), dtype=np.int64, count=len(ids))
        return Columns(flat.reshape(-1, 2), [], at, notes)
    if numbers_only:
        refuse(names[0], "{} is not a whole number")
    if len(names) < len(distinct):
        if all(name.casefold() in MISSING_WORDS for name in names):
            refuse(names[0], "an id is missing, {}")
        line = lines[ids.index(names[0]) // 2]
        notes = (*notes, f"ids are taken as names: line {line} has {shown(names[0])}")
    return Columns(None, ids, at, notes)
