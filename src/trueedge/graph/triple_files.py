"""Triples as they are given: text files, arrays, rows of names, data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_lines
from trueedge.files.columns import FEWEST_ROWS, find_separator, may_be_names, split_fields
from trueedge.files.text import TextFile, open_text, plain, shown
from trueedge.graph.triples import repeated, triple_order
from trueedge.graph.validation import check_labels

PARTS = ("train", "valid", "test")
#: Usual names of the three columns, in lower case.
HEADERS = (
    frozenset({"head", "h", "subject", "s", "source", "head_id", "from"}),
    frozenset({"relation", "r", "predicate", "p", "relation_id", "rel", "type"}),
    frozenset({"tail", "t", "object", "o", "target", "tail_id", "to"}),
)
# The memory a line takes until it is a triple: three strings and their places.
BYTES_A_LINE = 500
# Relations of which so many are also entities are rather entities themselves.
MOST_SHARED = 0.1


@dataclass(frozen=True, eq=False)
class TripleList:
    """Triples as they are given.

    Attributes:
        rows: ids (m, 3), or, if ``names`` is given, places in ``names``.
        names: the distinct names, or None if the triples are ids.
        title: what they were read from, for messages.
        lines: the line of each triple in a file, or None.
        notes: decisions the user should know of.
    """

    rows: NDArray[Any]
    names: tuple[str, ...] | None
    title: str
    lines: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Return where a triple is, in words."""
        return f"{self.title}, row {row}" if self.lines is None else f"{self.title}, line {self.lines[row]}"


@dataclass(frozen=True, eq=False)
class TripleParts:
    """The parts of a data set of triples, over the same entities and relations.

    Attributes:
        entities: the name of each entity.
        relations: the name of each relation.
        parts: int32 (m, 3) for ``train``, ``valid`` (may be missing) and ``test``.
        notes: decisions the user should know of.
    """

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    parts: Mapping[str, NDArray[np.int32]]
    notes: tuple[str, ...] = ()


def as_triple_list(triples: object, header: bool | None = None) -> TripleList:
    """Return triples from a path, an array, a data frame or rows of names."""
    if isinstance(triples, (str, os.PathLike)):
        return read_triples(triples, header)
    if hasattr(triples, "columns") and hasattr(triples, "to_numpy"):
        columns: Any = triples.columns
        order = column_order([str(name) for name in columns]) if len(columns) > 2 else None
        if len(columns) != 3 and order is None:
            raise InputError(f"a frame of triples has three columns, this one has {len(columns)}")
        table = triples.to_numpy()
        triples = table if order is None else table[:, order]
    given = triples if isinstance(triples, np.ndarray) else _rows(triples)
    if isinstance(given, np.ndarray) and given.dtype.kind not in "OUS":
        return TripleList(given, None, "triples")
    flat: list[str] = []
    for number, row in enumerate(given):
        # A set has no order, and a dict would give the names of its columns.
        odd = isinstance(row, (str, bytes, set, frozenset, Mapping)) or not hasattr(row, "__len__")
        if odd or len(row) != 3:
            raise InputError(f"triples, row {number}: a triple is (head, relation, tail), got {_short(row)}")
        for value in row:
            if _is_missing(value):
                raise InputError(f"triples, row {number}: a name is missing in {_short(tuple(row))}")
            if isinstance(value, bytes):
                raise InputError(f"triples, row {number}: {value!r} is not text: decode the names first")
            if isinstance(value, (bool, np.bool_, complex)) or (
                hasattr(value, "__len__") and not isinstance(value, str)
            ):
                raise InputError(f"triples, row {number}: a name is a text or a number, got {_short(value)}")
            flat.append(str(value))
    return _listed(flat, "triples", None, ())


def read_triples(path: str | os.PathLike[str], header: bool | None = None) -> TripleList:
    """Read a text file with one triple per line: head, relation, tail, separated by tabs.

    If the first line has no tab, the columns are separated by whichever of semicolon, comma and white space
    leaves three of them. All ids are read as names. Blank lines are skipped. Columns with usual names may
    come in any order, with others between them.

    Args:
        path: the file, plain or gzip.
        header: whether the first line names the columns; None detects ``head relation tail`` and the like.
    """
    found, unnamed = _read(path, header)
    if header is None and unnamed:
        _refuse_names(found)
        _refuse_order(found)
    return found


def _read(path: str | os.PathLike[str], header: bool | None) -> tuple[TripleList, bool]:
    """Return the triples of a text file, and whether no line names the columns."""
    text = open_text(path)
    check_lines(text.data, text.packed, BYTES_A_LINE, str(text.path))
    fields, lines, left = _fields(text, header)
    notes: tuple[str, ...] = ()
    order = column_order(fields[:3]) if lines and header is not False else None
    named = bool(lines) and (header is True or order is not None)
    if named:
        notes = (f"line {lines[0]} was read as a header: {', '.join(fields[:3])}",)
        notes += (f"not read: {', '.join(map(plain, left))}",) if left else ()
        fields, lines = fields[3:], lines[1:]
    if order is not None and order != [0, 1, 2]:
        fields = [fields[first + place] for first in range(0, len(fields), 3) for place in order]
    if not lines:
        raise InputError(f"{text.path} is empty: it has no triples")
    return _listed(fields, str(text.path), np.array(lines, dtype=np.int64), notes), not named


