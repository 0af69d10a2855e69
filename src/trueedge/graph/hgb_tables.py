"""The large tables of HGB's format: nodes with their features (``node.dat``), and links (``link.dat``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_memory
from trueedge.files.number_fields import is_number_field
from trueedge.files.text import shown
from trueedge.files.text_folders import TextFolder
from trueedge.graph.typed_validation import lock_sparse
from trueedge.graph.validation import MAX_NODES
from trueedge.html import counted

if TYPE_CHECKING:
    from trueedge.kernels.text.typed_rows import NodeRows

NODES = "node.dat"
#: Features of a type with fewer values that are not 0 are kept sparse.
DENSE = 0.1
NODE_COLUMNS = "id, name, type and, if there are any, features"
LINK_COLUMNS = "head, tail, relation, weight"


@dataclass(frozen=True, eq=False)
class NodeTable:
    """The nodes of ``node.dat``.

    Attributes:
        types: int64 (n,), the type of each node.
        names: the name of each node, or None unless all have one and they differ.
        features: for each type float32 (nodes, d), dense or sparse, or None.
    """

    types: NDArray[np.int64]
    names: tuple[str, ...] | None
    features: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class LinkTable:
    """The links of a file.

    Attributes:
        file: its name.
        rows: int64 (m, 3): head, tail, relation.
        lines: int64 (m,), the line of each link.
        weighted: how many weights are not 1.
    """

    file: str
    rows: NDArray[np.int64]
    lines: NDArray[np.int64]
    weighted: int


def read_nodes(folder: TextFolder, types: Sequence[str] | None) -> NodeTable:
    """Read ``node.dat``.

    Args:
        folder: where it is.
        types: the names of the node types in ``info.dat``, or None.
    """
    from trueedge.kernels.text.typed_rows import read_node_rows

    parts: list[NodeRows] = []
    names: list[str] = []
    held = 0
    for first, data in folder.blocks(NODES):
        rows = read_node_rows(data)
        if rows.bad >= 0:
            raise _bad_node(folder, first + rows.bad + 1, data.split(b"\n")[rows.bad].decode())
        for row, place, begin, end in rows.unread.tolist():
            line = first + int(rows.lines[row]) + 1
            rows.values[place] = _feature(folder, line, data[begin:end].decode())
        names += [data[begin:end].decode() for begin, end in rows.names.tolist()]
        parts.append(rows._replace(lines=rows.lines + first + 1, unread=rows.unread[:0]))
        held += rows.values.nbytes + rows.columns.nbytes
        # The parts and the whole must fit beside each other.
        check_memory(held, folder.place(NODES))
    ids, kinds = np.concatenate([rows.ids for rows in parts]).T
    lines = np.concatenate([rows.lines for rows in parts])
    order = np.argsort(ids, kind="stable")
    _check_ids(folder, ids[order], lines[order])
    check_types(folder, kinds[order], lines[order], types)
    features = _features(folder, parts, kinds, lines, order)
    ordered = tuple(names[row] for row in order.tolist())
    named = all(map(str.strip, ordered)) and len(set(ordered)) == len(ordered)
    return NodeTable(kinds[order], ordered if named else None, features)


def read_links(folder: TextFolder, file: str) -> LinkTable:
    """Read a file of links: head, tail, relation, weight."""
    from trueedge.kernels.text.typed_rows import read_link_rows

    rows, lines, weighted = [], [], 0
    for first, data in folder.blocks(file):
        found, at, others, bad = read_link_rows(data)
        if bad >= 0:
            raise _bad_link(folder, file, first + bad + 1, data.split(b"\n")[bad].decode())
        rows.append(found)
        lines.append(at + first + 1)
        weighted += others
    return LinkTable(file, np.concatenate(rows), np.concatenate(lines), weighted)


def check_types(
    folder: TextFolder, kinds: NDArray[np.int64], lines: NDArray[np.int64] | None, types: Sequence[str] | None
) -> None:
    """Refuse types that ``info.dat`` does not name, that no node has, or whose ids are not consecutive.

    Args:
        folder: where the files are.
        kinds: int64 (n,), the type of each node, by id.
        lines: the line of each node in ``node.dat``; None without that file.
        types: the names of the node types in ``info.dat``, or None.
    """

    def at(node: int) -> str:
        return str(folder.path) if lines is None else f"{folder.place(NODES)}, line {lines[node]}"

    if types is not None and (kinds >= len(types)).any():
        node = int((kinds >= len(types)).argmax())
        raise InputError(f"{at(node)}: info.dat has no node type {kinds[node]}, only 0 to {len(types) - 1}")
    back = kinds[1:] < kinds[:-1]
    if back.any():
        node = int(back.argmax()) + 1
        raise InputError(
            f"{at(node)}: node {node} has type {kinds[node]}, but node {node - 1} has type {kinds[node - 1]}:"
            " ids must be grouped by type, in the order of the types"
        )
    present = np.unique(kinds)
    wanted = len(types) if types is not None else len(present)
    missing = np.setdiff1d(np.arange(wanted), present)
    if len(missing) and types is not None:
        raise InputError(f"{folder.place('info.dat')} names the node type {missing[0]}, but no node has it")
    if len(missing):
        node = int((kinds > missing[0]).argmax())
        raise InputError(f"{at(node)}: no node has type {missing[0]}; types must be numbered without gaps")


def _check_ids(folder: TextFolder, ids: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
    if len(ids) > MAX_NODES:
        raise InputError(f"{folder.place(NODES)} has {len(ids):,} nodes, at most {MAX_NODES:,} are possible")
    odd = ids != np.arange(len(ids))
    if odd.any():
        node = int(odd.argmax())
        if node and ids[node] == ids[node - 1]:
            raise folder.error(NODES, int(lines[node]), f"the id {ids[node]} occurs again")
        raise folder.error(
            NODES,
            int(lines[node]),
            f"ids must be 0, 1, 2, … without gaps: {ids[node]} is there, but not {node}",
        )


def _features(
    folder: TextFolder,
    parts: Iterable[NodeRows],
    kinds: NDArray[np.int64],
    lines: NDArray[np.int64],
    order: NDArray[np.int64],
) -> tuple[Any, ...]:
    """Return the features of each type; ``kinds`` and ``lines`` have the order of the file."""
    from scipy.sparse import csr_array

    parts = list(parts)
    widths, kept = np.concatenate([rows.widths for rows in parts]).T
    indptr = np.concatenate([[0], np.cumsum(kept)])
    columns = np.concatenate([rows.columns for rows in parts])
    values = np.concatenate([rows.values for rows in parts])
    parts.clear()
    whole = csr_array((values, columns, indptr), shape=(len(kinds), max(int(widths.max()), 1)))
    found: list[Any] = []
    for kind in range(int(kinds.max()) + 1):
        rows = order[kinds[order] == kind]
        width = int(widths[rows[0]])
        odd = widths[rows] != width
        if odd.any():
            row = int(rows[odd.argmax()])
            has = counted(int(widths[row]), "feature")
            what = f"this node has {has}, but other nodes of type {kind} have {width}"
            raise folder.error(NODES, int(lines[row]), what)
        if width == 0:
            found.append(None)
            continue
        in_order = (np.diff(rows) == 1).all()
        own = whole[int(rows[0]) : int(rows[-1]) + 1] if in_order else whole[rows]
        table = csr_array((own.data, own.indices, own.indptr), shape=(len(rows), width))
        table.eliminate_zeros()
        lock_sparse(table)  # so that the graph need not copy it
        found.append(table if table.nnz < DENSE * len(rows) * width else table.toarray())
    return tuple(found)


def _feature(folder: TextFolder, line: int, text: str) -> float:
    """Return a feature that is not plain decimal digits, or needs exact rounding."""
    if not is_number_field(text):
        raise folder.error(NODES, line, f"the feature {shown(text)} is not a number")
    with np.errstate(over="ignore"):
        rounded = np.float32(float(text))
    if not np.isfinite(rounded):
        raise folder.error(NODES, line, f"the feature {shown(text)} is not a finite float32")
    return float(rounded)


def _bad_node(folder: TextFolder, line: int, text: str) -> InputError:
    fields = text.removesuffix("\r").split("\t")
    if len(fields) not in (3, 4):
        return _wrong_columns(folder, NODES, line, "3 or 4", NODE_COLUMNS, fields)
    for noun, value in (("id", fields[0]), ("type", fields[2])):
        wrong = _wrong_number(noun, value)
        if wrong:
            return folder.error(NODES, line, wrong)
    return folder.error(NODES, line, f"{shown(text)} is not a node")


def _bad_link(folder: TextFolder, file: str, line: int, text: str) -> InputError:
    fields = text.removesuffix("\r").split("\t")
    if len(fields) != 4:
        return _wrong_columns(folder, file, line, "4", LINK_COLUMNS, fields)
    for noun, value in zip(("head", "tail", "relation"), fields, strict=False):
        wrong = _wrong_number(noun, value)
        if wrong:
            return folder.error(file, line, wrong)
    return folder.error(file, line, f"the weight {shown(fields[3])} is not a number")


def _wrong_columns(
    folder: TextFolder, file: str, line: int, wanted: str, names: str, fields: list[str]
) -> InputError:
    columns = f"{len(fields)} column{'' if len(fields) == 1 else 's'}"
    return folder.error(
        file, line, f"{wanted} columns separated by tabs are needed ({names}), this line has {columns}"
    )


def _wrong_number(noun: str, value: str) -> str:
    """Return what is wrong with a whole number, or nothing."""
    if re.fullmatch("[0-9]+", value) is None:
        return f"the {noun} {shown(value)} is not a whole number, 0 or more"
    return f"the {noun} {shown(value)} is too large" if len(value) > 18 else ""
