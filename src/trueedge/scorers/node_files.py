"""Files of predicted classes: a label or scores for each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.columns import split_fields
from trueedge.files.number_fields import is_number_field
from trueedge.files.text import TextFile, open_text, shown
from trueedge.graph.typed import HeteroGraph
from trueedge.scorers.class_columns import class_numbers, column_order
from trueedge.scorers.id_readings import most_complete
from trueedge.scorers.pair_titles import title_of_lines

SEPARATORS = "\t;,"
WRITE_CLASSES = "write a node, a tab and its classes with commas between them"
# A line: its number, and its columns.
Row = tuple[int, list[str]]


def read_predictions(
    path: Path,
    graph: HeteroGraph,
    kind: int,
    classes: Sequence[str],
    multi: bool,
    nodes: NDArray[np.int32],
) -> NDArray[Any]:
    """Return the predictions in a file, with a row for each node of the graph.

    A ``.npy`` file holds an array. In a text file, each line has a node (its number, or its name if names
    are unique in its type) and then its class, its classes separated by commas, or a score for each class,
    in the order of the classes unless a header names them in another one;
    lines as the Heterogeneous Graph Benchmark asks for (id, name, type, labels, separated by tabs) are read
    too. What may be the number of one node and the name of another is refused, unless only one of them gives
    a prediction for all nodes that need one.

    Args:
        path: the file.
        graph: the typed graph.
        kind: the node type that is classified.
        classes: the names of the classes; a class is named or numbered.
        multi: whether a node can have several classes.
        nodes: the nodes that need a prediction.
    """
    if path.suffix == ".npy":
        return read_array(path)
    if path.suffix == ".npz":
        raise InputError(f"{path} may hold several arrays: write the predictions to a .npy file")
    text = open_text(path)
    title = title_of_lines(text.lines)
    if title is not None:
        raise InputError(f"{path} holds scores of {title.words}, not predictions of nodes")
    rows = _rows(text)
    numbers = {str(node): node for node in range(graph.num_nodes)}
    submitted = _are_submitted(text, rows, graph, numbers, classes)
    header: Row | None = None
    if submitted:
        rows = [(line, [fields[0], fields[3]]) for line, fields in rows]
        found = [numbers[fields[0]] for _, fields in rows]
    else:
        header, rows = _below_header(rows, graph, kind)
        found = _find_nodes(text, rows, graph, kind, nodes)
    whole, seen = np.zeros((graph.num_nodes, len(classes))), np.zeros(graph.num_nodes, dtype=np.bool_)
    scores = _scores(text, header, rows, classes, multi, submitted)
    for (line, fields), node, row in zip(rows, found, scores, strict=True):
        if seen[node]:
            raise text.error(line, f"node {shown(fields[0])} occurs again")
        whole[node], seen[node] = row, True
    refuse_nonfinite(np.array(scores))
    missing = nodes[~seen[nodes]]
    if len(missing):
        raise InputError(f"{path} has no prediction for node {missing[0]} ({len(missing)} in all)")
    return whole


def refuse_nonfinite(table: NDArray[Any]) -> None:
    """Raise an InputError that counts the nodes with predictions that are NaN or infinite.

    Args:
        table: the predictions as they were given, a row for each node.
    """
    if table.dtype.kind != "f" or not table.ndim or not len(table):
        return
    rows = table.reshape(len(table), -1)
    bad = int((~np.isfinite(rows).all(axis=1)).sum())
    if bad:
        kinds = [(np.isnan(rows).any(), "NaN"), (np.isinf(rows).any(), "infinite")]
        what = " or ".join(word for there, word in kinds if there)
        raise InputError(f"predictions of {bad} of {len(rows)} nodes are {what}")


def _rows(text: TextFile) -> list[Row]:
    """Return the columns of all lines that are not blank; what separates them is in each line."""
    lines = [(number, line) for number, line in enumerate(text.lines, start=1) if line.strip()]
    separator = next((mark for mark in SEPARATORS if all(mark in line for _, line in lines)), None)
    if separator == "\t":  # names in the benchmark's format may have quotes
        return [(number, [field.strip() for field in line.split("\t")]) for number, line in lines]
    return [(number, split_fields(text, number, line, separator)) for number, line in lines]


def _are_submitted(
    text: TextFile,
    rows: Sequence[Row],
    graph: HeteroGraph,
    numbers: Mapping[str, int],
    classes: Sequence[str],
) -> bool:
    """Return whether all lines have id, name, type and labels, and not a node and scores of three classes."""
    if not all(len(fields) == 4 and fields[0] in numbers for _, fields in rows):
        return False
    if not all(_is_submitted(text, *row, graph, numbers[row[1][0]], classes) for row in rows):
        return False
    names = graph.names or ()
    known = frozenset(names)
    for line, (one, name, *_) in rows:
        if name in known and name != names[numbers[one]]:
            raise text.error(line, f"node {one} is called {shown(names[numbers[one]])}, not {shown(name)}")
    return True


def _is_submitted(
    text: TextFile, line: int, fields: Sequence[str], graph: HeteroGraph, node: int, classes: Sequence[str]
) -> bool:
    if fields[2] != str(graph.types[node]):
        if len(classes) == 3 and all(map(is_number_field, fields[1:])):
            return False
        what = f"node {fields[0]} has the type {graph.types[node]}, not {shown(fields[2])}"
        raise text.error(line, what)
    if len(classes) != 3 or not is_number_field(fields[1]):
        return True
    if graph.names is not None:
        return fields[1] == graph.names[node]
    number = float(fields[1])
    if number > 1 and number.is_integer() and fields[3] in ("0", "1", "2"):
        what = "three scores, or name, type and class? Leave the name empty, or write the class alone"
        raise text.error(line, f"{shown(' '.join(fields[1:]))} is unclear: {what}")
    return False


def _ways(graph: HeteroGraph, kind: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the node of each name of a type, if names are unique in it, and of each number."""
    first, last = graph.starts[kind : kind + 2].tolist()
    texts = () if graph.names is None else graph.names[first:last]
    names = {} if len(set(texts)) < len(texts) else {name: first + row for row, name in enumerate(texts)}
    return names, {str(node): node for node in range(first, last)}