def read_parts(files: Mapping[str, str | os.PathLike[str]], relations: Sequence[str] = ()) -> TripleParts:
    """Read the parts of a data set, one file each; names are numbered in the order of their appearance.

    Args:
        files: the file of each part: ``train``, ``valid``, ``test``.
        relations: relations that come first, such as those of a training graph on other entities.
    """
    entities: dict[str, int] = {}
    known = {name: number for number, name in enumerate(relations)}
    found, notes = {}, []
    for part, path in files.items():
        listed, unnamed = _read(path, None)
        if unnamed and part == "train":
            _refuse_order(listed)
        names = listed.names or ()
        tables = []
        for columns, places in (([0, 2], entities), ([1], known)):
            table = np.zeros(len(names), dtype=np.int32)
            for place in np.unique(listed.rows[:, columns]):
                table[place] = places.setdefault(names[place], len(places))
            tables.append(table)
        heads, middle, tails = listed.rows.T
        ids = np.column_stack([tables[0][heads], tables[1][middle], tables[0][tails]])
        ordered = ids[triple_order(ids)]
        again = repeated(ordered)
        if again.any():
            notes.append(f"{listed.title}: {dropped(int(again.sum()))}")
        found[part] = np.ascontiguousarray(ordered[~again])
        notes += [f"{listed.title}: {note}" for note in listed.notes]
    return TripleParts(tuple(entities), tuple(known), found, tuple(notes))


def dropped(count: int) -> str:
    """Say how many repeated triples were dropped."""
    return "a repeated triple was dropped" if count == 1 else f"{count} repeated triples were dropped"


