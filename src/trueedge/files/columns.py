"""The columns of ids in a text file, and the line of each row."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_lines
from trueedge.files.digits import LARGEST_ID, read_digits, read_numbers
from trueedge.files.text import TextFile, plain, shown

#: Usual names of columns of ids, in lower case.
HEADER_WORDS = frozenset(
    {"source", "target", "source_id", "target_id", "src", "dst", "src_id", "dst_id", "u", "v"}
    | {"from", "to", "from_id", "to_id", "from_node", "to_node", "fromnodeid", "tonodeid"}
    | {"node", "node_id", "node1", "node2", "node_1", "node_2", "node_a", "node_b"}
    | {"id1", "id2", "id_1", "id_2", "id_a", "id_b", "user1", "user2", "head", "tail", "start", "end"}
)
#: Words in longer names of columns, such as ``customer_id``.
COLUMN_WORDS = frozenset(
    {"id", "ids", "key", "source", "src", "target", "dst", "from", "to", "start", "end", "node", "vertex"}
    | {"head", "relation", "tail", "subject", "predicate", "object"}
    | {"user", "userid", "item", "itemid", "customer", "product"}
)
#: The words of a name: ``customer_id`` and ``customerId`` have two.
WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
#: What programs write for a value that is not there; among names it may be a name.
MISSING_WORDS = frozenset({"na", "n/a", "null", "none", "nil", "-", "--", "?", "."})
#: Numbers that are no id. "12e5" is allowed: it is a possible hexadecimal name, unlike "1e+05".
NUMBER_BUT_NO_ID = re.compile(
    r"[+-]? (nan|inf) | [+-] [0-9]+ | [0-9]+ \s+ [0-9]+"
    r" | [+-]? ([0-9]+ \. [0-9]* | \. [0-9]+) (e [+-]? [0-9]+)? | [+-]? [0-9]+ e [+-] [0-9]+",
    re.VERBOSE | re.IGNORECASE,
)
PAJEK = re.compile(r"\s*\*(vertices|network|edges|arcs|edgeslist|arcslist|matrix)\b", re.IGNORECASE)
WHOLE_NUMBER = re.compile("[0-9]+")
#: What a column may be called, and columns that differ in a number alone: ``person1`` and ``person2``.
PLAIN_WORD, COUNTED_WORD = re.compile("[A-Za-z][A-Za-z_ ]*"), re.compile("([A-Za-z][A-Za-z_ ]*)[012]")
# With fewer rows, values that occur once say nothing.
FEWEST_ROWS = 6
# The memory a line takes until it is an edge of a graph: as arrays, or as objects of Python.
BYTES_A_LINE_OF_DIGITS = 72
BYTES_A_LINE_OF_WORDS = 400


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of ids, two unless more are asked for.

    Attributes:
        ids: int64 array (m, width): the ids where they are whole numbers, else their places in ``names``.
        names: the distinct ids in the order of their first appearance, or None where they are whole numbers.
        lines: int64 array (m,), the line of each row, from 1; a range where no line is skipped.
        notes: decisions the user should know of.
        extras: further columns that were asked for, as texts (m,), or as numbers where all of them are.
    """

    ids: NDArray[np.int64]
    names: tuple[str, ...] | None
    lines: NDArray[np.int64] | range
    notes: tuple[str, ...]
    extras: tuple[Sequence[str] | NDArray[np.float64], ...] = ()


def read_columns(
    text: TextFile,
    numbers_only: bool = False,
    names_only: bool = False,
    header: bool | None = None,
    width: int = 2,
    places: tuple[int, ...] | None = None,
    extras: tuple[int, ...] = (),
) -> Columns:
    """Find the ids in a text file.

    Comments (``#``, ``%``) and blank lines are skipped. The first line left says what separates columns: a
    tab, a semicolon or a comma if it holds one (in this order), else white space. Every row has as many
    columns as this line. It is a header if its ids are words and one of these holds: they are usual column
    names (``source``, ``from``) and no id of another line; they contain such names (``customer_id``) and the
    ids of no other line do; the ids of all other lines are numbers.

    Args:
        text: the file.
        numbers_only: refuse ids that are not whole numbers.
        names_only: read whole numbers as names too, as they are written.
        header: whether the first line is a header; None decides by the rule above, and a note says so.
        width: how many columns of ids a row begins with.
        places: the columns of ids, from 0, if they are not the first ones.
        extras: further columns to read, from 0.
    """
    refuse_other_formats(text)
    check_lines(text.data, text.packed, BYTES_A_LINE_OF_DIGITS, str(text.path))
    asked = _Asked(tuple(range(width)) if places is None else places, extras, chosen=places is not None)
    clean = None if names_only or asked.ids != (0, 1) else _read_clean(text, header, asked)
    return _read_anything(text, numbers_only, names_only, header, asked) if clean is None else clean


