"""Typed graphs from tables: one for each node type, and one for each relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.files.tables import Table, is_missing
from trueedge.graph.typed_edge_tables import array_of, read_edges
from trueedge.graph.typed_ids import OWNER, NodeKind, columns_by_type, read_kinds
from trueedge.graph.typed_parts import Labels
from trueedge.graph.validation import MAX_NODES

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph


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
            ``target`` (or just two columns), or an array (m, 2). Ends are ids of the node tables.
        id: the column with the ids of nodes, numbers or names, or a dict with its name for some node types;
            by default ``id``. In a table without it, they are the numbers of the rows, 0, 1, 2, …
        label: the column with the class of each node, a list for several classes, or 0 or 1 for each class,
            (nodes, classes); nodes without one have no label. Only one node type can have it:
            ``{"author": "field"}`` says which.
        test: the column that says which labelled nodes are the test part (true or 1).
        features: the column or the list of columns that are features; or a dict with those of some node
            types, or with an array or scipy sparse matrix (nodes, d) instead of columns.
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
    held = {kind.name: kind.count if kind.table is None else kind.table for kind in kinds}
    labels = columns_by_type("label", label, held)
    tests = {} if test is None else columns_by_type("test", test, held) if labels else {}
    named = any(kind.names is not None for kind in kinds)
    texts = [kind.names if kind.names is not None else map(str, range(kind.count)) for kind in kinds]
    return cls(
        node_types=tuple(nodes),
        starts=starts,
        relations=relations,
        edges=pairs,
        features=tuple(_features(features, kinds, (labels, tests), notes)),
        labels=_labels(kinds, starts, labels, test),
        names=tuple(text for part in texts for text in part) if named else None,
        name=name,
        notes=tuple(notes),
    )


def _features(
    given: object, kinds: Sequence[NodeKind], taken: Sequence[Mapping[str, str]], notes: list[str]
) -> list[Any]:
    """Return the features of each node type: arrays, columns that are named, or all columns of numbers.

    Args:
        given: ``features`` of :func:`from_tables`.
        kinds: the nodes of each type.
        taken: the columns that have another use, by type.
        notes: columns that are left out are added to them.
    """
    tables = {kind.name: kind.count if kind.table is None else kind.table for kind in kinds}
    names = _names_of_columns(given)
    if names is not None:
        for name in names:
            columns_by_type("features", name, tables)
        chosen: dict[str, Any] = {
            kind.name: [name for name in names if kind.table is not None and name in kind.table.columns]
            for kind in kinds
        }
    elif given is None or isinstance(given, Mapping):
        chosen = dict(given or {})
    else:
        allowed = (
            "the name of a column or a list of names, or a dict with them or an array for some node types"
        )
        raise must_be("features", OWNER, allowed, given)
    for name in chosen:
        if name not in tables:
            raise InputError(f"{OWNER}: features of {name!r} are given, which is not a node type")
    found = []
    for kind in kinds:
        used = {one[kind.name] for one in taken if kind.name in one} | {kind.id}
        if kind.name not in chosen:
            found.append(_columns(kind, used, notes))
            continue
        columns = _names_of_columns(chosen[kind.name])
        if columns is None:
            found.append(_array_of_features(chosen[kind.name], kind.name))
            continue
        for column in columns:
            columns_by_type("features", {kind.name: column}, tables)
            if column in used:
                raise InputError(
                    f"{OWNER}: the column {column!r} of {kind.name!r} has another use than features"
                )
        found.append(_columns(kind, used, notes, columns))
    return found


def _names_of_columns(given: object) -> list[str] | None:
    """Return the names of columns, one or a list of them; None if it is something else."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, (list, tuple)) and given and all(isinstance(one, str) for one in given):
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
    kinds: Sequence[NodeKind],
    starts: NDArray[np.int64],
    labels: Mapping[str, str],
    test: Mapping[str, str] | str | None,
) -> Labels | None:
    """Return the labels.

    Args:
        kinds: the nodes of each type.
        starts: the first node of each type.
        labels: the column of labels, by node type.
        test: the column that says which nodes are the test part, or that of the labelled type.
    """
    if not labels:
        if test is not None:
            raise InputError(f"{OWNER}: test={test!r} needs a column of labels: label=…")
        return None
    owner, *others = labels
    label = labels[owner]
    if others:
        raise InputError(
            f"{OWNER}: only one node type can have labels, but {owner!r} has the column {label!r}, and"
            f" {others[0]!r} the column {labels[others[0]]!r}; label={{{owner!r}: {label!r}}} chooses one"
        )
    place = next(number for number, kind in enumerate(kinds) if kind.name == owner)
    kind = kinds[place]
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
    number = {one: rank for rank, one in enumerate(classes)}
    if any(isinstance(value, (list, tuple, set, np.ndarray)) for value in column.tolist()):
        values: NDArray[Any] = np.zeros((len(rows), len(classes)), dtype=np.bool_)
        for at, row in enumerate(rows):
            values[at, [number[one] for one in given[row]]] = True
    else:
        values = np.array([number[given[row][0]] for row in rows], dtype=np.int32)
    nodes = (np.array(rows) + starts[place]).astype(np.int32)
    column_of_test = test.get(owner) if isinstance(test, Mapping) else test
    part = None if column_of_test is None else _flags(kind.table, column_of_test)[rows]
    return Labels(place, nodes, values, tuple(map(str, classes)), part)


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
            raise InputError(f"{table.place(row)}: {column} must be true or false, got {value!r}")
        found.append(words[text])
    return np.array(found, dtype=np.bool_)
