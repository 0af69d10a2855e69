"""Node features from files: .npy, .npz and text."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.arrays import read_array
from trueedge.files.number_fields import is_number_field
from trueedge.files.text import open_text, shown
from trueedge.graph.graph import Graph
from trueedge.graph.validation import check_features
from trueedge.html import counted

TEXT = (".csv", ".tsv")
# A column with so many names of nodes holds names of nodes.
MOST_NAMED = 0.9


def with_features(graph: Graph, features: object) -> Graph:
    """Return a graph with other features.

    Args:
        graph: the graph.
        features: float array (n, d); or a .npy file with one, a .npz file with nothing else, or a text file
            (.csv, .tsv) with a line for each node. If the first column of a text file holds the names
            of all nodes, lines may be in any order; else they are in the order of the nodes. Lines of other
            nodes are left out, and a note of the graph says so.
    """
    if not isinstance(features, (str, os.PathLike)):
        return replace(graph, features=check_features(features, graph.num_nodes))
    text = os.fspath(features)
    if not text.strip():
        raise InputError("the path of the features is empty: name a .npy file")
    notes: tuple[str, ...] = ()
    if Path(text).suffix.lower() in TEXT:
        table, notes = _text_table(Path(text), graph)
    else:
        table = _array(Path(text))
    try:
        checked = check_features(table, graph.num_nodes)
        return replace(graph, features=checked, notes=(*graph.notes, *notes))
    except InputError as error:
        raise InputError(f"{features}: {error}") from None


def _array(path: Path) -> NDArray[Any]:
    """Return the table of a .npy file, or of a .npz file that holds nothing else."""
    if path.suffix.lower() != ".npz":
        return read_array(path)
    arrays = read_archive(path)
    if len(arrays) != 1:
        raise InputError(
            f"{path} holds {len(arrays)} arrays instead of one table of features: save the table as .npy"
        )
    return next(iter(arrays.values()))


def _text_table(path: Path, graph: Graph) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the numbers of a text file, a row for each node in the order of the nodes, and notes."""
    rows = [
        (number, _fields(line))
        for number, line in enumerate(open_text(path).data.decode().splitlines(), 1)
        if line.strip()
    ]
    # A line of column names has no number beside the name of a node.
    if rows and not any(is_number_field(value) for value in rows[0][1][1:] or rows[0][1]):
        rows = rows[1:]
    names = graph.labels if graph.labels is not None else tuple(map(str, range(graph.num_nodes)))
    place = {name: node for node, name in enumerate(names)}
    listed = [place.get(fields[0], -1) for _, fields in rows]
    named = _are_named(rows, listed, graph.num_nodes)
    notes: tuple[str, ...] = ()
    if named:
        _refuse_missing(path, names, rows, listed)
        notes = _left_out(path, rows, listed)
        rows = [row for row, node in zip(rows, listed, strict=True) if node >= 0]
    if len(rows) != graph.num_nodes:
        raise InputError(
            f"{path} has {len(rows)} rows of features, but {graph.name} has {graph.num_nodes} nodes: each"
            " node needs one row, in the order of the nodes or with its name in the first column"
        )
    table = [_numbers(path, number, fields[1:] if named else fields) for number, fields in rows]
    width = len(table[0])
    odd = next((place for place, row in enumerate(table) if len(row) != width), None)
    if odd is not None:
        raise InputError(f"{path}: line {rows[odd][0]} has {counted(len(table[odd]), 'number')}, not {width}")
    found = np.array(table, dtype=np.float64).reshape(len(table), width)
    return found[np.argsort([node for node in listed if node >= 0])] if named else found, notes


def _are_named(rows: Sequence[tuple[int, list[str]]], listed: Sequence[int], num_nodes: int) -> bool:
    """Return whether the first column holds names of nodes: all of them, or nearly all, or texts.

    Args:
        rows: the number and the fields of each line.
        listed: the node that the first field of each line names, or -1.
        num_nodes: the number of nodes.
    """
    if not rows or len(rows[0][1]) < 2 or max(listed) < 0:
        return False
    if any(
        node >= 0 and not is_number_field(fields[0]) for (_, fields), node in zip(rows, listed, strict=True)
    ):
        return True
    # A feature may be a whole number, too, but not another one in each row.
    distinct = len({fields[0] for _, fields in rows})
    known = sum(node >= 0 for node in listed)
    if distinct == len(rows) > num_nodes == known:
        return True  # a row for each node, and others
    return min(distinct, known) >= MOST_NAMED * len(rows)


def _refuse_missing(
    path: Path, names: Sequence[str], rows: Sequence[tuple[int, list[str]]], listed: Sequence[int]
) -> None:
    """Raise an InputError for a node that has no row, or two."""
    seen: set[int] = set()
    for (number, _), node in zip(rows, listed, strict=True):
        if node in seen:
            raise InputError(f"{path}: line {number}: the node {shown(names[node])} has a row already")
        seen.update([node] if node >= 0 else [])
    left = [name for node, name in enumerate(names) if node not in seen]
    if left:
        more = f" and {counted(len(left) - 1, 'other')}" if len(left) > 1 else ""
        raise InputError(
            f"{path} has no row of features for the node {shown(left[0])}{more}; its first column holds names"
            " of nodes"
        )


def _left_out(path: Path, rows: Sequence[tuple[int, list[str]]], listed: Sequence[int]) -> tuple[str, ...]:
    """Return a note on lines of nodes that the graph does not have, if there are any."""
    unknown = [row for row, node in zip(rows, listed, strict=True) if node < 0]
    if not unknown:
        return ()
    number, fields = unknown[0]
    one = f"{shown(fields[0])} (line {number})"
    if len(unknown) == 1:
        return (f"left out 1 row of {path.name}: the graph has no node {one}",)
    return (
        f"left out {len(unknown):,} rows of {path.name}: the graph has no such nodes, the first is {one}",
    )


def _fields(line: str) -> list[str]:
    separator = next((mark for mark in ("\t", ";", ",") if mark in line), None)
    return [field.strip().strip('"') for field in line.split(separator)]


def _numbers(path: Path, line: int, fields: list[str]) -> list[float]:
    for field in fields:
        if not is_number_field(field):
            raise InputError(f"{path}: line {line}: {shown(field)} is not a number")
        if not math.isfinite(float(field)):
            raise InputError(f"{path}: line {line}: {shown(field)} is not a finite number")
    return [float(field) for field in fields]
