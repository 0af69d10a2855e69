"""Typed graphs from tables: one for each node type, and one for each relation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole, must_be
from trueedge.files.tables import Table, as_table, is_missing
from trueedge.files.text import shown
from trueedge.graph.typed_parts import Labels, Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.graph.validation import MAX_NODES

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph

OWNER = "HeteroGraph.from_tables"
ENDS = ("source", "target")


def from_tables(
    cls: type[HeteroGraph],
    nodes: Mapping[str, Any],
    edges: Mapping[tuple[str, str, str], Any],
    *,
    id: str = "id",
    label: str | None = None,
    test: str | None = None,
    features: Mapping[str, Any] | None = None,
    name: str = "typed graph",
) -> HeteroGraph:
    """Build a typed graph from a table for each node type and each relation.

    A table is a dict of columns, a data frame (pandas, polars, pyarrow), or the path of a csv or parquet
    file. Columns of numbers in a table of nodes, other than those named here, are features; columns of text
    are left out, and a note says so.

    >>> nodes = {"author": {"id": ["ann", "bob"], "age": [41, 30]}, "paper": 3}
    >>> edges = {("author", "writes", "paper"): {"source": ["ann", "bob"], "target": [0, 2]}}
    >>> HeteroGraph.from_tables(nodes, edges)
    HeteroGraph(typed graph: 5 nodes of 2 types, 2 edges of 1 relations)

    Args:
        cls: the class to build.
        nodes: for each node type a table, or the number of its nodes.
        edges: for each (source type, relation, target type) a table with the columns ``source`` and
            ``target`` (or just two columns), or an array (m, 2). Ends are ids of the node tables.
        id: the column with the ids of nodes, numbers or names; without it, they are 0, 1, 2, …
        label: the column with the class of each node, a list for several classes, or 0 or 1 for each class,
            (nodes, classes); nodes without one have no label. Only one node type can have it.
        test: the column that says which labelled nodes are the test part (true or 1).
        features: for some node types an array or scipy sparse matrix (nodes, d), instead of columns.
        name: the name of the graph.
    """
    for argument, given in (("nodes", nodes), ("edges", edges)):
        if not isinstance(given, Mapping) or not given:
            raise must_be(argument, OWNER, "a dict that is not empty", given)
    kinds = [_NodeKind.of(kind, given, id) for kind, given in nodes.items()]
    starts = np.concatenate([[0], np.cumsum([kind.count for kind in kinds])]).astype(np.int64)
    if not 0 < starts[-1] <= MAX_NODES:
        raise InputError(f"{OWNER}: there are {starts[-1]:,} nodes, a graph has 1 to {MAX_NODES:,}")
    notes: list[str] = []
    relations, pairs = _edges(edges, kinds, starts, notes)
    given_features = _given_features(features, nodes)
    tables = [given_features.get(kind.name, _columns(kind, {id, label, test}, notes)) for kind in kinds]
    named = any(kind.names is not None for kind in kinds)
    texts = [kind.names if kind.names is not None else map(str, range(kind.count)) for kind in kinds]
    return cls(
        node_types=tuple(nodes),
        starts=starts,
        relations=relations,
        edges=pairs,
        features=tuple(tables),
        labels=_labels(kinds, starts, label, test),
        names=tuple(text for part in texts for text in part) if named else None,
        name=name,
        notes=tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class _NodeKind:
    """The nodes of one type.

    Attributes:
        name: the type.
        count: the number of its nodes.
        table: their table, or None.
        names: their ids as texts, or None if they are 0, 1, 2, …
        places: the number of each id; None if they are 0, 1, 2, …
    """

    name: str
    count: int
    table: Table | None = None
    names: tuple[str, ...] | None = None
    places: Mapping[str, int] | None = None

    @classmethod
    def of(cls, name: object, given: object, id: str) -> _NodeKind:
        if not isinstance(name, str) or not name:
            raise InputError(f"{OWNER}: the name of a node type must be a text, got {name!r}")
        if is_whole(given):
            if not 0 <= given <= MAX_NODES:
                raise InputError(f"{OWNER}: {name!r} must have 0 to {MAX_NODES:,} nodes, got {given}")
            return cls(name, int(given))
        table = as_table(given, f"the nodes of {name!r}")
        if not table.columns:
            raise InputError(f"{table.title} have no columns")
        if id not in table.columns:
            return cls(name, len(table), table)
        names = _ids(table.columns[id], table.title, id)
        places = {one: number for number, one in enumerate(names)}
        if len(places) < len(names):
            twice = next(one for one, count in Counter(names).items() if count > 1)
            raise InputError(f"{table.title}: the id {shown(twice)} occurs again")
        numbered = all(one == str(number) for number, one in enumerate(names))
        return cls(name, len(names), table, None if numbered else names, None if numbered else places)

    def find(self, ids: NDArray[Any], title: str, column: str) -> NDArray[np.int64]:
        """Return the numbers of some ids."""
        if self.places is None and ids.dtype.kind in "iu":
            found = ids.astype(np.int64)
        else:
            texts = _ids(ids, title, column)
            if self.places is not None:
                found = np.array([self.places.get(one, -1) for one in texts], dtype=np.int64)
            else:
                found = np.array([int(one) if one.isdecimal() and len(one) < 10 else -1 for one in texts])
        wrong = (found < 0) | (found >= self.count)
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(
                f"{title}, row {row}: the {column} {shown(str(ids[row]))} is not a node of type {self.name!r}"
            )
        return found.astype(np.int64)


def _ids(values: NDArray[Any], title: str, column: str) -> tuple[str, ...]:
    """Return ids as texts; whole numbers that are stored as floats lose their point."""
    if values.ndim != 1:
        raise InputError(f"{title}: the column {column!r} must hold one value in each row")
    if values.dtype.kind == "f":
        odd = ~(np.floor(values) == values)
        if odd.any():
            row = int(odd.argmax())
            raise InputError(f"{title}, row {row}: the {column} {values[row]} is not an id")
        with np.errstate(invalid="ignore"):
            values = values.astype(np.int64)
    for row, value in enumerate(values.tolist()):
        if is_missing(value):
            raise InputError(f"{title}, row {row}: the {column} is missing")
    return tuple(map(str, values.tolist()))


def _edges(
    edges: Mapping[tuple[str, str, str], Any],
    kinds: Sequence[_NodeKind],
    starts: NDArray[np.int64],
    notes: list[str],
) -> tuple[tuple[Relation, ...], tuple[NDArray[np.int32], ...]]:
    numbers = {kind.name: number for number, kind in enumerate(kinds)}
    for key in edges:
        if not isinstance(key, tuple) or len(key) != 3 or not all(isinstance(part, str) for part in key):
            raise InputError(f"{OWNER}: a relation is (source type, name, target type), got {key!r}")
        for kind in (key[0], key[2]):
            if kind not in numbers:
                known = ", ".join(map(repr, numbers))
                raise InputError(
                    f"{OWNER}: the relation {key} has an end of type {kind!r}; types are: {known}"
                )
    names = Counter(name for _, name, _ in edges)
    relations, found = [], []
    for (source, name, target), given in edges.items():
        title = f"the edges of {name!r}"
        ends = _ends(given, title)
        pairs = np.column_stack(
            [
                kinds[numbers[kind]].find(values, title, column) + starts[numbers[kind]]
                for kind, values, column in zip((source, target), ends, ENDS, strict=True)
            ]
        )
        once, again = sorted_edges(pairs, int(starts[-1]))
        if again:
            notes.append(f"dropped {again:,} repeated edge{'' if again == 1 else 's'} of {name!r}")
        alone = name if names[name] == 1 else f"{source}-{name}-{target}"
        relations.append(Relation(alone, numbers[source], numbers[target]))
        found.append(once)
    return tuple(relations), tuple(found)


def _ends(given: Any, title: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "detach"):
        pairs = _array(given, title)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"{title} must have the shape (m, 2), got {pairs.shape}")
        return pairs[:, 0], pairs[:, 1]
    table = as_table(given, title)
    if not set(ENDS) <= set(table.columns) and len(table.columns) == 2:
        first, second = table.columns.values()
        return first, second
    return table.column(ENDS[0]), table.column(ENDS[1])


def _array(given: Any, title: str) -> NDArray[Any]:
    try:
        return np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    except ValueError:
        raise InputError(f"{title} must be a table whose rows have the same length") from None


def _given_features(features: Mapping[str, Any] | None, nodes: Mapping[str, Any]) -> dict[str, Any]:
    if features is not None and not isinstance(features, Mapping):
        raise must_be("features", OWNER, "a dict with a table for some node types", features)
    found: dict[str, Any] = {}
    for kind, table in (features or {}).items():
        if kind not in nodes:
            raise InputError(f"{OWNER}: features of {kind!r} are given, which is not a node type")
        if hasattr(table, "tocsr"):
            from scipy.sparse import csr_array

            found[kind] = csr_array(table, dtype=np.float32)
        else:
            found[kind] = _array(table, f"{OWNER}: the features of {kind!r}")
            if found[kind].dtype.kind not in "biuf":
                raise InputError(f"{OWNER}: the features of {kind!r} must be numbers")
    return found


def _columns(kind: _NodeKind, taken: set[str | None], notes: list[str]) -> NDArray[np.float32] | None:
    """Return the features of a node type: its columns of numbers."""
    parts = []
    for column, values in (kind.table.columns if kind.table is not None else {}).items():
        if column in taken:
            continue
        if values.dtype.kind not in "biuf":
            notes.append(f"the column {column!r} of {kind.name!r} is not numeric and was left out")
            continue
        part = values.reshape(len(values), -1)
        with np.errstate(over="ignore"):
            rounded = part.astype(np.float32)
        odd = ~np.isfinite(rounded)
        if odd.any():
            row, place = np.argwhere(odd)[0]
            raise InputError(
                f"the nodes of {kind.name!r}, row {row}: the feature {column!r} is {part[row, place]},"
                " not a finite float32"
            )
        parts.append(rounded)
    return np.concatenate(parts, axis=1) if parts else None


def _labels(
    kinds: Sequence[_NodeKind], starts: NDArray[np.int64], label: str | None, test: str | None
) -> Labels | None:
    if label is None:
        if test is not None:
            raise InputError(f"{OWNER}: test={test!r} needs a column of labels: label=…")
        return None
    owners = [n for n, kind in enumerate(kinds) if kind.table is not None and label in kind.table.columns]
    if not owners:
        raise InputError(f"{OWNER}: no table of nodes has the column {label!r}")
    if len(owners) > 1:
        names = " and ".join(repr(kinds[n].name) for n in owners[:2])
        raise InputError(
            f"{OWNER}: only one node type can have labels, but {names} have the column {label!r}"
        )
    kind = kinds[owners[0]]
    assert kind.table is not None
    column = kind.table.columns[label]
    if column.ndim == 2 and column.shape[1] > 1 and column.dtype.kind in "iuf":
        # Read as lists of classes, rows of 0 and 1 would say that every node has the same two.
        column = column.astype(np.bool_) if np.isin(column, (0, 1)).all() else column
    if column.ndim == 2 and column.dtype == np.bool_:  # a column for each class
        given: list[tuple[Any, ...]] = [tuple(np.flatnonzero(row).tolist()) for row in column]
    else:
        given = [_classes_of(value) for value in column.tolist()]
    rows = [row for row, classes in enumerate(given) if classes]
    if not rows:
        raise InputError(f"{kind.table.title}: no node has a label in the column {label!r}")
    classes = sorted({one for row in rows for one in given[row]}, key=lambda one: (isinstance(one, str), one))
    number = {one: place for place, one in enumerate(classes)}
    if any(isinstance(value, (list, tuple, set, np.ndarray)) for value in column.tolist()):
        values: NDArray[Any] = np.zeros((len(rows), len(classes)), dtype=np.bool_)
        for place, row in enumerate(rows):
            values[place, [number[one] for one in given[row]]] = True
    else:
        values = np.array([number[given[row][0]] for row in rows], dtype=np.int32)
    nodes = (np.array(rows) + starts[owners[0]]).astype(np.int32)
    part = None if test is None else _flags(kind.table, test)[rows]
    return Labels(owners[0], nodes, values, tuple(map(str, classes)), part)


def _classes_of(value: Any) -> tuple[Any, ...]:
    """Return the classes in a cell: none, one, or those of a list."""
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return tuple(one for part in value for one in _classes_of(part))
    if is_missing(value):
        return ()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return (value if isinstance(value, (int, float)) else str(value),)


def _flags(table: Table, column: str) -> NDArray[np.bool_]:
    values = table.column(column)
    words = {"true": True, "1": True, "false": False, "0": False}
    found = []
    for row, value in enumerate(values.tolist()):
        text = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip().lower()
        if text not in words:
            raise InputError(f"{table.title}, row {row}: {column} must be true or false, got {value!r}")
        found.append(words[text])
    return np.array(found, dtype=np.bool_)
