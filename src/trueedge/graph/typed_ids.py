"""The ids of nodes in tables: which column has them, and the node that an id means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole, must_be
from trueedge.files.tables import UNNAMED, Table, as_table, is_missing
from trueedge.files.text import shown
from trueedge.graph import column_names
from trueedge.graph.validation import MAX_NODES

OWNER = "HeteroGraph.from_tables"
ID = "id"


@dataclass(frozen=True, eq=False)
class NodeKind:
    """The nodes of one type.

    Attributes:
        name: the type.
        count: the number of its nodes.
        table: their table, or None.
        id: the column of the table that has their ids; None: ids are the numbers of rows.
        names: their ids as texts, or None if they are 0, 1, 2, …
        places: the number of each id; None if they are 0, 1, 2, …
        wanted: the column that should have the ids.
        others: the columns that have the ids of other types.
    """

    name: str
    count: int
    table: Table | None = None
    id: str | None = None
    names: tuple[str, ...] | None = None
    places: Mapping[str, int] | None = None
    wanted: str = ID
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def held(self) -> Table | int:
        """The table of the nodes, or their number if they have none."""
        return self.count if self.table is None else self.table

    def numbers(self, table: Table, column: str, noun: str) -> NDArray[np.int64]:
        """Return the number of each id in a column of a table; one that is no node is refused."""
        ids = table.columns[column]
        found = self.find(ids, table, noun)
        wrong = found < 0
        if wrong.any():
            row = int(wrong.argmax())
            more = ""
            if self.table is not None and self.id is None:
                more = (
                    f": its ids are the numbers of its rows, 0 to {self.count - 1}, because no column of"
                    f" {self.table.title} is named {self.wanted!r}; pass"
                    f" {self._choice(self._likely())} to name another"
                )
            raise InputError(
                f"{table.place(row)}: the {noun} {shown(str(ids[row]))} is not a node of type"
                f" {self.name!r}{more}"
            )
        return found

    def find(self, ids: NDArray[Any], table: Table, noun: str) -> NDArray[np.int64]:
        """Return the number of each id, -1 if it is no node."""
        if self.places is None and ids.dtype.kind in "iu":
            found = ids.astype(np.int64)
        else:
            texts = _texts(ids, table, noun)
            if self.places is not None:
                found = np.array([self.places.get(one, -1) for one in texts], dtype=np.int64)
            else:
                found = np.array([int(one) if one.isdecimal() and len(one) < 10 else -1 for one in texts])
        return np.where((found < 0) | (found >= self.count), -1, found).astype(np.int64)

    def note(self) -> str:
        """Return a sentence if ids are the numbers of rows, but a column may have been meant; or ''."""
        if self.table is None or self.id is not None:
            return ""
        likely = self._likely()
        if likely is None:
            return ""
        return (
            f"no column of {self.table.title} is named {self.wanted!r}, so the ids of {self.name!r} are the"
            f" numbers of the rows, 0 to {self.count - 1}; if the column {likely!r} has them, pass"
            f" {self._choice(likely)}"
        )

    def _likely(self) -> str | None:
        """Return the first column that may have the ids."""
        columns = {} if self.table is None else self.table.columns
        return next(
            (name for name, values in columns.items() if name not in UNNAMED and _may_be_ids(name, values)),
            None,
        )

    def _choice(self, column: str | None) -> str:
        """Return the argument ``id`` that names this column, and changes no other type."""
        text = "…" if column is None else repr(column)
        if not self.others:
            return f"id={text}"
        named = {name: repr(other) for name, other in self.others.items() if other != ID} | {self.name: text}
        return f"id={{{', '.join(f'{name!r}: {one}' for name, one in named.items())}}}"


def read_kinds(nodes: Mapping[str, Any], id: str | Mapping[str, str] | None) -> list[NodeKind]:
    """Return the nodes of each type.

    Args:
        nodes: for each node type a table, or the number of its nodes.
        id: the column with the ids, or that of some types; None: ``id``.
    """
    tables = {name: _table(name, given) for name, given in nodes.items()}
    chosen = columns_by_type("id", id, tables)
    wanted = {name: chosen.get(name, id if isinstance(id, str) else ID) for name in tables}
    there = {
        name: column
        for name, table in tables.items()
        if isinstance(table, Table) and (column := _id_column(table, wanted[name])) is not None
    }
    kinds = []
    for name, table in tables.items():
        if not isinstance(table, Table):
            kinds.append(NodeKind(name, table))
        elif name in there:
            kinds.append(_of_table(name, table, there[name]))
        else:
            kinds.append(NodeKind(name, len(table), table, wanted=wanted[name], others=there))
    return kinds


def _id_column(table: Table, wanted: str) -> str | None:
    """Return the column with the ids: the one that is wanted, or an index that has a name, or None."""
    index = table.index
    if wanted in table.columns or index is None:
        return wanted if wanted in table.columns else None
    if index not in UNNAMED:
        return index
    values = table.columns[index]
    if values.dtype.kind in "iuf" and np.array_equal(values, np.arange(len(values))):
        return None
    raise InputError(
        f"{table.title}: no column is named {wanted!r}, and the index is not 0, 1, 2, …: if it has the ids,"
        f" give it the name {wanted!r}, otherwise leave it out"
    )


def columns_by_type(option: str, given: object, tables: Mapping[str, Table | int]) -> dict[str, str]:
    """Return the column that an option names in each table that has it; refuse one that no table has.

    Args:
        option: the name of the option.
        given: the name of a column, or a dict with its name for some node types, or None.
        tables: the table, or the number of nodes, of each type.
    """
    held = {name: table for name, table in tables.items() if isinstance(table, Table)}
    if given is None:
        return {}
    if isinstance(given, str):
        found = {name: given for name, table in held.items() if given in table.columns}
        if not found:
            raise InputError(f"{OWNER}: {option}={given!r}: no table of nodes has the column {given!r}")
        return found
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given.values()):
        raise must_be(option, OWNER, "the name of a column, or a dict with a name for some node types", given)
    for name, column in given.items():
        if name not in tables:
            raise InputError(f"{OWNER}: {option} names a column of {name!r}, which is not a node type")
        if name not in held:
            raise InputError(f"{OWNER}: {option} names a column of {name!r}, which has no table")
        held[name].column(column)
    return dict(given)


def _table(name: object, given: object) -> Table | int:
    if not isinstance(name, str) or not name:
        raise InputError(f"{OWNER}: the name of a node type must be a text, got {name!r}")
    if is_whole(given):
        if not 0 <= given <= MAX_NODES:
            raise InputError(f"{OWNER}: {name!r} must have 0 to {MAX_NODES:,} nodes, got {given}")
        return int(given)
    table = as_table(given, f"the nodes of {name!r}")
    if not table.columns:
        raise InputError(f"{table.title} have no columns")
    return table


def _of_table(name: str, table: Table, column: str) -> NodeKind:
    names = _texts(table.columns[column], table, column)
    places = {one: number for number, one in enumerate(names)}
    if len(places) < len(names):
        twice = next(one for one, count in Counter(names).items() if count > 1)
        row = [row for row, one in enumerate(names) if one == twice][1]
        raise InputError(f"{table.place(row)}: the id {shown(twice)} occurs again")
    if all(one == str(number) for number, one in enumerate(names)):
        return NodeKind(name, len(names), table, column)
    return NodeKind(name, len(names), table, column, names, places)


def _texts(values: NDArray[Any], table: Table, noun: str) -> tuple[str, ...]:
    """Return ids as texts; whole numbers that are stored as floats lose their point."""
    if values.ndim != 1:
        raise InputError(f"{table.title}: the column {noun!r} must hold one value in each row")
    if values.dtype.kind == "f":
        odd = ~(np.floor(values) == values) | ~(np.abs(values) < 2.0**53)
        if odd.any():
            row = int(odd.argmax())
            why = (
                f"the {noun} is missing"
                if np.isnan(values[row])
                else f"the {noun} {values[row]} is not an id"
            )
            raise InputError(f"{table.place(row)}: {why}")
        values = values.astype(np.int64)
    for row, value in enumerate(values.tolist()):
        if is_missing(value):
            raise InputError(f"{table.place(row)}: the {noun} is missing")
    return tuple(map(str, values.tolist()))


def _may_be_ids(name: str, values: NDArray[Any]) -> bool:
    """Return whether a column may have the ids: each value once, and its name or its numbers say so."""
    if values.ndim != 1 or len(values) < 2 or values.dtype.kind not in "iuOU":
        return False
    texts: Sequence[str] = list(map(str, values.tolist()))
    if len(set(texts)) < len(texts):
        return False
    if name == ID or column_names.is_id(name):
        return True
    return values.dtype.kind in "iu" and bool((np.sort(values) == np.arange(len(values))).all())