def name_triples(
    listed: TripleList, entities: Iterable[object] | None, relations: Iterable[object] | None
) -> tuple[NDArray[np.int32], tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the ids of triples of names, and the names of entities and relations.

    Names that are given are all there may be; otherwise they are taken in the order of their appearance.
    """
    names = listed.names or ()
    ids = np.empty(listed.rows.shape, dtype=np.int32)
    labels = []
    for columns, given, noun in (([0, 2], entities, "entity"), ([1], relations, "relation")):
        used = np.unique(listed.rows[:, columns])
        if given is None:
            chosen = tuple(names[place] for place in used)
        else:
            known = list(given)
            chosen = check_labels(known, len(known), "entities" if noun == "entity" else "relations")
        place_of = {name: number for number, name in enumerate(chosen)}
        table = np.full(len(names), -1, dtype=np.int64)
        for place in used:
            table[place] = place_of.get(names[place], -1)
        found = table[listed.rows[:, columns]]
        if (found < 0).any():
            row = int((found < 0).any(axis=1).argmax())
            column = columns[int((found[row] < 0).argmax())]
            name = names[listed.rows[row, column]]
            raise InputError(
                f"{listed.place(row)}: {shown(name)} is not one of the {len(chosen)} given {noun} names"
            )
        ids[:, columns] = found
        labels.append(chosen)
    return ids, (labels[0], labels[1])


def _short(value: object) -> str:
    """Return a value for a message, in one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _is_missing(value: object) -> bool:
    """Return whether a name is None, NaN (as pandas writes what is missing) or blank."""
    try:
        return value is None or bool(value != value) or not str(value).strip()
    except (TypeError, ValueError):  # pandas.NA is neither true nor false, and an array has no one truth
        return not hasattr(value, "__len__")


def _rows(triples: object) -> Any:
    if not isinstance(triples, Iterable):
        raise InputError(f"triples must be an array, rows, a frame or a path, got {type(triples).__name__}")
    rows = list(triples)
    if not rows:
        return np.empty((0, 3), dtype=np.int64)
    try:
        table = np.array(rows)
    except ValueError:  # rows of different lengths
        return rows
    return table if table.ndim == 2 and table.dtype.kind in "iuf" else rows


def _refuse_names(found: TripleList) -> None:
    """Raise an InputError for a first line that may name the columns by unusual names."""
    names = found.names or ()
    first = [names[place] for place in found.rows[0]]
    if may_be_names(first, (np.bincount(found.rows.ravel()) > 1)[found.rows], names):
        raise InputError(
            f"{found.place(0)}: {' '.join(first)!r} may be a header, since its names do not come again: pass"
            " header=True (--header) to skip the line, or header=False (--no-header) if it is a triple"
        )


def _refuse_order(found: TripleList) -> None:
    """Raise an InputError if the values show that the columns are not head, relation and tail."""
    if len(found.rows) < FEWEST_ROWS or all(map(str.isdecimal, found.names or ())):
        return
    first, second, third = map(np.unique, found.rows.T)
    for entities, other, said, order in (
        (first, third, "first", "head, tail, relation"),
        (third, first, "third", "relation, head, tail"),
    ):
        shared = len(np.intersect1d(second, entities))
        apart = not np.isin(other, np.concatenate([second, entities])).any()
        if apart and len(other) < len(second) and shared > MOST_SHARED * min(len(second), len(entities)):
            raise InputError(
                f"{found.title}: {shared} of {len(second)} names in the second column are also in the {said},"
                f" so the columns may be {order}: name them in a first line, or pass header=False"
                " (--no-header) if they are head, relation, tail"
            )


def _fields(text: TextFile, header: bool | None) -> tuple[list[str], list[int], list[str]]:
    """Return the fields of all lines one after the other, three for each, and the number of each line.

    The third result has the names of further columns, which a first line with usual names may have.
    """
    fields: list[str] = []
    lines: list[int] = []
    separator: str | None = "\t"
    order, names = [0, 1, 2], ["head", "relation", "tail"]
    for number, line in enumerate(text.lines, start=1):
        if not line.strip():
            continue
        if not lines:
            separator = _separator(text, number, line)
        if separator != "\t" and line.lstrip().startswith("#"):
            why = "a line that begins with # may be a comment: remove it, or separate all columns by tabs"
            raise text.error(number, f"{why}: {shown(line.strip())}")
        if separator == "\t":
            found = [field.strip() for field in line.split("\t")]
        else:
            found = split_fields(text, number, line, separator)
        if not lines and len(found) > 3 and header is not False:
            wide = column_order(found)
            order, names = (order, names) if wide is None else (wide, found)
        if len(found) != len(names):
            count = "1 column" if len(found) == 1 else f"{len(found)} columns"
            wanted = "a triple has three" if len(names) == 3 else f"the header has {len(names)}"
            raise text.error(number, f"{wanted} columns, this line has {count}: {shown(line)}")
        triple = [found[place] for place in order]
        if not all(triple):
            missing = ("head", "relation", "tail")[triple.index("")]
            raise text.error(number, f"the {missing} is missing: {shown(line)}")
        fields += triple
        lines.append(number)
    return fields, lines, [name for place, name in enumerate(names) if name and place not in order]


def _separator(text: TextFile, number: int, line: str) -> str | None:
    """Return what separates the columns: a tab, or the first mark that leaves three of them."""
    usual = find_separator(line)
    if usual == "\t":
        return usual
    for separator in (";", ",", None):
        try:
            found = split_fields(text, number, line, separator)
        except InputError:
            continue
        if len(found) == 3 and all(found):
            return separator
    return usual


def names_triples(names: Sequence[str]) -> bool:
    """Return whether the names of columns are usual ones of a head, a relation and a tail."""
    return column_order(names) is not None


def column_order(names: Sequence[str]) -> list[int] | None:
    """Return the columns of head, relation and tail by their usual names; the first may begin with #.

    None if some column has another name. Letters such as h, r and t only count in this order: ``t r s`` may
    well be a triple.
    """
    named = [names[0].lstrip("# "), *names[1:]]
    places = [[at for at, name in enumerate(named) if name.casefold() in words] for words in HEADERS]
    if any(len(found) != 1 for found in places):
        return None
    order = [at for (at,) in places]
    return order if order == [0, 1, 2] or all(len(name) > 1 for name in named) else None


def _listed(
    flat: list[str], title: str, lines: NDArray[np.int64] | None, notes: tuple[str, ...]
) -> TripleList:
    place: dict[str, int] = {}
    rows = np.array([place.setdefault(value, len(place)) for value in flat], dtype=np.int64).reshape(-1, 3)
    return TripleList(rows, tuple(place), title, lines, notes)


def folder_files(folder: Path) -> dict[str, Path] | None:
    """Return the files of the parts in a folder of triples, or None if it has no ``train`` and ``test`` file.

    The endings ``.txt``, ``.tsv`` and ``.csv`` are known, also with ``.gz``. ``valid`` may be missing.
    """
    if not folder.is_dir():
        return None
    endings = [ending + packed for packed in ("", ".gz") for ending in (".txt", ".tsv", ".csv")]
    found = {}
    for part in PARTS:
        here = [folder / f"{part}{ending}" for ending in endings if (folder / f"{part}{ending}").is_file()]
        if len(here) > 1:
            raise InputError(f"{folder} has both {here[0].name} and {here[1].name}: leave one of them")
        if here:
            found[part] = here[0]
        elif part == "valid":
            # Without this, a pipe or a link to nowhere would pass for a folder without validation triples.
            there = [folder / f"{part}{ending}" for ending in endings]
            for place in there:
                if os.path.lexists(place):
                    raise InputError(f"{place} is not a regular file")
    return found if {"train", "test"} <= set(found) else None


def missing_files(folder: Path) -> str:
    """Say why a folder is not one of triples: which of ``train.txt`` and ``test.txt`` is missing."""
    for part in ("train", "test"):
        others = [place for place in (folder / f"{part}.txt", folder / f"{part}.tsv") if place.exists()]
        if others and not others[0].is_file():
            return f"{folder} is not a folder of triples: {others[0].name} is not a regular file"
    absent = [f"{part}.txt" for part in ("train", "test") if not any(folder.glob(f"{part}.*"))]
    return f"{folder} is not a folder of triples: it has no {' and no '.join(absent or ['train.txt'])}"
