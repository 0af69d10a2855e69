"""Labels in HGB's format: ``label.dat`` for training, ``label.dat.test`` for the published test part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.text import shown
from trueedge.files.text_folders import TextFolder
from trueedge.graph.hgb_info import INFO, HgbInfo
from trueedge.graph.typed_parts import Labels
from trueedge.html import counted

LABELS, TEST_LABELS = "label.dat", "label.dat.test"
# Classes without names: at most so many, or one for each labelled node.
MANY_CLASSES = 1000


@dataclass(frozen=True)
class LabelLine:
    """A line of a label file.

    Attributes:
        file: the name of the file.
        line: the number of the line.
        node: the id of the node.
        name: its name, which may be blank.
        type: its type.
        labels: its classes.
    """

    file: str
    line: int
    node: int
    name: str
    type: int
    labels: tuple[int, ...]


def read_label_lines(folder: TextFolder) -> list[LabelLine]:
    """Return the lines of both files: id, name, type, and one or more labels separated by commas."""
    if LABELS not in folder:
        if TEST_LABELS in folder:
            raise InputError(f"{folder.place(TEST_LABELS)} is there, but {LABELS} is missing")
        return []
    files = [file for file in (LABELS, TEST_LABELS) if file in folder]
    found = [_line(folder, file, number, text) for file in files for number, text in folder.lines(file)]
    seen: dict[int, LabelLine] = {}
    for one in found:
        first = seen.setdefault(one.node, one)
        if first is not one:
            raise folder.error(
                one.file, one.line, f"node {one.node} has labels already, in {first.file}, line {first.line}"
            )
        if one.type != found[0].type:
            types = f"node {one.node} has type {one.type}, but node {found[0].node} has type {found[0].type}"
            raise folder.error(one.file, one.line, f"{types}: only one node type can have labels")
    return found


def make_labels(
    folder: TextFolder, found: list[LabelLine], kinds: NDArray[np.int64], info: HgbInfo
) -> Labels | None:
    """Return labels of nodes whose types are known, or None if there are none.

    Args:
        folder: where the files are.
        found: their lines.
        kinds: int64 (n,), the type of each node.
        info: what ``info.dat`` says.
    """
    if not found:
        return None
    for one in found:
        if one.node >= len(kinds):
            what = f"there is no node {one.node}, only 0 to {len(kinds) - 1}"
            raise folder.error(one.file, one.line, what)
        if kinds[one.node] != one.type:
            what = f"node {one.node} has type {kinds[one.node]}, not {one.type}"
            raise folder.error(one.file, one.line, what)
    classes = _classes(folder, found, info)
    found = sorted(found, key=lambda one: one.node)
    if any(len(one.labels) > 1 for one in found):
        values: NDArray[np.bool_] | NDArray[np.int32] = np.zeros((len(found), len(classes)), dtype=np.bool_)
        for row, one in enumerate(found):
            values[row, list(one.labels)] = True
    else:
        values = np.array([one.labels[0] for one in found], dtype=np.int32)
    test = np.array([one.file == TEST_LABELS for one in found]) if TEST_LABELS in folder else None
    nodes = np.array([one.node for one in found], dtype=np.int32)
    return Labels(found[0].type, nodes, values, classes, test)


def contradicted_names(found: list[LabelLine], names: Sequence[str] | None) -> list[str]:
    """Return a sentence on labels whose nodes have the names of other nodes, if there are any.

    Args:
        found: the lines of both files.
        names: the name of each node, each once, or None.
    """
    place = {name: node for node, name in enumerate(names or ())}
    wrong = [one for one in found if place.get(one.name, one.node) != one.node]
    if not wrong:
        return []
    first, count = wrong[0], counted(len(wrong), "name")
    said = f"node {first.node} is called {shown(first.name)}, which is node {place[first.name]} in node.dat"
    return [f"{first.file} may have wrong ids ({count}): in line {first.line}, {said}"]


def empty_classes(labels: Labels | None) -> list[str]:
    """Return a sentence on classes that no node has, if there are any."""
    if labels is None:
        return []
    have = (
        labels.values.any(axis=0)
        if labels.multi
        else np.bincount(labels.values, minlength=len(labels.classes)) > 0
    )
    empty = np.flatnonzero(~have)
    runs = np.split(empty, np.flatnonzero(np.diff(empty) > 1) + 1)
    named = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs if len(run)]
    if not named:
        return []
    noun = "class {} has" if len(empty) == 1 else "classes {} have"
    count = labels.num_classes
    return [f"{noun.format(', '.join(named))} no node: there are {count} classes, 0 to {count - 1}"]


def _classes(folder: TextFolder, found: list[LabelLine], info: HgbInfo) -> tuple[str, ...]:
    """Return the names of the classes: those in ``info.dat``, or numbers up to the largest one."""
    named = info.classes.get(found[0].type)
    most = len(named) if named is not None else max(MANY_CLASSES, len(found))
    for one in found:
        if max(one.labels) < most:
            continue
        reason = (
            f"{INFO} names {most} classes" if named is not None else f"there are {len(found)} labelled nodes"
        )
        raise folder.error(one.file, one.line, f"the label {max(one.labels)} is out of range: {reason}")
    if named is not None:
        return named
    return tuple(f"class {number}" for number in range(1 + max(max(one.labels) for one in found)))


def _line(folder: TextFolder, file: str, number: int, text: str) -> LabelLine:
    fields = text.split("\t")
    if len(fields) != 4:
        columns = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
        raise folder.error(
            file,
            number,
            f"4 columns separated by tabs are needed (id, name, type, labels), this line has {columns}",
        )
    words = fields[3].strip().split(",")
    for noun, value in (("id", fields[0]), ("type", fields[2]), *(("label", word) for word in words)):
        if re.fullmatch("[0-9]{1,18}", value) is None:
            raise folder.error(file, number, f"the {noun} {shown(value)} is not a whole number, 0 or more")
    labels = tuple(map(int, words))
    if len(set(labels)) < len(labels):
        raise folder.error(file, number, f"the labels {shown(fields[3])} repeat one")
    return LabelLine(file, number, int(fields[0]), fields[1], int(fields[2]), labels)
