"""Edge lists in text files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import must_be
from trueedge.files.columns import Columns, read_columns
from trueedge.files.text import TextFile, open_text, shown
from trueedge.graph.pairs import from_one
from trueedge.graph.tidying import Cleaning, tidy, tidy_edges
from trueedge.graph.validation import Handling, check_handling, check_num_nodes

# Entries of a table of ids, for each id that is read.
TABLE_SIZE = 2


@dataclass(frozen=True, eq=False)
class EdgeList:
    """The content of an edge list.

    Attributes:
        edges: int64 array (m, 2) without self-loops or repeats, in the order and direction of the file.
        num_nodes: the number of nodes n.
        labels: the nodes' ids in the file, n of them, or None where they are ``0..n-1``.
        name: the file's name without its endings.
        notes: what was done to the input on the way, one sentence each.
    """

    edges: NDArray[np.int64]
    num_nodes: int
    labels: tuple[str, ...] | None
    name: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PairFiles:
    """The content of several files on the same nodes.

    Attributes:
        pairs: an int64 array (m, 2) for each file, in its order and direction.
        num_nodes: the number of nodes n.
        labels: the nodes' ids in the files, n of them, or None where they are ``0..n-1``.
        notes: what was done to the input on the way, one sentence each.
    """

    pairs: tuple[NDArray[np.int64], ...]
    num_nodes: int
    labels: tuple[str, ...] | None
    notes: tuple[str, ...]


def read_edges(
    path: str | os.PathLike[str],
    num_nodes: int | None = None,
    self_loops: Handling = "refuse",
    repeats: Handling = "refuse",
    header: bool | None = None,
) -> EdgeList:
    """Read an undirected edge list from a text file, plain or gzip.

    Each line is an edge: two ids, then any further columns, which are not read (a note says so). Columns are
    separated by white space, commas, semicolons or tabs; ``#`` and ``%`` begin comment lines; the first line
    may be a header (:func:`trueedge.files.columns.read_columns` says when it is one).

    Ids that are whole numbers are used as they are if ``num_nodes`` is given or if they are exactly
    ``0..n-1``. Other numbers are renumbered in ascending order, names in the order of their first appearance,
    and both are kept as labels. A node that has only self-loops is still a node.

    Args:
        path: the file.
        num_nodes: the number of nodes; every id must then be a whole number below it.
        self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
        repeats: ``"refuse"`` an edge that occurs again (in either direction), or ``"drop"`` it.
        header: whether the first line names the columns; None to detect it (a note says so).
    """
    listed, cleaning = _read_listed(path, num_nodes, self_loops, repeats, header)
    kept, _, notes = tidy(listed.edges, listed.num_nodes, cleaning)
    return replace(listed, edges=kept, notes=(*listed.notes, *notes))


def read_graph(
    path: str | os.PathLike[str],
    num_nodes: int | None,
    self_loops: Handling,
    repeats: Handling,
    header: bool | None,
) -> tuple[NDArray[np.int32], EdgeList]:
    """Read what :func:`read_edges` reads, as a graph's edges: int32 (m, 2), ``u < v``, sorted.

    Returns:
        The edges, and the list that they come from as it is in the file; its notes are those of both.
    """
    listed, cleaning = _read_listed(path, num_nodes, self_loops, repeats, header)
    edges, notes = tidy_edges(listed.edges, listed.num_nodes, cleaning)
    return edges, replace(listed, notes=(*listed.notes, *notes))


def _read_listed(
    path: str | os.PathLike[str],
    num_nodes: int | None,
    self_loops: Handling,
    repeats: Handling,
    header: bool | None,
) -> tuple[EdgeList, Cleaning]:
    """Return an edge list with its self-loops and repeats, and how to handle them."""
    check_handling(self_loops, repeats, "read_edges")
    if header not in (None, True, False):
        raise must_be("header", "read_edges", "True, False or None", header)
    if num_nodes is not None:
        num_nodes = check_num_nodes(num_nodes, "read_edges")
    text = open_text(path)
    columns = read_columns(text, numbers_only=num_nodes is not None, header=header)
    if header is None and _begins_with_counts(columns):
        raise text.error(
            int(columns.lines[0]),
            f"{_first_line(text, columns)} looks like the numbers of nodes and edges:"
            " pass header=True (--header) to skip the line, or header=False (--no-header) if it is an edge",
        )
    pairs, count, labels = _number_nodes(text, columns, num_nodes)
    notes = (*columns.notes, *_renumbering(columns.names, labels))

    def edge(row: int) -> str:
        line = int(columns.lines[row])
        return f"{text.path}, line {line}: {shown(text.lines[line - 1].strip())}"

    listed = EdgeList(pairs, count, labels, _name(text.path), notes)
    return listed, Cleaning(self_loops, repeats, edge, lambda row: f"line {int(columns.lines[row])}")


def read_pairs(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read pairs of whole numbers from a text file, unchanged: int64 array (m, 2).

    The format is that of :func:`read_edges`, but self-loops, repeats and directions are kept.
    """
    return read_columns(open_text(path), numbers_only=True).ids


