"""Files that hold a model: vectors of nodes, or scores of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.arrays import read_array
from trueedge.files.columns import find_separator
from trueedge.files.number_fields import is_number_field, is_plain
from trueedge.files.text import TextFile, open_text, shown
from trueedge.scorers.item_files import LISTS, columns_of, holds_lists
from trueedge.scorers.score_text import pair_columns
from trueedge.scorers.triples import map_table
from trueedge.tasks.base import KINDS

ENDINGS = (".npy", ".npz", ".csv", ".tsv", ".txt")
# Two nodes and their score.
COLUMNS_OF_PAIRS = 3
# Two nodes, their relation and their score.
COLUMNS_OF_LINKS = 4


def read_model(path: Path, data: str = "graph", kind: str = "") -> tuple[Any, str]:
    """Return the model in a file, and in words what the file holds.

    An array (n, d) holds vectors of nodes, unless it has three columns of which two are node numbers: these
    are pairs and their scores. Everything else is a file of scores, and its path is returned. On triples, an
    array (queries, entities) holds scores.

    Args:
        path: a .npy, .npz, .csv, .tsv or .txt file; on triples, a .npy file.
        data: the kind of data.
        kind: the kind of task. One that reads files of predictions itself gets the path.
    """
    holds = KINDS.get(kind).file_holds if kind else ""
    if holds:
        return path, f"{path} holds {holds}"
    if data == "triples":
        return path, f"{path} holds {_described(map_table(path))}, a row for each query of the test part"
    if path.suffix not in (*ENDINGS, *(LISTS if kind == "recommend" else ())):
        raise InputError(f"{path}: a model's file ends in {', '.join(ENDINGS)}; for code, write FILE.py:NAME")
    if kind == "recommend" and holds_lists(path):
        return path, f"{path} holds recommended partners of nodes"
    if kind == "typed-links" and _are_links(path):
        return path, f"{path} holds scores of links"
    table = _table(path)
    if table is None:
        return path, f"{path} holds scores of pairs"
    size = f"{len(table):,} nodes in {table.shape[1]} dimensions"
    return table, f"{path} holds vectors of {size}; the score of a pair is their dot product"


def _described(table: NDArray[Any]) -> str:
    """Return in words what a table of scores holds."""
    if table.ndim != 2:
        raise InputError(f"a table of scores has the shape (queries, entities), got {table.shape}")
    return f"scores of {table.shape[1]:,} entities for {len(table):,} queries"


def _table(path: Path) -> NDArray[Any] | None:
    """Return the vectors in a file; None if it holds scores."""
    if path.suffix == ".npy":
        found = read_array(path)
    elif path.suffix == ".npz":
        arrays = read_archive(path)
        if len(arrays) != 1:
            return None
        found = next(iter(arrays.values()))
    else:
        return _text_table(path)
    return None if found.ndim != 2 or _are_pairs(found) else found


def _are_links(path: Path) -> bool:
    """Return whether the lines of a text have a source, the name of a relation, a target and a score."""
    if path.suffix in (".npy", ".npz"):
        return False
    lines = [line for line in open_text(path).lines if line.strip() and not line.startswith(("#", "%"))]
    fields = [line.split(find_separator(line)) for line in lines[:2]]
    if not fields or len(fields[-1]) != COLUMNS_OF_LINKS:
        return False
    return not is_number_field(fields[-1][1])


def _are_pairs(table: NDArray[Any]) -> bool:
    """Return whether the first two of three columns are whole numbers."""
    if table.shape[1] != COLUMNS_OF_PAIRS or table.dtype.kind not in "iuf":
        return False
    nodes = table[:, :2]
    return bool((nodes == np.floor(nodes)).all() and (nodes >= 0).all())


def _text_table(path: Path) -> NDArray[np.float64] | None:
    """Return the vectors in a text file with more than three columns; the first may be the node's number."""
    text = open_text(path)
    lines = [
        (number, line)
        for number, line in enumerate(text.lines, start=1)
        if line.strip() and not line.startswith(("#", "%"))
    ]
    if not lines:
        raise InputError(f"{path} is empty")
    separator = find_separator(lines[-1][1])
    rows = [(number, line.split(separator)) for number, line in lines]
    width = len(rows[-1][1])
    if width <= COLUMNS_OF_PAIRS:
        return None
    number, first = rows[0]
    if not is_number_field(first[-1]):
        # The names of the columns.
        if pair_columns(text, number, first) is not None:
            return None
        if {"user", "item", "rank"} <= set(columns_of(first)):
            raise InputError(f"{path} holds recommended lists: judge them under the protocol recommendation")
        rows = rows[1:]
    elif first == [str(len(rows) - 1), str(width - 1)]:
        # How many vectors of what length there are, as word2vec writes it.
        rows = rows[1:]
    table = _numbers(text, rows, width)
    numbers = table[:, 0]
    if np.array_equal(np.sort(numbers), np.arange(len(table))):
        return np.ascontiguousarray(table[np.argsort(numbers), 1:])
    whole = table == np.floor(table)
    if whole[:, 0].all() and not whole.all() and len(np.unique(numbers)) == len(table) > 1:
        raise InputError(
            f"{path}: its first column looks like node numbers,"
            f" but these must be 0 to {len(table) - 1}, once each"
        )
    return table


def _numbers(text: TextFile, rows: Sequence[tuple[int, Sequence[str]]], width: int) -> NDArray[np.float64]:
    """Return rows of numbers of one length; the first that is none is named with its line."""
    odd = [field for _, fields in rows if not is_plain("".join(fields)) for field in fields]
    if all(map(is_number_field, odd)):
        try:
            return np.array([fields for _, fields in rows], dtype=np.float64)
        except ValueError:
            pass
    for number, fields in rows:
        wrong = [field for field in fields if not is_number_field(field)]
        if wrong:
            what = f"{shown(wrong[0].strip())} is not a number: a file of vectors has only numbers"
            raise text.error(number, f"{what}, in the first column those of nodes, if any")
        if len(fields) != width:
            raise text.error(number, f"{len(fields)} columns, where the last line has {width}")
    raise InputError(f"{text.path}: its lines are not vectors of numbers")