def refuse_other_formats(text: TextFile) -> None:
    """Raise an InputError for the files of other programs that look like edge lists."""
    if text.data.startswith(b"%%MatrixMarket"):
        raise InputError(
            f"{text.path} is a Matrix Market file, not an edge list:"
            " read it with scipy.io.mmread and make the graph with Graph.from_scipy"
        )
    if PAJEK.match(first_row(text.data)[2]):
        raise InputError(
            f"{text.path} is a Pajek file, not an edge list:"
            " read it with networkx.read_pajek and make the graph with Graph.from_networkx"
        )


@dataclass(frozen=True)
class _Asked:
    """The columns to read: those of ids, further ones, and whether the caller has chosen those of ids."""

    ids: tuple[int, ...] = (0, 1)
    extras: tuple[int, ...] = ()
    chosen: bool = False

    def notes(self, line: int, fields: list[str] | None, columns: int) -> tuple[str, ...]:
        """Return the notes on a header, if there is one, and on columns that are not read."""
        found = []
        if fields is not None:
            found.append(_header_note(line, fields if self.chosen else fields[: len(self.ids)]))
        if not self.chosen and columns > len(self.ids):
            found.append(f"only the first {len(self.ids)} columns are read")
        return tuple(found)


FIRST_TWO = _Asked()


def find_separator(line: str) -> str | None:
    """Return what separates the columns of a line: a tab, a semicolon or a comma, or None for white space."""
    return next((mark for mark in "\t;," if mark in line.strip()), None)


def split_fields(text: TextFile, number: int, line: str, separator: str | None) -> list[str]:
    """Return the fields of a line; one in double quotes may hold the separator."""
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


def _read_clean(text: TextFile, header: bool | None = None, asked: _Asked = FIRST_TWO) -> Columns | None:
    """Return the first two columns, fast, if all ids below comments and a header are digits; else None."""
    number, start, line = first_row(text.data)
    separator = find_separator(line)
    fields = split_fields(text, number, line, separator)
    if len(fields) < 2:
        return None
    named = (is_word(fields[0]) and is_word(fields[1])) if header is None else header
    notes = asked.notes(number, fields if named else None, len(fields))
    if named:
        number, start = number + 1, start + len(line.encode()) + 1
    found = read_digits(text.data, start, separator, len(fields))
    if found is None:
        return None
    ids, lines = found
    shifted = range(number, number + len(lines)) if isinstance(lines, range) else lines + number
    if not asked.extras:
        return Columns(ids, None, shifted, notes)
    further = [read_numbers(text.data, start, separator, column, len(ids)) for column in asked.extras]
    found_all = tuple(column for column in further if column is not None)
    return Columns(ids, None, shifted, notes, found_all) if len(found_all) == len(further) else None


def first_row(data: bytes) -> tuple[int, int, str]:
    """Return the number, first byte and text of the first line that is neither blank nor a comment."""
    number, start = 1, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end].decode()
        if not is_skipped(line):
            return number, start, line
        number, start = number + 1, end + 1
    return number, start, ""


