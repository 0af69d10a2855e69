"""Edges in tables with named columns: frames of pandas, JSON lines and Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.records import Records
from trueedge.files.text import shown
from trueedge.graph.column_values import Column
from trueedge.graph.edge_columns import EdgeFormat, Layout, Preview, find_layout
from trueedge.graph.edge_values import kept_values
from trueedge.graph.numbering import number_values, renumbering_note
from trueedge.graph.pairs import from_one
from trueedge.graph.two_kinds import tell_apart

SAMPLE = 2000


class TableEdges:
    """The edges of a table.

    Attributes:
        pairs: int64 array (m, 2), in the order and direction of the table.
        num_nodes: the number of nodes n.
        labels: the nodes' ids in the table, n of them, or None where they are ``0..n-1``.
        sides: the two sides, if the columns are of two kinds; else None.
        edge_data: float64 (m,) for ``weight`` and ``time``, if they are there.
        layout: where they were found.
        notes: decisions the user should know of.
    """

    def __init__(self, records: Records, asked: EdgeFormat, num_nodes: int | None = None) -> None:
        """Find the edges.

        Args:
            records: the table.
            asked: the columns that the user has named.
            num_nodes: the number of nodes; every id must then be a whole number below it.
        """
        if not len(records):
            raise InputError(f"{records.where} is empty: it has no edges")
        if asked.header is not None:
            raise InputError(f"{records.where}: header is for text files; this table has names of columns")
        if len(records.names) < 2:
            raise InputError(f"{records.where} has one column, but an edge has two ends")
        self.layout: Layout = find_layout(_preview(records), asked)
        first, second = (records.columns[place] for place in self.layout.ends)
        ids, count, labels = number_values(first, second, records.place)
        if num_nodes is not None:
            ids, count, labels = _as_they_are(records, first, second, num_nodes), num_nodes, None
        found = tell_apart(
            ids, count, labels, self.layout.titles, asked.bipartite, fixed=num_nodes is not None
        )
        self.pairs: NDArray[np.int64] = found.pairs
        self.num_nodes, self.labels = found.num_nodes, found.labels
        self.sides = found.sides
        whole = _are_numbers(first) and _are_numbers(second)
        renumbered = renumbering_note(labels) if whole and found.labels == labels else ()
        extras = [records.columns[place] for place in self.layout.extras.values()]
        self.edge_data, kept = kept_values(self.layout, extras, records.place)
        self.notes = (*self.layout.notes, *kept, *renumbered, *found.notes)


def _preview(records: Records) -> Preview:
    columns = [[_written(value) for value in list(column[:SAMPLE])] for column in records.columns]
    return Preview(records.where, records.names, tuple(Column(column, len(column)) for column in columns))


def _written(value: Any) -> str:
    """Return a value as a text file would have it."""
    missing = value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
    return "" if missing else str(value).strip()


def _are_numbers(values: Any) -> bool:
    return np.asarray(values[:1]).dtype.kind in "iuf"


def _as_they_are(records: Records, first: Any, second: Any, num_nodes: int) -> NDArray[np.int64]:
    """Return ids that are node numbers already."""
    for values in (first, second):
        named = next((row for row, value in enumerate(values) if isinstance(value, str)), None)
        if named is not None:
            raise InputError(f"{records.place(named)}: {shown(str(values[named]))} is not a whole number")
    ids = np.stack([np.asarray(values).astype(np.int64) for values in (first, second)], axis=1)
    past = (ids >= num_nodes).any(axis=1)
    if past.any():
        row = int(past.argmax())
        what = f"the id {ids[row].max()} is outside 0..{num_nodes - 1}"
        raise InputError(f"{records.place(row)}: {what}{from_one(ids, num_nodes)}")
    return ids
