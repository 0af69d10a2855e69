"""Typed graphs from tables: one for each node type, and one for each relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.files.tables import UNNAMED, Table, is_missing
from trueedge.graph.typed_edge_tables import array_of, read_edges
from trueedge.graph.typed_ids import OWNER, NodeKind, columns_by_type, read_kinds
from trueedge.graph.typed_parts import Labels
from trueedge.graph.validation import MAX_NODES

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph

LISTS = (list, tuple, np.ndarray)


def from_tables(
    cls: type[HeteroGraph],
    nodes: Mapping[str, Any],
    edges: Mapping[tuple[str, str, str], Any],
    *,
    id: str | Mapping[str, str] | None = None,
    label: str | Mapping[str, str] | None = None,
    test: str | Mapping[str, str] | None = None,
    features: str | Sequence[str] | Mapping[str, Any] | None = None,
    name: str = "typed graph",
) -> HeteroGraph:
    """Build a typed graph from a table for each node type and each relation.

    A table is a dict of columns, a data frame (pandas, polars, pyarrow), or the path of a csv or parquet
    file. Columns of numbers in a table of nodes, other than those named here, are features; columns of text
    are left out, and a note says so.

    >>> nodes = {"author": {"id": ["ann", "bob"], "age": [41, 30]}, "paper": 3}
    >>> edges = {("author", "writes", "paper"): {"source": ["ann", "bob"], "target": [0, 2]}}
    >>> HeteroGraph.from_tables(nodes, edges)
    HeteroGraph(typed graph: 5 nodes of 2 types, 2 edges of 1 relation)

    Args:
        cls: the class to build.
        nodes: for each node type a table, or the number of its nodes.
        edges: for each (source type, relation, target type) a table with the columns ``source`` and
            ``target``, or an array (m, 2). Ends are ids of the node tables. Columns may also be called as
            the two node types, or nearly so (``papers``, ``idx_author``), or have other usual names such as
            ``src`` and ``dst``; if a table has just two columns whose names say neither, the first has the
            sources, and a note says so.
        id: the column with the ids of nodes, numbers or names, or a dict with its name for some node types;
            by default ``id``. In a table without it, they are the index of a data frame if that has a name,
            otherwise the numbers of the rows, 0, 1, 2, …
        label: the column with the class of each node, a list for several classes, or 0 or 1 for each class,
            (nodes, classes); nodes without one have no label. Only one node type can have it:
            ``{"author": "field"}`` says which.
        test: the column that says which labelled nodes are the test part (true or 1), or a dict with its
            name for the node type that has labels.
        features: the column or the list of columns that are features; or a dict with those of some node
            types, or with an array or scipy sparse matrix (nodes, d) instead of columns. An empty list
            means no features.
        name: the name of the graph.
    """
    for argument, given in (("nodes", nodes), ("edges", edges)):
        if not isinstance(given, Mapping) or not given:
            raise must_be(argument, OWNER, "a dict that is not empty", given)
    kinds = read_kinds(nodes, id)
    starts = np.concatenate([[0], np.cumsum([kind.count for kind in kinds])]).astype(np.int64)
    if not 0 < starts[-1] <= MAX_NODES:
        raise InputError(f"{OWNER}: there are {starts[-1]:,} nodes, a graph has 1 to {MAX_NODES:,}")
    notes = [note for kind in kinds if (note := kind.note())]
    relations, pairs = read_edges(edges, kinds, starts, notes)
    labelled = _labelled(kinds, label, test)
    named = any(kind.names is not None for kind in kinds)
    texts = [kind.names if kind.names is not None else map(str, range(kind.count)) for kind in kinds]
    return cls(
        node_types=tuple(nodes),
        starts=starts,
        relations=relations,
        edges=pairs,
        features=tuple(_features(features, kinds, labelled, notes)),
        labels=None if labelled is None else _labels(labelled, kinds, starts, notes),
        names=tuple(text for part in texts for text in part) if named else None,
        name=name,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Labelled:
    """The node type that has labels.

    Attributes:
        kind: its name.
        label: the column of labels.
        test: the column that says which nodes are the test part, or None.
    """

    kind: str
    label: str
    test: str | None


def _labelled(kinds: Sequence[NodeKind], label: object, test: object) -> _Labelled | None:
    """Return the node type that has labels, or None.

    Args:
        kinds: the nodes of each type.
        label, test: the arguments of :func:`from_tables`.
    """
    held = {kind.name: kind.held for kind in kinds}
    labels = columns_by_type("label", label, held)
    if not labels:
        if test is not None:
            raise InputError(f"{OWNER}: test={test!r} needs a column of labels: label=…")
        return None
    owner, *others = labels
    if others:
        raise InputError(
            f"{OWNER}: only one node type can have labels, but {owner!r} has the column {labels[owner]!r},"
            f" and {others[0]!r} the column {labels[others[0]]!r}; label={{{owner!r}: {labels[owner]!r}}}"
            " chooses one"
        )
    tests = columns_by_type("test", {owner: test} if isinstance(test, str) else test, held)
    if test is not None and set(tests) != {owner}:
        raise must_be("test", OWNER, f"a column of {owner!r} alone, the node type with labels", test)
    return _Labelled(owner, labels[owner], tests.get(owner))


def _features(
    given: object, kinds: Sequence[NodeKind], labelled: _Labelled | None, notes: list[str]
) -> Iterator[Any]:
    """Yield the features of each node type: arrays, columns that are named, or all columns of numbers.

    Args:
        given: ``features`` of :func:`from_tables`.
        kinds: the nodes of each type.
        labelled: the node type whose columns of labels and of the test part are no features.
        notes: columns that are left out are added to them.
    """
    chosen = _features_by_type(given, {kind.name: kind.held for kind in kinds})
    for kind in kinds:
        used = {kind.id, None if kind.table is None else kind.table.index}
        if labelled is not None and labelled.kind == kind.name:
            used |= {labelled.label, labelled.test}
        one = chosen.get(kind.name)
        columns = None if one is None else _names_of_columns(one)
        if one is not None and columns is None:
            yield _array_of_features(one, kind.name)
            continue
        for column in columns or ():
            if column in used:
                raise InputError(
                    f"{OWNER}: the column {column!r} of {kind.name!r} has another use than features"
                )
        yield _columns(kind, used, notes, columns)


def _features_by_type(given: object, held: Mapping[str, Table | int]) -> dict[str, Any]:
    """Return the columns that are features, or an array of features, for the node types that have either.

    Args:
        given: ``features`` of :func:`from_tables`.
        held: the table, or the number of nodes, of each type.
    """
    names = _names_of_columns(given)
    if names is not None:
        found: dict[str, Any] = {name: [] for name in held}
        for column in names:
            for name in columns_by_type("features", column, held):
                found[name].append(column)
        return found
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        allowed = (
            "the name of a column or a list of names, or a dict with them or an array for some node types"
        )
        raise must_be("features", OWNER, allowed, given)
    for name, one in given.items():
        if name not in held:
            raise InputError(f"{OWNER}: features of {name!r} are given, which is not a node type")
        for column in _names_of_columns(one) or ():
            columns_by_type("features", {name: column}, held)
    return dict(given)


def _names_of_columns(given: object) -> list[str] | None:
    """Return the names of columns, given one or a list of them; None if it is something else."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, (list, tuple)) and all(isinstance(one, str) for one in given):
        return list(dict.fromkeys(given))
    return None


