"""Files of predicted classes: a label or scores for each node."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import read_array
from trueedge.files.columns import find_separator
from trueedge.files.text import TextFile, open_text, shown
from trueedge.graph.typed import HeteroGraph


def read_predictions(
    path: Path, graph: HeteroGraph, classes: Sequence[str], multi: bool, nodes: NDArray[np.int32]
) -> NDArray[Any]:
    """Return the predictions in a file, with a row for each node of the graph.

    A ``.npy`` file holds an array. In a text file, each line has a node (its id, or its name if names are
    unique) and then its class, its classes separated by commas, or a score for each class; lines as the
    Heterogeneous Graph Benchmark asks for (id, name, type, labels, separated by tabs) are read too. What may
    be the id of one node and the name of another is refused.

    Args:
        path: the file.
        graph: the typed graph.
        classes: the names of the classes; a class is named or numbered.
        multi: whether a node can have several classes.
        nodes: the nodes that need a prediction.
    """
    if path.suffix == ".npy":
        return read_array(path)
    text = open_text(path)
    found: dict[int, NDArray[np.float64]] = {}
    ids, names = _node_ids(graph)
    for number, line in enumerate(text.lines, start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.rstrip("\r\n").split(find_separator(line))]
        node = ids.get(fields[0], names.get(fields[0]))
        if node is None and not found and number == 1:
            continue
        if node is None:
            raise text.error(number, f"{shown(fields[0])} is not a node of {graph.name}")
        if _is_submitted(text, number, fields, graph, node, classes):
            fields = [fields[0], fields[3]]
        elif names.get(fields[0], node) != node:
            what = f"{shown(fields[0])} is the id of node {node} and the name of node {names[fields[0]]}"
            raise text.error(number, f"{what}: write lines with id, name, type and class, or a .npy file")
        if node in found:
            raise text.error(number, f"node {shown(fields[0])} occurs again")
        found[node] = _scores(text, number, fields[1:], classes, multi)
    missing = [node for node in nodes.tolist() if node not in found]
    if missing:
        raise InputError(f"{path} has no prediction for node {missing[0]} ({len(missing)} are missing)")
    whole = np.zeros((graph.num_nodes, len(classes)))
    for node, row in found.items():
        whole[node] = row
    return whole


def _node_ids(graph: HeteroGraph) -> tuple[dict[str, int], dict[str, int]]:
    """Return the node of each id, and of each name if names are unique."""
    ids = {str(node): node for node in range(graph.num_nodes)}
    unique = graph.names is not None and len(set(graph.names)) == len(graph.names)
    return ids, {name: node for node, name in enumerate(graph.names or ())} if unique else {}


def _is_submitted(
    text: TextFile, line: int, fields: Sequence[str], graph: HeteroGraph, node: int, classes: Sequence[str]
) -> bool:
    """Return whether a line has id, name, type and labels, and not a node and scores of three classes."""
    if len(fields) != 4:
        return False
    if fields[2] != str(graph.types[node]):
        if len(classes) == 3 and all(map(_is_number, fields[1:])):
            return False
        what = f"node {fields[0]} has the type {graph.types[node]}, not {shown(fields[2])}"
        raise text.error(line, what)
    if len(classes) != 3:
        return True
    if graph.names is not None:
        return fields[1] in ("", graph.names[node])
    try:
        number = float(fields[1])
    except ValueError:
        return True
    if number > 1 and number.is_integer() and fields[3] in ("0", "1", "2"):
        what = "three scores, or name, type and class? Leave the name empty, or write the class alone"
        raise text.error(line, f"{shown(' '.join(fields[1:]))} is unclear: {what}")
    return False


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _scores(
    text: TextFile, line: int, fields: Sequence[str], classes: Sequence[str], multi: bool
) -> NDArray[np.float64]:
    """Return a score for each class from the fields after the node."""
    if len(fields) == len(classes) and len(classes) > 1:
        try:
            return np.array([float(field) for field in fields])
        except ValueError:
            raise text.error(line, f"a score is not a number: {shown(' '.join(fields))}") from None
    if len(fields) != 1:
        raise text.error(
            line, f"a class or {len(classes)} scores must follow the node, not {len(fields)} columns"
        )
    names = [name.strip() for name in fields[0].split(",") if name.strip()] if multi else [fields[0]]
    row = np.zeros(len(classes))
    for name in names:
        if name in classes:
            row[list(classes).index(name)] = 1
        elif name.isdecimal() and int(name) < len(classes):
            row[int(name)] = 1
        else:
            raise text.error(line, f"{shown(name)} is not a class")
    return row
