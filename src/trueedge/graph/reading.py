"""Edge lists in files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.columns import (
    Columns,
    find_separator,
    first_row,
    may_be_names,
    read_columns,
    split_fields,
)
from trueedge.files.records import (
    PARQUET,
    PARQUET_ENDINGS,
    Records,
    is_json,
    is_parquet,
    read_json,
    read_parquet,
)
from trueedge.files.text import TextFile, as_path, open_text, shown
from trueedge.graph.direction import direction_note, says_directed
from trueedge.graph.edge_columns import EdgeFormat, Layout, find_layout
from trueedge.graph.edge_preview import preview_text
from trueedge.graph.edge_tables import TableEdges
from trueedge.graph.edge_values import kept_values
from trueedge.graph.numbering import number_integers, renumbering_note
from trueedge.graph.pairs import from_one
from trueedge.graph.tidying import Cleaning, ordered_edges, tidy, tidy_edges
from trueedge.graph.two_kinds import MAY_BE_TWO, TwoSides, tell_apart
from trueedge.graph.validation import Handling, check_handling, check_num_nodes


@dataclass(frozen=True, eq=False)
class EdgeList:
    """The content of an edge list.

    Attributes:
        edges: int64 array (m, 2) without self-loops or repeats, in the order and direction of the file.
        num_nodes: the number of nodes n.
        labels: the nodes' ids in the file, n of them, or None where they are ``0..n-1``.
        name: the file's name without its endings.
        notes: what was done to the input on the way, one sentence each.
        edge_data: float64 (m,) for ``weight`` and ``time``, where the file has them.
        sides: the two sides, if the two columns hold two kinds of nodes; else None.
        may_be_two: whether the columns have no names and both count from 1, as those of users and items do.
    """

    edges: NDArray[np.int64]
    num_nodes: int
    labels: tuple[str, ...] | None
    name: str
    notes: tuple[str, ...]
    edge_data: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    sides: TwoSides | None = None
    may_be_two: bool = False


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
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    time: str | int | None = None,
    bipartite: bool | None = None,
) -> EdgeList:
    """Read an undirected edge list from a file: text (plain or gzip), JSON lines or Parquet.

    Each line of a text file is an edge. Columns are separated by white space, commas, semicolons or tabs;
    ``#`` and ``%`` begin comment lines; the first line may be a header. In a file of JSON lines, each line is
    an object with the same keys. If it is not clear which columns are the two ends of an edge, an error
    asks for ``source`` and ``target``. A weight and a time are kept if their columns have the usual names or
    are given; a note says so, and which columns are not read.

    Ids that are whole numbers are used as they are if ``num_nodes`` is given or if they are exactly
    ``0..n-1``. Other numbers are renumbered in ascending order, names in the order of their first appearance,
    and both are kept as labels. A node that has only self-loops is still a node.

    Args:
        path: the file.
        num_nodes: the number of nodes; every id must then be a whole number below it.
        self_loops: ``"refuse"`` an edge from a node to itself, or ``"drop"`` it.
        repeats: ``"refuse"`` an edge that occurs again (in either direction), or ``"drop"`` it: the earliest
            one is kept if there are times, else the first one.
        header: whether the first line names the columns; None to detect it (a note says so).
        source: the column of the first end: its name, or its number from 0.
        target: the column of the second end.
        weight: the column of the weight, a number.
        time: the column of the time: a number, or a date such as ``2020-01-31``, which is kept as seconds
            since 1970.
        bipartite: whether the two columns hold two kinds of nodes, so that user 1 and item 1 are two nodes;
            None to decide by the names of the columns, or by ids that are in one column only.
    """
    asked = EdgeFormat(header, source, target, weight, time, bipartite)
    listed, cleaning = _read_listed(path, num_nodes, self_loops, repeats, asked)
    kept, rows, notes = tidy(listed.edges, listed.num_nodes, cleaning)
    notes += _told_of_pairs(listed, len(kept))
    data = {key: column[rows] for key, column in listed.edge_data.items()}
    return replace(listed, edges=kept, edge_data=data, notes=(*listed.notes, *notes))


def read_graph(
    path: str | os.PathLike[str],
    num_nodes: int | None,
    self_loops: Handling,
    repeats: Handling,
    asked: EdgeFormat,
) -> tuple[NDArray[np.int32], EdgeList]:
    """Read what :func:`read_edges` reads, as a graph's edges: int32 (m, 2), ``u < v``, sorted.

    Returns:
        The edges, and the list that they come from as it is in the file; its notes are those of both, and its
        edge data is in the order of the edges.
    """
    return list_graph(*_read_listed(path, num_nodes, self_loops, repeats, asked))


def list_graph(listed: EdgeList, cleaning: Cleaning) -> tuple[NDArray[np.int32], EdgeList]:
    """Return what :func:`read_graph` returns, for edges that are read already."""
    if listed.edge_data:
        kept, rows, notes = tidy(listed.edges, listed.num_nodes, cleaning)
        data = {key: column[rows] for key, column in listed.edge_data.items()}
        edges, data = ordered_edges(kept, listed.num_nodes, data)
    else:
        edges, notes = tidy_edges(listed.edges, listed.num_nodes, cleaning)
        data = {}
    notes += _told_of_pairs(listed, len(edges))
    return edges, replace(listed, edge_data=data, notes=(*listed.notes, *notes))


def _told_of_pairs(listed: EdgeList, num_edges: int) -> tuple[str, ...]:
    """Return notes on directions, and on pairs that one kind of nodes would hardly have."""
    notes = direction_note(listed.edges, listed.num_nodes, num_edges)
    odd = notes or bool((listed.edges[:, 0] == listed.edges[:, 1]).any())
    return (*notes, MAY_BE_TWO) if listed.may_be_two and odd else notes


def list_records(
    records: Records,
    num_nodes: int | None,
    self_loops: Handling,
    repeats: Handling,
    asked: EdgeFormat,
    name: str,
) -> tuple[EdgeList, Cleaning]:
    """Return the edges of a table with their self-loops and repeats, and how to handle them."""
    found = TableEdges(records, asked, num_nodes)

    def edge(row: int) -> str:
        u, v = (int(i) if found.labels is None else found.labels[i] for i in found.pairs[row])
        return f"{records.place(row)}: ({u!r}, {v!r})"

    notes = (*found.notes, *_declared(found.layout.directed))
    listed = EdgeList(found.pairs, found.num_nodes, found.labels, name, notes, found.edge_data, found.sides)
    return _earliest_first(listed, Cleaning(self_loops, repeats, edge, records.place))


def _read_listed(
    path: str | os.PathLike[str],
    num_nodes: int | None,
    self_loops: Handling,
    repeats: Handling,
    asked: EdgeFormat,
) -> tuple[EdgeList, Cleaning]:
    """Return an edge list with its self-loops and repeats, and how to handle them."""
    check_handling(self_loops, repeats, "read_edges")
    asked.check("read_edges")
    if num_nodes is not None:
        num_nodes = check_num_nodes(num_nodes, "read_edges")
    place = as_path(path, "read_edges")
    if is_parquet(place):
        records = read_parquet(place)
        return list_records(records, num_nodes, self_loops, repeats, asked, _name(place))
    if place.suffix.lower() in PARQUET_ENDINGS and place.is_file():
        raise InputError(f"{place} is no Parquet file: it does not begin with {PARQUET.decode()}")
    text = open_text(place)
    if is_json(text):
        records = read_json(text)
        return list_records(records, num_nodes, self_loops, repeats, asked, _name(place))
    return _read_text(text, num_nodes, self_loops, repeats, asked)


def _read_text(
    text: TextFile, num_nodes: int | None, self_loops: Handling, repeats: Handling, asked: EdgeFormat
) -> tuple[EdgeList, Cleaning]:
    preview = preview_text(text, asked)
    layout, header = Layout((0, 1)), asked.header
    if preview is not None:
        layout, header = find_layout(preview[0], asked), preview[1]
    columns = read_columns(
        text,
        numbers_only=num_nodes is not None,
        header=header,
        places=None if preview is None else layout.ends,
        extras=tuple(layout.extras.values()),
    )
    if asked.header is None and _begins_with_counts(columns):
        raise text.error(
            int(columns.lines[0]),
            f"{_first_line(text, columns)} looks like the numbers of nodes and edges:"
            " pass header=True (--header) to skip the line, or header=False (--no-header) if it is an edge",
        )
    if asked.header is None and _may_be_header(text, columns):
        raise text.error(
            int(columns.lines[0]),
            f"{_first_line(text, columns)} may be a header, since its names do not come again:"
            " pass header=True (--header) to skip the line, or header=False (--no-header) if it is an edge",
        )
    pairs, count, labels = _number_nodes(text, columns, num_nodes)

    def edge(row: int) -> str:
        line = int(columns.lines[row])
        return f"{text.path}, line {line}: {shown(text.lines[line - 1].strip())}"

    data, kept = kept_values(
        layout, columns.extras, lambda row: f"{text.path}, line {int(columns.lines[row])}"
    )
    titles = layout.titles or _titles(text, columns)
    found = tell_apart(pairs, count, labels, titles, asked.bipartite, fixed=num_nodes is not None)
    renumbered = _renumbering(columns.names, labels) if found.labels == labels else ()
    notes = (*columns.notes, *layout.notes, *kept, *renumbered, *found.notes)
    notes += _declared(layout.directed or says_directed(text))
    name = _name(text.path)
    may_be_two = (
        titles is None
        and asked.bipartite is None
        and found.sides is None
        and columns.names is None
        and bool((columns.ids.min(axis=0, initial=2) == 1).all())
    )
    listed = EdgeList(found.pairs, found.num_nodes, found.labels, name, notes, data, found.sides, may_be_two)
    return _earliest_first(
        listed, Cleaning(self_loops, repeats, edge, lambda row: f"line {int(columns.lines[row])}")
    )


def _titles(text: TextFile, columns: Columns) -> tuple[str, str] | None:
    """Return the names of the first two columns, if the first line was read as a header."""
    number, _, line = first_row(text.data)
    if number == columns.lines[0]:
        return None
    fields = split_fields(text, number, line, find_separator(line))
    return fields[0], fields[1]


def _earliest_first(listed: EdgeList, cleaning: Cleaning) -> tuple[EdgeList, Cleaning]:
    """Sort the edges by time where repeats are dropped, so that the earliest of equal edges is kept."""
    times = listed.edge_data.get("time")
    if times is None or cleaning.repeats != "drop":
        return listed, cleaning
    order = np.argsort(times, kind="stable")
    data = {key: column[order] for key, column in listed.edge_data.items()}
    words = replace(
        cleaning,
        edge=lambda row: cleaning.edge(int(order[row])),
        place=lambda row: cleaning.place(int(order[row])),
    )
    return replace(listed, edges=listed.edges[order], edge_data=data), words


def _declared(directed: bool) -> tuple[str, ...]:
    return ("the edges are directed, but direction is ignored",) if directed else ()


def read_pairs(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Read pairs of whole numbers from a text file, unchanged: int64 array (m, 2).

    The format is that of :func:`read_edges`, but self-loops, repeats and directions are kept.

    Args:
        path: the file.
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
    return number_integers(numbers)


def _renumbering(names: tuple[str, ...] | None, labels: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return a note on whole numbers that are not node numbers."""
    return () if names is not None else renumbering_note(labels)


def _begins_with_counts(columns: Columns) -> bool:
    """Return whether the first row is the number of nodes and the number of the rows after it."""
    rest = columns.ids[1:]
    if columns.names is not None or not len(rest) or int(columns.ids[0, 1]) != len(rest):
        return False
    # With ids from 0 or from 1, the largest tells how many nodes there are; some may have no edge.
    largest = int(rest.max())
    return int(columns.ids[0, 0]) in (largest, largest + 1, len(np.unique(rest)))


def _may_be_header(text: TextFile, columns: Columns) -> bool:
    """Return whether the first line has two words that do not come again, unlike most other lines."""
    if columns.names is None or columns.lines[0] != first_row(text.data)[0]:
        return False
    often = np.bincount(columns.ids.ravel()) > 1
    first = [columns.names[node] for node in columns.ids[0]]
    return may_be_names(first, often[columns.ids], columns.names)


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