def _below_header(rows: list[Row], graph: HeteroGraph, kind: int) -> tuple[Row | None, list[Row]]:
    """Return the header, if there is one, and the lines below it."""
    first = rows[0][1][0] if rows else ""
    if not rows or first.isdecimal() or any(first in way for way in _ways(graph, kind)):
        return None, rows
    return rows[0], rows[1:]


def _order(text: TextFile, header: Row | None, rows: Sequence[Row], classes: Sequence[str]) -> list[int]:
    """Return the class of each column of scores."""
    count = len(classes)
    if header is None or count == 1 or not any(len(fields) == count + 1 for _, fields in rows):
        return list(range(count))
    line, titles = header
    if len(titles) == count + 1:
        return column_order(text, line, titles[1:], classes)
    if len(titles) == count:  # as R writes them, without a title for the nodes
        return column_order(text, line, titles, classes)
    if len(titles) == 1 or titles[0].startswith("#"):  # a comment
        return list(range(count))
    raise text.error(line, f"the header has {len(titles)} columns, where line {rows[0][0]} has {count + 1}")


def _find_nodes(
    text: TextFile, rows: Sequence[Row], graph: HeteroGraph, kind: int, nodes: NDArray[np.int32]
) -> list[int]:
    """Return the node of each line: all are named, or all are numbered.

    Args:
        text: the file.
        rows: its lines, without a header.
        graph: the typed graph.
        kind: the node type that is classified.
        nodes: the nodes that need a prediction.
    """
    names, numbers = _ways(graph, kind)
    known = numbers | names
    ids = [fields[0] for _, fields in rows]
    for (line, _), one in zip(rows, ids, strict=True):
        if one not in known:
            raise text.error(line, _unknown_node(graph, kind, one))
    ways = [way for way in (names, numbers) if all(one in way for one in ids)]
    if not ways:
        place = next(row for row, one in enumerate(ids) if (one in names) != (ids[0] in names))
        what = f"{shown(ids[0])} and {shown(ids[place])}: one is a name, the other the number of a node"
        raise text.error(rows[place][0], what)
    readings = [np.array([way[one] for one in ids], dtype=np.int64) for way in ways]
    best = most_complete(readings, nodes)
    found = readings[best[0]].tolist()
    for (line, _), one, node, other in zip(rows, ids, found, readings[best[-1]].tolist(), strict=True):
        if node != other:
            what = f"{shown(one)} is the number of node {numbers[one]} and the name of node {names[one]}"
            raise text.error(line, f"{what}: write lines with id, name, type and class, or a .npy file")
    return list(found)


