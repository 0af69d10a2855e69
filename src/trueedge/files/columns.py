"""The two columns of ids in a text file, and the line each row stands on."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.digits import LARGEST_ID, read_digits
from trueedge.files.text import TextFile, shown

#: Usual names of the two columns, in lower case.
HEADER_WORDS = frozenset(
    {"source", "target", "source_id", "target_id", "src", "dst", "src_id", "dst_id", "u", "v"}
    | {"from", "to", "from_id", "to_id", "from_node", "to_node", "fromnodeid", "tonodeid"}
    | {"node", "node_id", "node1", "node2", "node_1", "node_2", "node_a", "node_b"}
    | {"id1", "id2", "id_1", "id_2", "id_a", "id_b", "user1", "user2", "head", "tail", "start", "end"}
)
#: What programs write for a value that is not there; among names it may be a name.
MISSING_WORDS = frozenset({"na", "n/a", "null", "none", "nil", "-", "--", "?", "."})
#: Numbers that name no node. "12e5" is let through: it is a good hexadecimal name, unlike "1e+05".
NUMBER_BUT_NO_ID = re.compile(
    r"[+-]? (nan|inf) | [+-] [0-9]+ | [0-9]+ \s+ [0-9]+"
    r" | [+-]? ([0-9]+ \. [0-9]* | \. [0-9]+) (e [+-]? [0-9]+)? | [+-]? [0-9]+ e [+-] [0-9]+",
    re.VERBOSE | re.IGNORECASE,
)
WHOLE_NUMBER = re.compile("[0-9]+")


@dataclass(frozen=True, eq=False)
class Columns:
    """Two columns of ids.

    Attributes:
        ids: int64 array (m, 2): the ids where they are whole numbers, else their places in ``names``.
        names: the distinct ids in the order they first appear in, or None where they are whole numbers.
        lines: int64 array (m,), the line each row stands on, from 1; a range where no line is passed over.
        notes: what was decided on the way.
    """

    ids: NDArray[np.int64]
    names: tuple[str, ...] | None
    lines: NDArray[np.int64] | range
    notes: tuple[str, ...]


def read_columns(text: TextFile, numbers_only: bool = False, names_only: bool = False) -> Columns:
    """Find the ids in a text file.

    Comments (``#``, ``%``) and blank lines are passed over. The first line left says what separates
    columns: a tab, a semicolon or a comma if it holds one (in this order), else white space. It is a
    header if its first two fields are words, and either they are usual column names that are no id on
    another line, or no other line has a word for an id. Every row has as many columns as this line.

    Args:
        text: the file.
        numbers_only: refuse ids that are not whole numbers.
        names_only: take whole numbers for names too, as they are written.
    """
    if text.data.startswith(b"%%MatrixMarket"):
        raise InputError(
            f"{text.path} is a Matrix Market file, not an edge list:"
            " read it with scipy.io.mmread and make the graph with Graph.from_scipy"
        )
    clean = None if names_only else _read_clean(text)
    return _read_anything(text, numbers_only, names_only) if clean is None else clean


def find_separator(line: str) -> str | None:
    """What stands between the columns of a line: a tab, a semicolon or a comma, or None for white space."""
    return next((mark for mark in "\t;," if mark in line.strip()), None)


def split_fields(text: TextFile, number: int, line: str, separator: str | None) -> list[str]:
    """The fields of a line; one in double quotes may hold the separator.

    Args:
        text: the file, for an error.
        number: the line's number, from 1.
        line: its text.
        separator: what :func:`find_separator` found on the first line.
    """
    if '"' in line:
        if separator is None:
            line = " ".join(line.split())
        quoted = csv.reader([line], delimiter=separator or " ", skipinitialspace=True, strict=True)
        try:
            return [field.strip() for field in next(quoted)]
        except csv.Error as error:
            if "limit" in str(error):
                most = csv.field_size_limit()
                raise text.error(number, f"a field in quotes is longer than {most:,} characters") from None
            raise text.error(number, f"the quotes do not match: {shown(line.strip())}") from None
    return line.split() if separator is None else [field.strip() for field in line.split(separator)]


def _read_clean(text: TextFile) -> Columns | None:
    """The columns where all ids below comments and a header are plain digits, fast; else None."""
    number, start, line = _first_row(text.data)
    separator = find_separator(line)
    fields = split_fields(text, number, line, separator)
    if len(fields) < 2:
        return None
    notes = _rest_note(len(fields))
    if _is_word(fields[0]) and _is_word(fields[1]):
        notes = (_header_note(number, fields), *notes)
        number, start = number + 1, start + len(line.encode()) + 1
    found = read_digits(text.data, start, separator, len(fields))
    if found is None:
        return None
    ids, lines = found
    shifted = range(number, number + len(lines)) if isinstance(lines, range) else lines + number
    return Columns(ids, None, shifted, notes)


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


def _read_anything(text: TextFile, numbers_only: bool, names_only: bool = False) -> Columns:
    """The columns of any file, or an error for the first thing that is wrong with it."""
    rows = _split_rows(text)
    notes = _rest_note(rows.columns)
    if _is_header(rows.ids):
        notes = (_header_note(rows.lines[0], rows.ids), *notes)
        rows = _Rows(text, rows.ids[2:], rows.lines[1:], rows.columns)
    if not rows.lines:
        raise InputError(f"{text.path} is empty: it holds no edge")
    place: dict[str, int] = {}
    flat = np.array([place.setdefault(value, len(place)) for value in rows.ids], dtype=np.int64)
    _refuse_no_ids(rows, place)
    ids, lines = flat.reshape(-1, 2), np.array(rows.lines, dtype=np.int64)
    names = [value for value in place if not WHOLE_NUMBER.fullmatch(value)]
    if not names and not names_only:
        return Columns(_to_numbers(rows, place)[ids], None, lines, notes)
    if numbers_only:
        raise rows.error(names[0], "{} is not a whole number")
    if names and len(names) < len(place):
        if all(name.casefold() in MISSING_WORDS for name in names):
            raise rows.error(names[0], "an id is missing, the field is {}")
        notes = (*notes, f"ids are taken as names: line {rows.line(names[0])} has {shown(names[0])}")
    return Columns(ids, tuple(place), lines, notes)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The ids as they are written, 2m of them, the m lines they stand on, and how many columns these have."""

    text: TextFile
    ids: list[str]
    lines: list[int]
    columns: int

    def line(self, value: str) -> int:
        return self.lines[self.ids.index(value) // 2]

    def error(self, value: str, why: str) -> InputError:
        return self.text.error(self.line(value), why.format(shown(value)))


def _split_rows(text: TextFile) -> _Rows:
    ids: list[str] = []
    lines: list[int] = []
    separator, columns = None, 0
    for number, line in enumerate(text.lines, start=1):
        if _is_passed_over(line):
            continue
        if not lines:
            separator = find_separator(line)
        fields = split_fields(text, number, line, separator)
        columns = columns or len(fields)
        if len(fields) != columns:
            count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            what = f"{count}, where line {lines[0]} has {columns}: {shown(line.strip())}"
            raise text.error(number, what)
        if columns < 2:
            raise text.error(number, f"an edge has two ids, this line has one: {shown(line.strip())}")
        ids += fields[:2]
        lines.append(number)
    return _Rows(text, ids, lines, columns)


def _refuse_no_ids(rows: _Rows, values: Iterable[str]) -> None:
    for value in values:
        if not value:
            raise rows.error(value, "an id is missing, the field is {}")
        if NUMBER_BUT_NO_ID.fullmatch(value):
            below = value[0] == "-" and WHOLE_NUMBER.fullmatch(value[1:])
            raise rows.error(value, "the id {} is below 0" if below else "{} is not a node id")


def _to_numbers(rows: _Rows, values: Iterable[str]) -> NDArray[np.int64]:
    numbers: list[int] = []
    for value in values:
        digits = value.lstrip("0") or "0"
        # Python itself refuses to convert thousands of digits.
        if len(digits) > len(str(LARGEST_ID)) or int(digits) > LARGEST_ID:
            raise rows.error(value, "the id {} is too large")
        numbers.append(int(digits))
    return np.array(numbers, dtype=np.int64)


def _is_passed_over(line: str) -> bool:
    start = line.lstrip()[:1]
    return not start or start in "#%"


def _is_header(ids: list[str]) -> bool:
    first, others = ids[:2], ids[2:]
    if not first or not all(map(_is_word, first)):
        return False
    if all(word.casefold() in HEADER_WORDS for word in first):
        return not any(word in others for word in first)
    return bool(others) and not any(map(_is_word, others))


def _is_word(value: str) -> bool:
    number = WHOLE_NUMBER.fullmatch(value) or NUMBER_BUT_NO_ID.fullmatch(value)
    return bool(value) and not number and value.casefold() not in MISSING_WORDS


def _header_note(line: int, fields: list[str]) -> str:
    return f"line {line} is taken as a header: {shown(fields[0])}, {shown(fields[1])}"


def _rest_note(columns: int) -> tuple[str, ...]:
    return ("columns after the second are not read",) if columns > 2 else ()
