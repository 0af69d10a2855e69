"""Columns of a text file that are known by their names or their places: ids of any text, and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_lines
from trueedge.files.columns import NUMBER_BUT_NO_ID, find_separator, split_fields
from trueedge.files.moments import seconds
from trueedge.files.text import TextFile, shown

# The memory a line takes until its ids are numbers.
BYTES_A_LINE = 200
BLOCK = 1 << 21
# MovieLens separates columns by two colons. A single mark stands for them while a file is read.
COLONS, MARK = "::", "\x1f"


@dataclass(frozen=True)
class Column:
    """A column that a file may have.

    Attributes:
        noun: what it holds, such as ``user``.
        words: usual names of it: letters in lower case, without ``id`` at the end.
        space: ids with the same space have the same names; empty for a column of numbers.
        needed: whether a file must have it.
        negative: whether numbers may be negative.
        others: further names of it, which count if no column has a usual one, and a single one has these.
        dates: whether numbers may be written as dates, which are seconds since 1970.
    """

    noun: str
    words: frozenset[str] = frozenset()
    space: str = ""
    needed: bool = True
    negative: bool = True
    others: frozenset[str] = frozenset()
    dates: bool = False


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """The columns of a file or of a table.

    Attributes:
        title: the file or the table, for messages.
        ids: for each column of ids int64 (rows,): places in ``names``.
        names: the distinct ids of each space, in the order of their first appearance.
        numbers: for each column of numbers float64 (rows,), all finite.
        lines: int64 (rows,), the line of each row; None for a table in memory.
        notes: decisions the user should know of.
        header: the names of all columns, if the file says them.
        read: of these, the ones that are read.
    """

    title: str
    ids: Mapping[str, NDArray[np.int64]]
    names: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    read: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(next(iter(self.ids.values())))

    def place(self, row: int) -> str:
        """Return where a row is, in words."""
        return f"{self.title}, row {row}" if self.lines is None else f"{self.title}, line {self.lines[row]}"

    def error(self, row: int, what: str) -> InputError:
        """Return an error that names the file and the line of a row."""
        return InputError(f"{self.place(row)}: {what}")

    def checked(self, columns: Sequence[Column]) -> NamedColumns:
        """Return the same columns, or raise an InputError for what cannot be an id or a number."""
        for one in columns:
            if one.noun in self.ids:
                self._check_ids(one)
            elif one.noun in self.numbers and not one.negative:
                values = self.numbers[one.noun]
                if (values < 0).any():
                    row = int((values < 0).argmax())
                    raise self.error(row, f"the {one.noun} {values[row]:g} is negative")
        return self

    def _check_ids(self, column: Column) -> None:
        for place, name in enumerate(self.names[column.space]):
            if name and not NUMBER_BUT_NO_ID.fullmatch(name):
                continue
            rows = np.flatnonzero(self.ids[column.noun] == place)
            if not len(rows):
                continue  # another column of the same space has it
            if not name:
                why = f"the {column.noun} is missing"
            elif name[0] == "-" and name[1:].isdecimal():
                why = f"the {column.noun} {name} is below 0"
            else:
                why = f"the {column.noun} {shown(name)} is a number, but not an id"
            raise self.error(int(rows[0]), why)


def read_named_columns(
    text: TextFile,
    columns: Sequence[Column],
    chosen: Mapping[str, str] | None = None,
    header: bool | None = None,
    unnamed: Callable[[Sequence[str]], Sequence[Column]] | None = None,
) -> NamedColumns:
    """Read columns of a text file.

    The first line says what separates columns: a tab, two colons, a semicolon or a comma (in this order),
    else white space. If it names the columns, they may be in any order, with others between them; otherwise
    they are the first ones. Comments (``#``, ``%``) before the first row and blank lines are skipped.

    Args:
        text: the file.
        columns: what to look for, in the usual order.
        chosen: the names of some columns in the file, or their numbers from 0, by noun.
        header: whether the first line names the columns; None detects it by the words of needed columns.
        unnamed: says by the first row what the columns are where no line names them; None: the usual order.
    """
    check_lines(text.data, text.packed, BYTES_A_LINE, str(text.path))
    number, start, line, comments = _first_line(text)
    separator, fields = _separator(line), first_fields(text)
    places = _from_header(text, number, fields, columns, chosen or {}, header)
    notes: tuple[str, ...] = ()
    if comments:
        lines = "the first line is a comment and was" if comments == 1 else f"{comments} comments were"
        notes = (f"{lines} skipped",)
    first = number
    titles: tuple[str, ...] = ()
    if places is not None:
        number, start = number + 1, start + len(line.encode()) + 1
        titles = tuple(fields)
    elif chosen:
        numbers = list(map(str, range(len(fields))))
        places = {noun: _numbered(numbers, wanted, str(text.path)) for noun, wanted in chosen.items()}
        left = [place for place in range(len(fields)) if place not in places.values()]
        missing = [one.noun for one in columns if one.needed and one.noun not in places]
        places |= dict(zip(missing, left, strict=False))
        _refuse_few(text, number, line, fields, columns)
    else:
        columns = columns if unnamed is None else unnamed(fields)
        places = {one.noun: place for place, one in enumerate(columns[: len(fields)])}
        _refuse_few(text, number, line, fields, columns)
        if len(fields) > len(columns):
            notes = (*notes, f"only the first {len(columns)} columns are read")
    reader = _Reader(text, separator, len(fields), first, columns, places)
    found = reader.read(number, start)
    read = frozenset(titles[place] for place in places.values()) if titles else frozenset()
    return replace(found, notes=notes, header=titles, read=read).checked(columns)


def first_fields(text: TextFile) -> list[str]:
    """Return the fields of the first line that is neither blank nor a comment."""
    number, _, line, _ = _first_line(text)
    separator = _separator(line)
    return _fields(text, number, line.replace(COLONS, MARK) if separator == MARK else line, separator)


def _refuse_few(
    text: TextFile, number: int, line: str, fields: Sequence[str], columns: Sequence[Column]
) -> None:
    """Raise an InputError for a first row with fewer columns than are needed."""
    needed = [one.noun for one in columns if one.needed]
    if any(one.needed for one in columns[len(fields) :]):
        wanted = f"{', '.join(needed[:-1])} and {needed[-1]}"
        count = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
        raise text.error(number, f"a line has {wanted}, this one has {count}: {shown(line.strip())}")


@dataclass(frozen=True, eq=False)
class _Reader:
    """How the rows of a file are read, once its separator and its columns are known."""

    text: TextFile
    separator: str | None
    width: int
    first: int
    columns: Sequence[Column]
    places: Mapping[str, int]

    def read(self, number: int, start: int) -> NamedColumns:
        present = [one for one in self.columns if one.noun in self.places]
        known: dict[str, dict[str, int]] = {one.space: {} for one in present if one.space}
        parts: dict[str, list[NDArray[Any]]] = {one.noun: [] for one in present}
        numbers: list[NDArray[np.int64]] = []
        for lines, table in self._blocks(number, start):
            numbers.append(np.array(lines, dtype=np.int64))
            for space, of in known.items():
                found = {one.noun: table[self.places[one.noun]] for one in present if one.space == space}
                # Row by row, so that the order of names does not depend on the size of blocks.
                rows = zip(*found.values(), strict=True)
                codes = [of.setdefault(value, len(of)) for row in rows for value in row]
                for place, noun in enumerate(found):
                    parts[noun].append(np.array(codes[place :: len(found)], dtype=np.int64))
            for one in present:
                if not one.space:
                    parts[one.noun].append(self._numbers(one, table[self.places[one.noun]], lines))
        if not numbers:
            raise InputError(f"{self.text.path} is empty: it has no rows")
        whole = {noun: np.concatenate(pieces) for noun, pieces in parts.items()}
        return NamedColumns(
            title=str(self.text.path),
            ids={one.noun: whole[one.noun] for one in present if one.space},
            names={space: tuple(of) for space, of in known.items()},
            numbers={one.noun: whole[one.noun] for one in present if not one.space},
            lines=np.concatenate(numbers),
        )

    def _blocks(self, number: int, start: int) -> Iterator[tuple[Sequence[int], list[Sequence[str]]]]:
        """Yield the numbers of some lines, and their columns."""
        data = self.text.data
        while start < len(data):
            end = data.find(b"\n", min(start + BLOCK, len(data)))
            end = len(data) if end < 0 else end
            block = data[start:end].decode()
            start = end + 1
            if self.separator == MARK:
                block = block.replace(COLONS, MARK)
            lines = block.split("\n")
            places: Sequence[int] = range(number, number + len(lines))
            number += len(lines)
            if "" in lines or any(map(str.isspace, lines)):
                filled = [bool(line.strip()) for line in lines]
                places = [place for place, full in zip(places, filled, strict=True) if full]
                lines = [line for line, full in zip(lines, filled, strict=True) if full]
            if lines:
                yield places, self._split(places, lines, block)

    def _split(self, places: Sequence[int], lines: list[str], block: str) -> list[Sequence[str]]:
        separator = self.separator
        table: list[Sequence[str]]
        quoted = '"' in block and separator != "\t"
        if separator and not quoted and {line.count(separator) for line in lines} == {self.width - 1}:
            # One long list of fields instead of a list for each line takes half the time.
            flat = separator.join(lines).split(separator)
            table = [flat[place :: self.width] for place in range(self.width)]
        else:
            table = self._split_by_line(places, lines, quoted)
        if separator is not None and (" " in block or (separator != "\t" and "\t" in block)):
            table = [[value.strip() for value in column] for column in table]
        return table

    def _split_by_line(self, places: Sequence[int], lines: list[str], quoted: bool) -> list[Sequence[str]]:
        separator = self.separator
        if quoted:
            rows = [_fields(self.text, *one, separator) for one in zip(places, lines, strict=True)]
        else:
            rows = [line.split(separator) for line in lines]
        if set(map(len, rows)) != {self.width}:
            place, row = next(
                (place, row) for place, row in zip(places, rows, strict=True) if len(row) != self.width
            )
            count = "1 column" if len(row) == 1 else f"{len(row)} columns"
            raise self.text.error(place, f"{count}, where line {self.first} has {self.width}")
        return list(zip(*rows, strict=True))

    def _numbers(self, column: Column, values: Sequence[str], lines: Sequence[int]) -> NDArray[np.float64]:
        try:
            found = np.fromiter(map(float, values), np.float64, len(values))
            if np.isfinite(found).all() and "_" not in "".join(values):
                return found
        except ValueError:
            pass
        known: dict[str, float] = {}
        for value, line in zip(values, lines, strict=True):
            if value in known:
                continue
            if not value.strip():
                raise self.text.error(line, f"the {column.noun} is missing")
            number = as_number(value, column.dates)
            if number is None:
                what = "neither a number nor a date like 2020-01-31" if column.dates else "not a number"
                raise self.text.error(line, f"the {column.noun} {shown(value)} is {what}")
            known[value] = number
        return np.array([known[value] for value in values], dtype=np.float64)


def as_number(value: object, dates: bool = False) -> float | None:
    """Return a finite number, or the seconds of a date; None for anything else."""
    if isinstance(value, str) and "_" in value:
        return None
    try:
        found = seconds(value) if dates else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found is not None and math.isfinite(found) else None


def word(name: str) -> str:
    """Return the word by which a column is recognised: ``user`` for ``user_id:token`` and ``userId``.

    A name with a digit is more likely an id, so it has no such word.
    """
    plain_name = name.partition(":")[0].casefold()
    if any(mark.isdigit() for mark in plain_name):
        return ""
    letters = "".join(mark for mark in plain_name if mark.isalpha())
    return letters.removesuffix("id") or letters


def find_columns(
    names: Sequence[str], columns: Sequence[Column], chosen: Mapping[str, str], title: str
) -> dict[str, int]:
    """Return the place of each column that is chosen or has a usual name.

    Args:
        names: the names of the columns there are.
        columns: what to look for.
        chosen: the names of some columns, or their numbers from 0, by noun.
        title: the file or the table, for errors.
    """
    found = {noun: _numbered(names, wanted, title) for noun, wanted in chosen.items()}
    for one in columns:
        if one.noun in chosen:
            continue
        left = [place for place in range(len(names)) if place not in found.values()]
        fitting = [place for place in left if word(names[place]) in one.words]
        if len(fitting) > 1:
            first, second = (shown(names[place]) for place in fitting[:2])
            raise InputError(f"{title}: both {first} and {second} may be the column of {one.noun}s")
        if not fitting:
            fitting = [place for place in left if word(names[place]) in one.others]
        if len(fitting) == 1:
            found[one.noun] = fitting[0]
    return found


def _numbered(names: Sequence[str], wanted: str, title: str) -> int:
    """Return the place of a column that is given by its name, or by its number from 0."""
    if wanted in names:
        return names.index(wanted)
    if wanted.isascii() and wanted.isdigit() and len(wanted) < 10 and int(wanted) < len(names):
        return int(wanted)
    raise InputError(f"{title}: there is no column {shown(wanted)}, only {', '.join(map(shown, names))}")


def _from_header(
    text: TextFile,
    number: int,
    fields: list[str],
    columns: Sequence[Column],
    chosen: Mapping[str, str],
    header: bool | None,
) -> dict[str, int] | None:
    """Return the places of the columns that the first line names, or None if it is a row."""
    named_by_user = not all(map(str.isdigit, chosen.values()))
    if header is False and not named_by_user:
        return None
    needed = [one.noun for one in columns if one.needed]
    if header is None and not named_by_user:
        named = {
            one.noun: [name for name in fields if word(name) in one.words | one.others] for one in columns
        }
        hits = [noun for noun in needed if named[noun]]
        sure = any(word(name) == noun or "id" in name.lower() for noun in hits for name in named[noun])
        wordy = all(any(mark.isalpha() for mark in name) for name in fields)
        # One usual name alone, such as "book", may be an id.
        if len(hits) < len(needed) and not (sure and wordy):
            return None
    found = find_columns(fields, columns, chosen, str(text.path))
    for noun in needed:
        if noun not in found:
            there = ", ".join(map(shown, fields))
            raise text.error(number, f"no column has a usual name of {noun}s, there are {there}")
    return found


def _first_line(text: TextFile) -> tuple[int, int, str, int]:
    """Return the number, first byte and text of the first line that is not blank, after some comments."""
    data, number, start, comments = text.data, 1, 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end].decode()
        if line.strip() and line.lstrip()[0] not in "#%":
            return number, start, line, comments
        comments += bool(line.strip())
        number, start = number + 1, end + 1
    raise InputError(f"{text.path} is empty: it has no rows")


def _separator(line: str) -> str | None:
    return MARK if COLONS in line and "\t" not in line else find_separator(line)


def _fields(text: TextFile, number: int, line: str, separator: str | None) -> list[str]:
    """Return the fields of a line; between tabs, quotes are part of a name."""
    if separator == "\t":
        return [field.strip() for field in line.split("\t")]
    return split_fields(text, number, line, separator)