def _array_of_features(table: Any, name: str) -> Any:
    if hasattr(table, "tocsr"):
        from scipy.sparse import csr_array

        return csr_array(table, dtype=np.float32)
    found = array_of(table, f"{OWNER}: the features of {name!r}")
    if found.dtype.kind not in "biuf":
        raise InputError(f"{OWNER}: the features of {name!r} must be numbers")
    return found


def _columns(
    kind: NodeKind, taken: set[str | None], notes: list[str], only: Sequence[str] | None = None
) -> NDArray[np.float32] | None:
    """Return the features of a node type: its columns of numbers, or only some."""
    if kind.table is None:
        return None
    parts = []
    for column in kind.table.columns if only is None else only:
        if column in taken:
            if column in UNNAMED and column != kind.id:
                notes.append(f"the column {column!r} of {kind.table.title} is an index and was left out")
            continue
        values = kind.table.columns[column]
        if values.dtype.kind not in "biuf":
            if only is not None:
                raise InputError(
                    f"{OWNER}: the column {column!r} of {kind.name!r} must hold numbers to be a feature"
                )
            notes.append(f"the column {column!r} of {kind.name!r} is not numeric and was left out")
            continue
        part = values.reshape(len(values), -1)
        with np.errstate(over="ignore"):
            rounded = part.astype(np.float32)
        odd = ~np.isfinite(rounded)
        if odd.any():
            row, place = np.argwhere(odd)[0]
            raise InputError(
                f"{kind.table.place(int(row))}: the feature {column!r} is {part[row, place]},"
                " not a finite float32"
            )
        parts.append(rounded)
    return np.concatenate(parts, axis=1) if parts else None


