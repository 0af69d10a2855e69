"""Which columns of a table are the two ends of an edge, its weight and its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from trueedge.errors import InputError, is_whole, must_be
from trueedge.files.text import plain
from trueedge.graph import column_names
from trueedge.graph.column_values import Column, alike

TRIPLES = "; for triples, use the protocol filtered, or te.KnowledgeGraph.from_triples"


@dataclass(frozen=True)
class EdgeFormat:
    """How an edge list is written. What is None is detected.

    Attributes:
        header: whether the first line names the columns.
        source: the column of the first end: its name, or its number from 0.
        target: the column of the second end.
        weight: the column that is kept as ``edge_data["weight"]``.
        time: the column that is kept as ``edge_data["time"]``.
        bipartite: whether the two ends are nodes of two kinds, so that user 1 and item 1 are two nodes.
    """

    header: bool | None = None
    source: str | int | None = None
    target: str | int | None = None
    weight: str | int | None = None
    time: str | int | None = None
    bipartite: bool | None = None

    @property
    def columns(self) -> dict[str, str | int]:
        """Return the columns that are given, by what they are."""
        found = {one: getattr(self, one) for one in ("source", "target", "weight", "time")}
        return {role: column for role, column in found.items() if column is not None}

    def check(self, owner: str) -> None:
        """Raise an InputError for options that cannot be right for any file."""
        for name in ("header", "bipartite"):
            if getattr(self, name) not in (None, True, False):
                raise must_be(name, owner, "True, False or None", getattr(self, name))
        for role, column in self.columns.items():
            if not isinstance(column, str) and not (is_whole(column) and column >= 0):
                raise must_be(role, owner, "a column's name, or its number from 0", column)
        if (self.source is None) != (self.target is None):
            given, other = ("source", "target") if self.target is None else ("target", "source")
            raise InputError(
                f"{owner}: {given}= is given, but {other}= is not: give both columns, or neither"
            )


@dataclass(frozen=True)
class Preview:
    """What is known of a table before it is read.

    Attributes:
        where: the file or object, for messages.
        names: the names of the columns, if there are any.
        columns: a sample of the values of each column.
    """

    where: str
    names: tuple[str, ...] | None
    columns: tuple[Column, ...]

    def say(self, column: int) -> str:
        """Return the name of a column, or its number."""
        return str(column) if self.names is None else plain(self.names[column]) or str(column)

    def listed(self) -> str:
        """Return what the columns are called."""
        if self.names is None:
            return f"{len(self.columns)} columns, 0 to {len(self.columns) - 1}"
        return f"the columns {', '.join(plain(name) or repr(name) for name in self.names)}"


@dataclass(frozen=True)
class Layout:
    """Where the parts of an edge are.

    Attributes:
        ends: the columns of the two ends.
        extras: the columns of ``weight`` and ``time``, if there are any.
        found: of these, the ones that the user has not named, with what the column is called.
        titles: the names of the columns of the two ends, if they have any.
        directed: whether a column says that the edges are directed.
        notes: decisions the user should know of.
    """

    ends: tuple[int, int]
    extras: dict[str, int] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    titles: tuple[str, str] | None = None
    directed: bool = False
    notes: tuple[str, ...] = ()


def find_layout(preview: Preview, asked: EdgeFormat) -> Layout:
    """Return where the parts of an edge are; ask if that cannot be told.

    Args:
        preview: the table's names and some of its values.
        asked: the columns that the user has named.
    """
    given = {role: place_of(preview, role, column) for role, column in asked.columns.items()}
    _refuse_twice(preview, given)
    notes: list[str] = []
    extras: dict[str, int] = {role: given[role] for role in ("weight", "time") if role in given}
    if "source" in given:
        ends = given["source"], given["target"]
    else:
        ends = _find_ends(preview, set(extras.values()), notes)
        _refuse_same_name(preview, ends)
        if ends != (0, 1):
            notes.append(f"the ends of an edge are in the columns {_both(preview, ends)}")
    for role in ("weight", "time"):
        found = None if role in extras else _find_extra(preview, role, {*ends, *extras.values()})
        if found is not None:
            extras[role] = found
    notes += _not_read(preview, ends, extras)
    said = {role: preview.say(place) for role, place in extras.items() if role not in given}
    titles = None if preview.names is None else (preview.say(ends[0]), preview.say(ends[1]))
    return Layout(ends, extras, said, titles, _says_directed(preview), tuple(notes))


def place_of(preview: Preview, role: str, column: str | int) -> int:
    """Return the place of a column that the user has given by name or number."""
    names = preview.names or ()
    if isinstance(column, str):
        exact = [place for place, name in enumerate(names) if name == column]
        loose = exact or [place for place, name in enumerate(names) if name.casefold() == column.casefold()]
        if len(loose) > 1:
            raise InputError(
                f"{preview.where}: several columns are called {column!r}; give {role} as a number"
            )
        if loose:
            return loose[0]
        if not (column.isascii() and column.isdigit()):
            raise InputError(
                f"{preview.where} has no column {column!r} for {role}: it has {preview.listed()}"
            )
    place = int(column) if len(str(column)) < 10 else len(preview.columns)
    if place >= len(preview.columns):
        raise InputError(f"{preview.where} has no column {column} for {role}: it has {preview.listed()}")
    return place


def _refuse_twice(preview: Preview, given: dict[str, int]) -> None:
    first: dict[int, str] = {}
    for role, place in given.items():
        if place in first:
            both = f"{first[place]} and {role}"
            raise InputError(f"{preview.where}: {both} are the same column, {preview.say(place)}")
        first[place] = role


def _refuse_same_name(preview: Preview, ends: tuple[int, int]) -> None:
    """Ask which column is meant if another one has the name of an end."""
    names = [name.casefold() for name in preview.names or ()]
    for place in ends:
        if names and names[place] and names.count(names[place]) > 1:
            _ask(preview, f"several columns are called {preview.say(place)!r}", " by number")


def _find_ends(preview: Preview, taken: set[int], notes: list[str]) -> tuple[int, int]:
    names = preview.names
    left = [place for place in range(len(preview.columns)) if place not in taken]
    if names is None:
        return _ends_by_values(preview, left, notes)
    if not names[0] and set(preview.columns[0].values) <= set(names[1:]):
        _ask(preview, "its rows have the same names: it may be an adjacency matrix, not an edge list")
    pairs = [pair for pair in column_names.end_pairs(names) if not taken.intersection(pair)]
    if len(pairs) == 1:
        return pairs[0]
    if len(pairs) > 1:
        shown = " or ".join(_both(preview, pair) for pair in pairs)
        _ask(preview, f"the ends of an edge may be {shown}")
    if _is_index(preview):
        left = [place for place in left if place != 0]
    ids = [place for place in left if column_names.is_id(names[place])]
    if len(ids) == 2:
        return ids[0], ids[1]
    open_ = [place for place in left if not column_names.is_attribute(names[place])]
    possible = [place for place in open_ if preview.columns[place].may_be_ids]
    weak = [pair for pair in column_names.weak_pairs(names) if not taken.intersection(pair)]
    if len(weak) == 1 and set(possible) <= set(weak[0]):
        return weak[0]
    if len(possible) == 2:
        return possible[0], possible[1]
    if len(open_) == 2:
        return open_[0], open_[1]  # an error names the value that is not an id
    return _ask(preview, "no two of them have the names of the ends of an edge")


def _ends_by_values(preview: Preview, left: list[int], notes: list[str]) -> tuple[int, int]:
    """Return the two ends by the values alone; the first two columns unless something speaks against it."""
    columns = preview.columns
    # A first or second column with gaps lacks ids: an error names the line.
    ids = [p for p in left if columns[p].may_be_ids or (columns[p].kind == "gaps" and p in left[:2])]
    possible = [place for place in ids if not columns[place].is_constant]
    possible = possible if len(possible) > 1 else ids
    if len(possible) < 2:
        if len(left) < 2:
            _ask(preview, "there are no two columns of ids")
        return left[0], left[1]  # an error names the value that is not an id
    later_times = [place for place in possible if place > 1 and columns[place].is_time]
    if later_times and not any(columns[place].is_time for place in left if place not in later_times):
        possible = [place for place in possible if place not in later_times]
    first, second, *others = possible
    if not others:
        # A constant column between or before them may be a relation, or one end of a star.
        if any(
            columns[place].is_constant and columns[place].may_be_ids
            for place in range(second)
            if place != first
        ):
            _ask(preview, "it is not clear which two are the ends of an edge", TRIPLES)
        return first, second
    kinds = [columns[place].kind for place in (first, second)]
    different = kinds[0] == kinds[1] and all(columns[place].kind != kinds[0] for place in others)
    if (first, second) == (left[0], left[1]) and different:
        return first, second
    if first == 0 and columns[0].is_row_number and _same_names(columns, possible[1:]):
        notes.append("the first column counts the rows, and is not read")
        return possible[1], possible[2]
    if (first, second) == (left[0], left[1]) and _stand_out(columns, first, second, others):
        return first, second
    hint = TRIPLES if any(columns[place].kind == "text" for place in possible) else ""
    return _ask(preview, "it is not clear which two are the ends of an edge", hint)


def _same_names(columns: Sequence[Column], places: list[int]) -> bool:
    """Return whether two columns hold names, some of them in common, unlike a relation and a node."""
    if [columns[place].kind for place in places] != ["text", "text"]:
        return False
    return not set(columns[places[0]].values).isdisjoint(columns[places[1]].values)


def _stand_out(columns: Sequence[Column], first: int, second: int, others: list[int]) -> bool:
    """Return whether the ids of two columns are from the same range, and those of the others are not."""
    near = alike(columns[first], columns[second])
    others = [place for place in others if columns[place].kind == columns[first].kind]
    return near > 0.3 and all(
        near > 3 * alike(columns[end], columns[place]) for end in (first, second) for place in others
    )


def _find_extra(preview: Preview, role: str, taken: set[int]) -> int | None:
    """Return the column of the weight or time, if its name says so; without names, only a clear time."""
    columns, names = preview.columns, preview.names
    left = [place for place in range(len(columns)) if place not in taken]
    if names is None:
        times = [place for place in left if columns[place].is_time]
        return times[0] if role == "time" and len(times) == 1 else None
    words = column_names.WEIGHTS if role == "weight" else column_names.TIMES
    fits = [
        place
        for place in left
        if columns[place].is_number or (role == "time" and columns[place].kind == "date")
    ]
    named = [place for place in fits if column_names.plain_name(names[place]) in words]
    exact = [place for place in named if column_names.plain_name(names[place]) == role]
    return next(iter(exact if len(named) > 1 else named), None)


def _not_read(preview: Preview, ends: tuple[int, int], extras: dict[str, int]) -> list[str]:
    left = [place for place in range(len(preview.columns)) if place not in {*ends, *extras.values()}]
    notes = []
    if 0 in left and _is_index(preview):
        notes.append("the first column is an index, and is not read")
        left.remove(0)
    if left and not extras and ends == (0, 1):
        return [*notes, "only the first 2 columns are read"]
    noun = "column " if preview.names is None else ""
    return (
        [*notes, f"not read: {', '.join(f'{noun}{preview.say(place)}' for place in left)}"] if left else notes
    )


def _is_index(preview: Preview) -> bool:
    """Return whether the first column is an index, as pandas writes it: row numbers without a name."""
    name = "x" if preview.names is None else column_names.plain_name(preview.names[0])
    return name in ("", "unnamed0") or (name == "index" and preview.columns[0].is_row_number)


def _says_directed(preview: Preview) -> bool:
    """Return whether a column ``Type`` says that the edges are directed, as Gephi writes it."""
    typed = [
        place for place, name in enumerate(preview.names or ()) if column_names.plain_name(name) == "type"
    ]
    return any(set(map(str.casefold, preview.columns[place].values)) == {"directed"} for place in typed)


def _both(preview: Preview, ends: tuple[int, int]) -> str:
    return " and ".join(map(preview.say, ends))


def _ask(preview: Preview, why: str, hint: str = "") -> NoReturn:
    header = "" if preview.names is not None else ", and no header"
    raise InputError(
        f"{preview.where} has {preview.listed()}{header}; {why}:"
        f" name the two columns with source and target (--source, --target){hint}"
    )