def _unknown_node(graph: HeteroGraph, kind: int, one: str) -> str:
    """Say why an id is no node that is classified."""
    name, (first, last) = graph.node_types[kind], graph.starts[kind : kind + 2]
    if not one.isdecimal() or int(one) >= graph.num_nodes:
        return f"{shown(one)} is not a node of type {name!r}"
    other = graph.node_types[graph.types[int(one)]]
    return (
        f"node {int(one)} is of type {other!r}: nodes of type {name!r} have the numbers {first} to {last - 1}"
    )


def _scores(
    text: TextFile, header: Row | None, rows: Sequence[Row], classes: Sequence[str], multi: bool, named: bool
) -> list[NDArray[np.float64]]:
    """Return a score for each class from the columns after the node in each line.

    Args:
        text: the file.
        header: the line above, which may name the classes.
        rows: its lines.
        classes: the names of the classes.
        multi: whether a node can have several classes.
        named: whether the lines are in the benchmark's format, which has classes.
    """
    order = _order(text, header, rows, classes)
    if multi and len(classes) > 1:
        _refuse_two_readings(text, header, rows, classes)
    cells = [_cells(text, line, fields[1:], classes, multi) for line, fields in rows]
    given = dict.fromkeys(name for cell in cells if isinstance(cell, list) for name in cell)
    ways = class_numbers(given, classes, str(text.path), named)
    found = []
    for (line, _), cell in zip(rows, cells, strict=True):
        row = np.zeros(len(classes))
        if isinstance(cell, np.ndarray):
            row[order] = cell
            found.append(row)
            continue
        for name in cell:
            if name not in ways:
                raise text.error(line, f"{shown(name)} is not a class")
            row[ways[name]] = 1
        found.append(row)
    return found


def _refuse_two_readings(
    text: TextFile, header: Row | None, rows: Sequence[Row], classes: Sequence[str]
) -> None:
    """Refuse lines whose columns are scores or several classes, whichever one likes: 0,1 of two classes."""
    count = len(classes)
    wide = [(line, fields) for line, fields in rows if len(fields) == count + 1]
    if not wide:
        return
    line, fields = wide[0]
    one = next((line for line, fields in rows if len(fields) == 2), None)
    if one is not None:
        what = f"{count} columns follow the node, where line {one} has one"
        raise text.error(line, f"{what}: {WRITE_CLASSES}, or {count} scores in all lines")
    known = {*classes, *map(str, range(count))}
    if header is None and all(set(fields[1:]) <= known and _differ(fields[1:]) for _, fields in wide):
        what = f"{shown(','.join(fields[1:]))} could be {count} scores or {count} classes, in all lines"
        raise text.error(line, f"{what}: {WRITE_CLASSES}, or scores with a decimal point")


def _differ(fields: Sequence[str]) -> bool:
    return len(set(fields)) == len(fields)


def _cells(
    text: TextFile, line: int, fields: Sequence[str], classes: Sequence[str], multi: bool
) -> NDArray[np.float64] | list[str]:
    """Return the scores in the columns after the node, or the names of the classes."""
    if len(fields) == len(classes) and len(classes) > 1:
        if not all(map(is_number_field, fields)):
            raise text.error(line, f"a score is not a number: {shown(' '.join(fields))}")
        return np.array([float(field) for field in fields])
    if len(fields) != 1:
        raise text.error(
            line, f"a class or {len(classes)} scores must follow the node, not {len(fields)} columns"
        )
    return [name.strip() for name in fields[0].split(",") if name.strip()] if multi else [fields[0]]