def _labels(
    labelled: _Labelled, kinds: Sequence[NodeKind], starts: NDArray[np.int64], notes: list[str]
) -> Labels:
    """Return the labels.

    Args:
        labelled: the columns of labels and of the test part.
        kinds: the nodes of each type.
        starts: the first node of each type.
        notes: a class that may stand for no label is added to them.
    """
    place = next(number for number, kind in enumerate(kinds) if kind.name == labelled.kind)
    table, label = kinds[place].table, labelled.label
    assert table is not None
    column = table.columns[label]
    cells = (column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column).tolist()
    given = _classes(cells)
    rows = [row for row, classes in enumerate(given) if classes]
    if not rows:
        raise InputError(f"{table.title}: no node has a label in the column {label!r}")
    classes = sorted({one for row in rows for one in given[row]}, key=lambda one: (isinstance(one, str), one))
    number = {one: rank for rank, one in enumerate(classes)}
    if classes[0] == -1:
        notes.append(f"-1 in the column {label!r} of {table.title} is a class; no label is a cell left empty")
    notes += _joined_classes(classes, label, table.title)
    if any(isinstance(cell, (*LISTS, set)) for cell in cells):
        values: NDArray[Any] = np.zeros((len(rows), len(classes)), dtype=np.bool_)
        for at, row in enumerate(rows):
            values[at, [number[one] for one in given[row]]] = True
    else:
        values = np.array([number[given[row][0]] for row in rows], dtype=np.int32)
    nodes = (np.array(rows) + starts[place]).astype(np.int32)
    part = None if labelled.test is None else _flags(table, labelled.test)[rows]
    return Labels(place, nodes, values, tuple(map(str, classes)), part)


def _joined_classes(classes: Sequence[Any], label: str, title: str) -> list[str]:
    """Return a note if texts such as ``a,b`` look like several classes, which are lists in cells.

    They do if all classes have such a mark, or if their parts are classes, too.

    Args:
        classes: all classes.
        label: the column of labels.
        title: the table.
    """
    texts = {one for one in classes if isinstance(one, str)}
    for mark in (",", ";", "|"):
        joined = sorted(one for one in texts if mark in one)
        parts = {part.strip() for one in joined for part in one.split(mark)}
        if joined and (len(joined) == len(classes) or parts <= texts):
            return [
                f"{joined[0]!r} in the column {label!r} of {title} is one class; several classes of a node"
                " are a list in its cell"
            ]
    return []


def _classes(cells: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return the classes of each node, given a class, a list of classes, or 0 or 1 for each class."""
    lists = [cell for cell in cells if isinstance(cell, LISTS)]
    if not _are_flags(lists):
        return [_classes_of(cell) for cell in cells]
    return [tuple(np.flatnonzero(cell).tolist()) if isinstance(cell, LISTS) else () for cell in cells]


def _are_flags(lists: Sequence[Any]) -> bool:
    """Return whether lists have 0 or 1 for each class: as lists of classes, all would have the same two."""
    if len(set(map(len, lists))) != 1 or len(lists[0]) < 2:
        return False
    return all(isinstance(one, (int, float, np.generic)) and one in (0, 1) for each in lists for one in each)


def _classes_of(value: Any) -> tuple[Any, ...]:
    """Return the classes in a cell: none, one, or those of a list."""
    if isinstance(value, (*LISTS, set)):
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
            raise InputError(f"{table.place(row)}: {column} must be true or false, got {value!r}")
        found.append(words[text])
    return np.array(found, dtype=np.bool_)