def _read_anything(
    text: TextFile,
    numbers_only: bool,
    names_only: bool = False,
    header: bool | None = None,
    asked: _Asked = FIRST_TWO,
) -> Columns:
    """Return the columns of any file, or raise an error for the first thing that is wrong with it."""
    check_lines(text.data, text.packed, BYTES_A_LINE_OF_WORDS, str(text.path))
    width = len(asked.ids)
    rows = _split_rows(text, asked)
    named = _is_header(rows.ids, width) if header is None else header and bool(rows.lines)
    notes = asked.notes(rows.lines[0] if rows.lines else 1, rows.first if named else None, len(rows.first))
    if named:
        further = tuple(column[1:] for column in rows.extras)
        rows = replace(rows, ids=rows.ids[width:], lines=rows.lines[1:], extras=further)
    if not rows.lines:
        raise InputError(f"{text.path} is empty: it has no edges")
    place: dict[str, int] = {}
    flat = np.array([place.setdefault(value, len(place)) for value in rows.ids], dtype=np.int64)
    _refuse_no_ids(rows, place)
    ids, lines = flat.reshape(-1, width), np.array(rows.lines, dtype=np.int64)
    names = [value for value in place if not WHOLE_NUMBER.fullmatch(value)]
    if not names and not names_only:
        return Columns(_to_numbers(rows, place)[ids], None, lines, notes, rows.extras)
    if numbers_only:
        raise rows.error(names[0], "{} is not a whole number")
    if names and len(names) < len(place):
        if all(name.casefold() in MISSING_WORDS for name in names):
            raise rows.error(names[0], "an id is missing, the field is {}")
        notes = (*notes, f"ids are read as names: line {rows.line(names[0])} has {shown(names[0])}")
    return Columns(ids, tuple(place), lines, notes, rows.extras)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The ids as they are written, row by row, the line of each row, further columns, and the first row."""

    text: TextFile
    ids: list[str]
    lines: list[int]
    extras: tuple[list[str], ...]
    first: list[str]
    width: int

    def line(self, value: str) -> int:
        return self.lines[self.ids.index(value) // self.width]

    def error(self, value: str, why: str) -> InputError:
        return self.text.error(self.line(value), why.format(shown(value)))


def _split_rows(text: TextFile, asked: _Asked) -> _Rows:
    ids: list[str] = []
    lines: list[int] = []
    extras: tuple[list[str], ...] = tuple([] for _ in asked.extras)
    first: list[str] = []
    separator, needed = None, max((*asked.ids, *asked.extras)) + 1
    for number, line in enumerate(text.lines, start=1):
        if is_skipped(line):
            continue
        if not lines:
            separator = find_separator(line)
        fields = split_fields(text, number, line, separator)
        first = first or fields
        if len(fields) != len(first):
            count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
            what = f"{count}, where line {lines[0]} has {len(first)}: {shown(line.strip())}"
            raise text.error(number, what)
        if len(first) < needed:
            noun = "columns" if asked.chosen and needed > len(asked.ids) else "ids"
            what = f"a line needs {needed} {noun}, this one has {len(first)}: {shown(line.strip())}"
            raise text.error(number, what)
        ids += [fields[place] for place in asked.ids]
        for column, place in zip(extras, asked.extras, strict=True):
            column.append(fields[place])
        lines.append(number)
    return _Rows(text, ids, lines, extras, first, len(asked.ids))


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


def is_skipped(line: str) -> bool:
    """Return whether a line is blank or a comment."""
    start = line.lstrip()[:1]
    return not start or start in "#%"


def _is_header(ids: list[str], width: int) -> bool:
    first, others = ids[:width], set(ids[width:])
    if not first or not all(map(is_word, first)):
        return False
    if all(word.casefold() in HEADER_WORDS for word in first):
        return others.isdisjoint(first)
    if not any(map(is_word, others)):
        return bool(others)
    return all(map(names_column, first)) and not any(map(names_column, others))


def names_column(value: str) -> bool:
    """Return whether a field is a usual name of a column of ids, or contains one."""
    if any(mark.isdigit() for mark in value):
        return False
    words = {word.casefold() for word in WORDS.findall(value)}
    return value.casefold() in HEADER_WORDS or not words.isdisjoint(COLUMN_WORDS)


def may_be_names(first: Sequence[str], often: NDArray[np.bool_], others: Iterable[str]) -> bool:
    """Return whether the first row may name the columns: words that do not come again, unlike other rows'.

    Args:
        first: the values of the first row.
        often: bool (m, width), whether the value of a row and column occurs in another row as well.
        others: all values.
    """
    if len(often) < FEWEST_ROWS or often[0].any() or not often[1:].any(axis=1).mean() > 0.5:
        return False
    if all(map(PLAIN_WORD.fullmatch, first)):
        return True
    stems = {found[1] if (found := COUNTED_WORD.fullmatch(value)) else "" for value in first}
    if len(stems) > 1 or "" in stems:
        return False
    ids = re.compile(f"{re.escape(stems.pop())}[0-9]+")
    return not any(ids.fullmatch(value) for value in others if value not in first)


def is_word(value: str) -> bool:
    """Return whether a field is neither empty nor a number nor a mark for a missing value."""
    number = WHOLE_NUMBER.fullmatch(value) or NUMBER_BUT_NO_ID.fullmatch(value)
    return bool(value) and not number and value.casefold() not in MISSING_WORDS


def _header_note(line: int, fields: list[str]) -> str:
    place = "the first line" if line == 1 else f"line {line}"
    return f"{place} was read as a header: {', '.join(plain(field) or repr(field) for field in fields)}"
