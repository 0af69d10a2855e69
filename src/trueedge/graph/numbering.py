"""Node numbers for ids: whole numbers in their order, names as they first appear."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, is_whole
from trueedge.files.text import shown
from trueedge.graph.validation import check_num_nodes

# Entries of a table of ids, for each id that is read.
TABLE_SIZE = 2
LARGEST_ID = int(np.iinfo(np.int64).max)

Numbered = tuple[NDArray[np.int64], int, tuple[str, ...] | None]


def number_integers(ids: NDArray[np.int64]) -> Numbered:
    """Return pairs of ``0..n-1``, n, and the ids as labels unless they are ``0..n-1`` themselves.

    Args:
        ids: int64 array (m, 2), not negative, m at least one.
    """
    top = int(ids.max())
    if top < TABLE_SIZE * ids.size:
        # A table takes less time than sorting; one huge id would make it huge.
        seen = np.zeros(top + 1, dtype=np.bool_)
        seen[ids] = True
        if seen.all():
            return ids, check_num_nodes(top + 1), None
        values, renumbered = np.flatnonzero(seen), (np.cumsum(seen) - 1)[ids]
    else:
        values, flat = np.unique(ids, return_inverse=True)
        renumbered = flat.reshape(-1, 2)
    return renumbered, check_num_nodes(len(values)), tuple(map(str, values.tolist()))


def renumbering_note(labels: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return a note on whole numbers that are not node numbers."""
    if labels is None:
        return ()
    last = len(labels) - 1
    return (f"the ids {labels[0]} to {labels[-1]} are read as names: node numbers are 0 to {last}",)


def number_values(first: Sequence[Any], second: Sequence[Any], place: Callable[[int], str]) -> Numbered:
    """Return pairs of ``0..n-1``, n, and labels, for ids that are numbers or names.

    If all are whole numbers, they are numbered in their order; otherwise all are names.

    Args:
        first: the first id of each edge, m of them, at least one.
        second: the second id of each edge.
        place: words for where a row is.
    """
    columns = [_as_ids(values, place) for values in (first, second)]
    if all(isinstance(column, np.ndarray) for column in columns):
        return number_integers(np.stack([np.asarray(column) for column in columns], axis=1))
    names = [[str(value) for value in column] for column in columns]
    flat = [name for pair in zip(*names, strict=True) for name in pair]
    known: dict[str, int] = {}
    ids = np.array([known.setdefault(name, len(known)) for name in flat], dtype=np.int64)
    return ids.reshape(-1, 2), check_num_nodes(len(known)), tuple(known)


def named_pairs(
    edges: object, labels: Iterable[str] | None
) -> tuple[NDArray[np.int64], tuple[str, ...]] | None:
    """Return pairs of names as pairs of numbers, and the names; None if they are not pairs of names.

    Args:
        edges: pairs, at least one of whose ids is a string.
        labels: the names in the order of their numbers; None to number them as they first appear.
    """
    if isinstance(edges, np.ma.MaskedArray):
        return None
    try:
        array = np.asarray(edges)
        if array.dtype.kind not in "OUT" or array.ndim != 2 or array.shape[1] != 2 or not len(array):
            return None
        # As an array of texts, 1.5 would be a name.
        flat = (array if isinstance(edges, np.ndarray) else np.array(edges, dtype=object)).ravel().tolist()
    except Exception:  # an object that says it is an array may raise anything
        return None
    if not any(isinstance(value, str) for value in flat):
        return None
    wrong = next(
        (row for row, value in enumerate(flat) if not isinstance(value, str) and not is_whole(value)), None
    )
    if wrong is not None:
        raise InputError(f"edges: row {wrong // 2} has {flat[wrong]!r}, which is not a node id")
    names = list(map(str, flat))
    if "" in names:
        raise InputError(f"edges: row {names.index('') // 2} has an empty name")
    known = {name: number for number, name in enumerate(labels or ())}
    if labels is not None:
        strange = next((row for row, name in enumerate(names) if name not in known), None)
        if strange is not None:
            raise InputError(
                f"edges: row {strange // 2} has {names[strange]!r}, which is not among the labels"
            )
    ids = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)
    return ids.reshape(-1, 2), tuple(known)


def _as_ids(values: Sequence[Any], place: Callable[[int], str]) -> NDArray[np.int64] | list[Any]:
    """Return whole numbers as int64 (m,), or a list of names and numbers."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        # pandas makes fractions of whole numbers in a column with gaps.
        missing, wrong = np.isnan(array), (array != np.floor(array)) | (np.abs(array) >= 2**53)
        if missing.any():
            raise InputError(f"{place(int(missing.argmax()))}: an id is missing")
        if wrong.any():
            row = int(wrong.argmax())
            raise InputError(f"{place(row)}: {shown(str(array[row]))} is not a node id")
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" and array.max() <= LARGEST_ID:
        if array.min() < 0:
            row = int(array.argmin())
            raise InputError(f"{place(row)}: the id {array[row]} is below 0")
        return array.astype(np.int64)
    listed = list(values)
    for row, value in enumerate(listed):
        if value is None or value == "" or value != value or type(value).__name__ in ("NAType", "NaTType"):
            raise InputError(f"{place(row)}: an id is missing")
        if isinstance(value, str):
            continue
        if not is_whole(value):
            raise InputError(f"{place(row)}: {shown(str(value))} is not a node id")
        if value < 0:
            raise InputError(f"{place(row)}: the id {value} is below 0")
    if all(is_whole(value) and value <= LARGEST_ID for value in listed):
        return np.array(listed, dtype=np.int64)
    return listed
