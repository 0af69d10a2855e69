"""What a folder or zip archive in HGB's format holds, before it becomes a typed graph."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.text import as_path, shown
from trueedge.files.text_folders import FOREIGN_FOLDER, TextFolder, open_text_folder
from trueedge.graph.hgb_info import INFO, HgbInfo, read_info
from trueedge.graph.hgb_labels import (
    LABELS,
    TEST_LABELS,
    LabelLine,
    contradicted_names,
    empty_classes,
    make_labels,
    read_label_lines,
)
from trueedge.graph.hgb_tables import NODES, LinkTable, check_types, read_links, read_nodes
from trueedge.graph.typed_parts import Relation
from trueedge.graph.typed_validation import sorted_edges
from trueedge.html import counted

LINKS, TEST_LINKS = "link.dat", "link.dat.test"
MARKS = (LINKS, NODES, LABELS, TEST_LINKS, TEST_LABELS)
PAIR_FILE = re.compile(r".*_ini_([0-9]{1,9})_label\.txt")
# Without node.dat, ids may have gaps, which a mistaken id would make huge.
MOST_GAPS = 8
# So many relations are listed in an error.
MOST_NAMED = 20

Pairs = NDArray[np.int32]
LabelledPairs = tuple[NDArray[np.int32], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class HgbContent:
    """What the files of a typed graph hold.

    Attributes:
        graph: the fields of a HeteroGraph, by name.
        test_links: int32 (n, 2) by relation.
        test_pairs: pairs, int32 (n, 2), and whether each is a link, bool (n,), by relation.
    """

    graph: Mapping[str, Any]
    test_links: Mapping[int, Pairs]
    test_pairs: Mapping[int, LabelledPairs]


def read_content(path: str | os.PathLike[str]) -> HgbContent:
    """Read a folder or zip archive; :func:`trueedge.graph.hgb_files.read_hgb` says which files."""
    place = as_path(path, "read_hgb")
    with open_text_folder(place, MARKS) as folder:
        if LINKS not in folder:
            raise InputError(_without_links(folder))
        return _read(folder)


def _without_links(folder: TextFolder) -> str:
    """Say that there is no ``link.dat``, and what an archive has instead."""
    names = sorted(folder.files)
    if folder.archive is not None and not names:
        listed = [one.filename for one in folder.archive.infolist() if not one.is_dir()]
        names = [one for one in listed if FOREIGN_FOLDER not in one.split("/")]
        if listed and not names:
            return f"{folder.path} has no file {LINKS}, only what macOS adds to archives ({shown(listed[0])})"
    likely = next((one for one in names if one.rpartition("/")[2].lower() == LINKS), None)
    if likely is not None:
        return f"{folder.path} has no file {LINKS}, only {shown(likely)}: write its name in lower case"
    if folder.archive is None:
        return f"{folder.path} has no file {LINKS}"
    more = "" if len(names) < 2 else f" and {counted(len(names) - 1, 'other')}"
    held = f"it has {shown(names[0])}{more}; unpack files of another format" if names else "it is empty"
    return f"{folder.path} has no file {LINKS}, as archives of typed graphs do: {held}"


def _read(folder: TextFolder) -> HgbContent:
    info = read_info(folder)
    links = read_links(folder, LINKS)
    test = read_links(folder, TEST_LINKS) if TEST_LINKS in folder else None
    tables = [links] if test is None else [links, test]
    label_lines = read_label_lines(folder)
    notes = []
    if NODES in folder:
        nodes = read_nodes(folder, info.types)
        kinds, names, features = nodes.types, nodes.names, nodes.features
    else:
        kinds, names, features = _types_of_ends(folder, info, tables, label_lines), None, ()
        notes.append(f"there is no {NODES}: node types follow from the links, and there are no features")
    ends = _ends_of_relations(folder, info, tables, kinds)
    num_types = int(kinds[-1]) + 1
    node_types = info.types or tuple(f"type {number}" for number in range(num_types))
    relation_names = info.relations or tuple(f"relation {number}" for number in range(len(ends)))
    relations = tuple(Relation(name, *pair) for name, pair in zip(relation_names, ends, strict=True))
    edges, again = _by_relation(links, len(ends), len(kinds))
    notes += _repeated(again)
    test_links: dict[int, Pairs] = {}
    if test is not None:
        by_relation, again = _by_relation(test, len(ends), len(kinds))
        test_links = {number: pairs for number, pairs in enumerate(by_relation) if len(pairs)}
        notes += _repeated(again, f" of {TEST_LINKS}")
    notes += _weight_notes(tables)
    notes += _leak_notes(test_links, edges, relations, len(kinds))
    if info.ends is not None and info.ends != ends:
        wrong = next(n for n, pair in enumerate(ends) if pair != info.ends[n])
        stated, found = (f"from type {one[wrong][0]} to {one[wrong][1]}" for one in (info.ends, ends))
        notes.append(f"{INFO} says that relation {wrong} leads {stated}, but its links lead {found}")
    labels = make_labels(folder, label_lines, kinds, info)
    notes += contradicted_names(label_lines, names) + empty_classes(labels)
    starts = np.searchsorted(kinds, np.arange(num_types + 1)).astype(np.int64)
    graph = {
        "node_types": node_types,
        "starts": starts,
        "relations": relations,
        "edges": edges,
        "features": features,
        "labels": labels,
        "names": names,
        "name": folder.path.name.removesuffix(".zip"),
        "notes": tuple(notes),
    }
    return HgbContent(graph, test_links, _test_pairs(folder, starts, relations))


def _types_of_ends(
    folder: TextFolder, info: HgbInfo, tables: list[LinkTable], label_lines: list[LabelLine]
) -> NDArray[np.int64]:
    """Return the type of each node, by the relations that it is an end of and by its label."""
    if info.ends is None:
        missing = f"{INFO} does not state the node types that each relation connects"
        raise InputError(f"{folder.path} has no file {NODES}, and {missing}")
    ends = np.array(info.ends, dtype=np.int64)
    for table in tables:
        _check_relations(folder, table, len(ends), INFO)
    nodes = np.concatenate([table.rows[:, :2].reshape(-1) for table in tables])
    kinds = np.concatenate([ends[table.rows[:, 2]].reshape(-1) for table in tables])
    largest = int(nodes.max())
    if largest > MOST_GAPS * len(nodes):
        what = f"the id {largest} is too large for {len(nodes) // 2} links"
        raise _error(folder, tables, int(nodes.argmax()) // 2, what)
    found = np.full(largest + 1, -1, dtype=np.int64)
    # Backwards, so that the first line of a node says its type.
    found[nodes[::-1]] = kinds[::-1]
    differ = found[nodes] != kinds
    if differ.any():
        end = int(differ.argmax())
        first = found[nodes[end]]
        what = f"node {nodes[end]} would have type {kinds[end]}, but by an earlier link it has type {first}"
        raise _error(folder, tables, end // 2, what)
    for one in label_lines:
        if one.node < len(found) and found[one.node] < 0:
            found[one.node] = one.type
    _fill_gaps(folder, found)
    check_types(folder, found, None, info.types)
    return found


def _fill_gaps(folder: TextFolder, kinds: NDArray[np.int64]) -> None:
    """Give nodes of unknown type (-1) the type of the nodes before and after them, which must be the same."""
    known, unknown = np.flatnonzero(kinds >= 0), np.flatnonzero(kinds < 0)
    after = np.searchsorted(known, unknown)
    before = np.where(after > 0, kinds[known[after - 1]], -1)
    unclear = before != kinds[known[after]]
    if unclear.any():
        node = unknown[unclear.argmax()]
        raise InputError(f"{folder.path} has no file {NODES}, and no link says the type of node {node}")
    kinds[unknown] = before


def _error(folder: TextFolder, tables: list[LinkTable], row: int, what: str) -> InputError:
    """Return an error about a row of several tables, one after the other."""
    for table in tables:
        if row < len(table.rows):
            return folder.error(table.file, int(table.lines[row]), what)
        row -= len(table.rows)
    return InputError(f"{folder.path}: {what}")


def _ends_of_relations(
    folder: TextFolder, info: HgbInfo, tables: list[LinkTable], kinds: NDArray[np.int64]
) -> tuple[tuple[int, int], ...]:
    """Return source and target type of each relation: those of its first link, or what ``info.dat`` says."""
    count = None if info.relations is None else len(info.relations)
    firsts: dict[int, tuple[int, int]] = {}
    for table in tables:
        for column, noun in enumerate(("head", "tail")):
            unknown = table.rows[:, column] >= len(kinds)
            if unknown.any():
                row = int(unknown.argmax())
                what = f"the {noun} {table.rows[row, column]} is not a node, there are 0 to {len(kinds) - 1}"
                raise folder.error(table.file, int(table.lines[row]), what)
        if count is not None:
            _check_relations(folder, table, count, INFO)
        relations, first = np.unique(table.rows[:, 2], return_index=True)
        for relation, row in zip(relations.tolist(), first.tolist(), strict=True):
            head, tail = table.rows[row, :2]
            firsts.setdefault(relation, (int(kinds[head]), int(kinds[tail])))
        pairs = kinds[table.rows[:, :2]]
        place = np.searchsorted(relations, table.rows[:, 2])
        wrong = (pairs != np.array([firsts[relation] for relation in relations.tolist()])[place]).any(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            (head, tail), relation = pairs[row], int(table.rows[row, 2])
            raise folder.error(
                table.file,
                int(table.lines[row]),
                f"this link leads from type {head} to {tail}, but the first link of relation {relation} leads"
                f" from type {firsts[relation][0]} to {firsts[relation][1]}",
            )
    _check_learnable(folder, tables)
    wanted = len(firsts) if count is None else count
    missing = [number for number in range(wanted) if number not in firsts]
    if missing and info.ends is None:
        raise _gap(folder, tables, missing[0])
    stated = info.ends or ()
    return tuple(firsts[number] if number in firsts else stated[number] for number in range(wanted))


def _check_learnable(folder: TextFolder, tables: list[LinkTable]) -> None:
    """Refuse test links of a relation that no other link has."""
    links, *tested = tables
    known = np.unique(links.rows[:, 2])
    for table in tested:
        strange = ~np.isin(table.rows[:, 2], known)
        if strange.any():
            row = int(strange.argmax())
            there = ", ".join(map(str, known.tolist()[:MOST_NAMED])) + (
                ", …" if len(known) > MOST_NAMED else ""
            )
            what = f"no link of {links.file} has relation {table.rows[row, 2]}, only {there}"
            raise folder.error(table.file, int(table.lines[row]), what)


def _gap(folder: TextFolder, tables: list[LinkTable], missing: int) -> InputError:
    """Return an error for the first link whose relation comes after one that is missing."""
    for table in tables:
        after = table.rows[:, 2] > missing
        if after.any():
            row = int(after.argmax())
            what = f"relation {table.rows[row, 2]} is there, but not {missing}: relations must have no gaps"
            return folder.error(table.file, int(table.lines[row]), what)
    return InputError(f"{folder.place(LINKS)}: no link has relation {missing}")


def _check_relations(folder: TextFolder, table: LinkTable, count: int, where: str) -> None:
    unknown = table.rows[:, 2] >= count
    if unknown.any():
        row = int(unknown.argmax())
        what = f"{where} has no relation {table.rows[row, 2]}, only 0 to {count - 1}"
        raise folder.error(table.file, int(table.lines[row]), what)


def _by_relation(links: LinkTable, count: int, num_nodes: int) -> tuple[tuple[Pairs, ...], int]:
    found = [sorted_edges(links.rows[links.rows[:, 2] == number, :2], num_nodes) for number in range(count)]
    return tuple(pairs for pairs, _ in found), sum(again for _, again in found)


def _repeated(again: int, where: str = "") -> list[str]:
    return [f"dropped {again:,} repeated link{'' if again == 1 else 's'}{where}"] if again else []


def _weight_notes(tables: list[LinkTable]) -> list[str]:
    notes = []
    weighted = sum(table.weighted for table in tables)
    if weighted:
        links = "1 link has" if weighted == 1 else f"{weighted:,} links have"
        stay = "the link stays" if weighted == 1 else "the links stay"
        notes.append(f"{links} a weight other than 1; weights are not used, and {stay}")
    return notes


def _leak_notes(
    test_links: Mapping[int, Pairs],
    edges: tuple[Pairs, ...],
    relations: tuple[Relation, ...],
    num_nodes: int,
) -> list[str]:
    """Say how many test links are also edges, and which relations hold all test links of another one."""
    audit = "in the training graph: see 'trueedge audit'"
    notes = []
    leaked = sum(_shared(pairs, edges[number], num_nodes) for number, pairs in test_links.items())
    if leaked:
        verb, stays = ("is", "stays") if leaked == 1 else ("are", "stay")
        notes.append(f"{counted(leaked, 'link')} of {TEST_LINKS} {verb} in {LINKS}, too, and {stays} {audit}")
    for number, pairs in test_links.items():
        for other, held in enumerate(edges):
            if other != number and _shared(pairs, held, num_nodes) == len(pairs):
                one, same = (repr(relations[place].name) for place in (number, other))
                notes.append(f"the links of {same} are all test links of {one} and more, and stay {audit}")
    return notes


def _shared(pairs: Pairs, others: Pairs, num_nodes: int) -> int:
    keys, known = (one[:, 0].astype(np.int64) * num_nodes + one[:, 1] for one in (pairs, others))
    return int(np.isin(keys, known).sum())


def _test_pairs(
    folder: TextFolder, starts: NDArray[np.int64], relations: tuple[Relation, ...]
) -> dict[int, LabelledPairs]:
    """Return what files of published test pairs hold: a line of heads, one of tails, and one of labels."""
    found: dict[int, LabelledPairs] = {}
    for file in folder.files:
        match = PAIR_FILE.fullmatch(file)
        if match is None:
            continue
        relation = int(match[1])
        if relation >= len(relations):
            raise InputError(f"{folder.place(file)}: there is no relation {relation}")
        if relation in found:
            raise InputError(f"{folder.place(file)}: another file has test pairs of relation {relation}")
        found[relation] = _labelled_pairs(folder, file, starts, relations[relation])
    return found


def _labelled_pairs(
    folder: TextFolder, file: str, starts: NDArray[np.int64], relation: Relation
) -> LabelledPairs:
    lines = folder.lines(file)
    if len(lines) != 3:
        raise InputError(
            f"{folder.place(file)} must have three lines (heads, tails, labels), but it has {len(lines)}"
        )
    limits = [(starts[kind], starts[kind + 1]) for kind in relation[1:]]
    rows = []
    for (number, text), noun, (low, high) in zip(
        lines, ("head", "tail", "label"), [*limits, (0, 2)], strict=True
    ):
        words = text.split()
        for word in words:
            if re.fullmatch("[0-9]{1,18}", word) is None or not low <= int(word) < high:
                what = f"the {noun} {word[:40]!r} is not a whole number from {low} to {high - 1}"
                raise folder.error(file, number, what)
        if len(words) != len(lines[0][1].split()):
            what = f"there are {len(words)} {noun}s, but {len(lines[0][1].split())} heads"
            raise folder.error(file, number, what)
        rows.append(np.array(words, dtype=np.int64))
    return np.column_stack(rows[:2]).astype(np.int32), rows[2].astype(np.bool_)