def read_pair_files(paths: Sequence[str | os.PathLike[str]], num_nodes: int | None = None) -> PairFiles:
    """Read pairs from files on the same nodes; self-loops, repeats and directions are kept.

    The format and the numbering are those of :func:`read_edges`, as if the files were one. Where one of
    them has names, whole numbers in the others are names too.

    Args:
        paths: the files.
        num_nodes: the number of nodes; every id must then be a whole number below it.
    """
    if num_nodes is not None:
        num_nodes = check_num_nodes(num_nodes, "read_pair_files")
    texts = [open_text(path) for path in paths]
    columns = [read_columns(text, numbers_only=num_nodes is not None) for text in texts]
    if any(part.names is not None for part in columns):
        columns = [
            read_columns(text, names_only=True) if part.names is None else part
            for text, part in zip(texts, columns, strict=True)
        ]
    notes = tuple(
        f"{text.path.name}: {note}"
        for text, part in zip(texts, columns, strict=True)
        for note in (*part.notes, *_counts(text, part))
    )
    if num_nodes is not None:
        pairs = [_number_nodes(text, part, num_nodes)[0] for text, part in zip(texts, columns, strict=True)]
        return PairFiles(tuple(pairs), num_nodes, None, notes)
    together = _join(columns)
    joined, count, labels = _number_nodes(texts[0], together, None)
    ends = np.cumsum([len(part.ids) for part in columns])
    notes = (*notes, *_renumbering(together.names, labels))
    return PairFiles(tuple(np.split(joined, ends[:-1])), count, labels, notes)


def _join(columns: Sequence[Columns]) -> Columns:
    """Return the columns of several files as those of one; either all of them have names, or none."""
    place: dict[str, int] = {}
    ids = []
    for part in columns:
        if part.names is None:
            ids.append(part.ids)
        else:
            ids.append(np.array([place.setdefault(name, len(place)) for name in part.names])[part.ids])
    lines = np.concatenate([np.asarray(part.lines) for part in columns])
    return Columns(np.concatenate(ids), tuple(place) or None, lines, ())


def _number_nodes(
    text: TextFile, columns: Columns, num_nodes: int | None
) -> tuple[NDArray[np.int64], int, tuple[str, ...] | None]:
    """Return rows of ids as pairs of ``0..n-1``, n, and the ids as labels where they differ."""
    numbers = columns.ids
    if columns.names is not None:
        return numbers, check_num_nodes(len(columns.names)), columns.names
    if num_nodes is not None:
        past = numbers >= num_nodes
        if past.any():
            row, column = (int(i) for i in np.argwhere(past)[0])
            what = f"the id '{numbers[row, column]}' is outside 0..{num_nodes - 1}"
            raise text.error(int(columns.lines[row]), what + from_one(numbers, num_nodes))
        return numbers, num_nodes, None
    top = int(numbers.max())
    if top < TABLE_SIZE * numbers.size:
        # A table takes less time than sorting; one huge id would make it huge.
        seen = np.zeros(top + 1, dtype=np.bool_)
        seen[numbers] = True
        if seen.all():
            return numbers, check_num_nodes(top + 1), None
        values, renumbered = np.flatnonzero(seen), (np.cumsum(seen) - 1)[numbers]
    else:
        values, flat = np.unique(numbers, return_inverse=True)
        renumbered = flat.reshape(-1, 2)
    return renumbered, check_num_nodes(len(values)), tuple(map(str, values.tolist()))


def _renumbering(names: tuple[str, ...] | None, labels: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return a note on whole numbers that are not node numbers."""
    if names is not None or labels is None:
        return ()
    last = len(labels) - 1
    return (f"the ids {labels[0]} to {labels[-1]} are read as names: node numbers are 0 to {last}",)


def _begins_with_counts(columns: Columns) -> bool:
    """Return whether the first row is the number of nodes and the number of the rows after it."""
    rest = columns.ids[1:]
    if columns.names is not None or not len(rest) or int(columns.ids[0, 1]) != len(rest):
        return False
    # With ids from 0 or from 1, the largest tells how many nodes there are; some may have no edge.
    largest = int(rest.max())
    return int(columns.ids[0, 0]) in (largest, largest + 1, len(np.unique(rest)))


def _counts(text: TextFile, columns: Columns) -> tuple[str, ...]:
    """Return a note on a first row that may not be a pair."""
    if not _begins_with_counts(columns):
        return ()
    line = _first_line(text, columns)
    return (f"{line} is read as a pair; put # before it if it is the numbers of nodes and pairs",)


def _first_line(text: TextFile, columns: Columns) -> str:
    return shown(text.lines[int(columns.lines[0]) - 1].strip())


def _name(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).stem
