"""Scores that were computed elsewhere and come as a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import as_pairs, in_sorted, pair_keys
from trueedge.graph.text import TextFile, open_text, shown
from trueedge.metrics.scores import as_scores

TEXT = (".txt", ".csv", ".tsv")
COMMENTS = ("#", "%")
MAX_ID = 2**31 - 2


@dataclass(frozen=True, eq=False)
class FileScores:
    """The scores of a file: in the order of a task's pairs, or a table to look pairs up in.

    Attributes:
        name: the file's name, for messages.
        in_order: float64 array (n,) where the file holds scores alone, else None.
        keys: sorted int64 keys of the table's unordered pairs (empty where the file holds scores alone).
        values: float64 array, the score of each key.
        num_ids: one more than the largest node id in the table.
    """

    name: str
    in_order: NDArray[np.float64] | None
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    num_ids: int

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each pair, in either direction; a pair the file does not hold is an error.

        Args:
            pairs: int64 array (n, 2).
        """
        if self.in_order is not None:
            raise InputError(
                f"{self.name} holds scores without pairs: they can only be read in a task's order"
            )
        # An id past the table's would share its key with another pair.
        known = (pairs < self.num_ids).all(axis=1)
        keys = pair_keys(pairs, self.num_ids)
        known &= in_sorted(keys, self.keys)
        if not known.all():
            u, v = pairs[~known][0]
            missing = int(np.count_nonzero(~known))
            raise InputError(
                f"{self.name} has no score for {missing} of {len(pairs)} pairs, for example ({u}, {v})"
            )
        found: NDArray[np.float64] = self.values[np.searchsorted(self.keys, keys)]
        return found


def read_scores(path: str | Path) -> FileScores:
    """Read a file of scores.

    Args:
        path: a ``.txt``, ``.csv`` or ``.tsv`` file (plain or ``.gz``) with one score a line in the order the
            task lists its pairs (positives first, then negatives row by row), or with ``u,v,score`` lines
            (node ids; commas, semicolons or spaces; comments after ``#`` or ``%`` and one header line are
            passed over); a ``.npy`` array (n,) or (n, 3) of the same; or a ``.npz`` with ``scores`` (n,) and,
            for a table, ``pairs`` (n, 2).
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no file of scores at {path}")
    if path.suffix in (".npy", ".npz"):
        pairs, scores = _read_numpy(path)
    elif path.with_suffix("" if path.suffix == ".gz" else path.suffix).suffix in TEXT:
        pairs, scores = _split_columns(_read_text(open_text(path)), path.name)
    else:
        kinds = ", ".join((".npy", ".npz", *TEXT))
        raise InputError(f"{path.name}: a file of scores must end in one of {kinds}")
    if len(scores) == 0:
        raise InputError(f"{path.name} holds no score")
    values = as_scores(scores, f"scores in {path.name}").astype(np.float64)
    if pairs is None:
        return FileScores(path.name, values, np.empty(0, np.int64), np.empty(0), 0)
    return _table(path.name, as_pairs(pairs, MAX_ID + 1, f"{path.name}: pairs"), values)


def split_flat(
    scores: NDArray[Any], num_positives: int, negatives_shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Divide scores in listing order into those of the positives and those of the negatives.

    Args:
        scores: float array (n,), positives first, then negatives row by row.
        num_positives: the number of positives P.
        negatives_shape: the shape of the negative scores, (M,) or (P, K).

    Returns:
        positive scores (P,), and negative scores in their shape.
    """
    negatives = int(np.prod(negatives_shape, dtype=np.int64))
    if len(scores) != num_positives + negatives:
        shape = " x ".join(map(str, negatives_shape))
        raise InputError(
            f"there are {len(scores)} scores, but the task lists {num_positives + negatives} pairs: "
            f"{num_positives} positives, then {shape} negatives"
        )
    floats = scores.astype(np.float64, copy=False)
    return floats[:num_positives], floats[num_positives:].reshape(negatives_shape)


def _table(name: str, pairs: NDArray[np.int64], scores: NDArray[np.float64]) -> FileScores:
    num_ids = int(pairs.max()) + 1
    keys = pair_keys(pairs, num_ids)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], scores[order]
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    conflict = again[values[again] != values[again - 1]]
    if conflict.size:
        at = int(conflict[0])
        u, v = divmod(int(keys[at]), num_ids)
        raise InputError(
            f"{name} gives the pair ({u}, {v}) two different scores, {values[at - 1]} and {values[at]}"
        )
    keep = np.ones(len(keys), dtype=np.bool_)
    keep[again] = False
    return FileScores(name, None, keys[keep], values[keep], num_ids)


def _read_numpy(path: Path) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if not isinstance(loaded, np.ndarray):
            with loaded:
                loaded = {key: loaded[key] for key in loaded.files}
    except Exception as problem:  # a damaged file makes numpy raise nearly anything, tokenize's errors too
        raise InputError(
            f"{path.name} cannot be read: {(str(problem) or 'damaged').splitlines()[0]}"
        ) from problem
    if isinstance(loaded, np.ndarray):
        return _split_columns(loaded, path.name)
    arrays: dict[str, NDArray[Any]] = loaded
    if "scores" not in arrays or not set(arrays) <= {"scores", "pairs"}:
        raise InputError(
            f"{path.name} must hold 'scores' and, for a table, 'pairs'; it holds "
            + (", ".join(map(repr, arrays)) or "nothing")
        )
    scores, pairs = arrays["scores"], arrays.get("pairs")
    if scores.ndim != 1 or (pairs is not None and pairs.shape != (len(scores), 2)):
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise InputError(f"{path.name} must hold scores (n,) and pairs (n, 2), it holds {shapes}")
    return pairs, scores


def _split_columns(array: NDArray[Any], name: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    if array.ndim == 1:
        return None, array
    if array.ndim == 2 and array.shape[1] == 3:
        return array[:, :2], array[:, 2]
    raise InputError(f"{name} must hold one score a line, or u, v and score; it holds shape {array.shape}")


def _read_text(text: TextFile) -> NDArray[np.float64]:
    """The numbers of a text file, (n,) or (n, columns)."""
    lines = text.lines
    first = next((at for at, line in enumerate(lines) if not _is_passed_over(line)), len(lines))
    separator = next((mark for mark in ";," if mark in "".join(lines[first : first + 1])), None)
    if not any(_is_number(field) for field in "".join(lines[first : first + 1]).split(separator)):
        first += 1  # a header
    rows = lines[first:]
    if all(map(_is_passed_over, rows)):
        return np.empty(0)
    try:
        array = np.loadtxt(rows, comments=COMMENTS, delimiter=separator, ndmin=2)
    except ValueError as problem:
        raise _first_fault(text, first, separator) from problem
    return array[:, 0] if array.shape[1] == 1 else array


def _first_fault(text: TextFile, first: int, separator: str | None) -> InputError:
    """Where a file that is not all numbers goes wrong."""
    columns = 0
    for number, line in enumerate(text.lines[first:], start=first + 1):
        if _is_passed_over(line):
            continue
        numbers = re.split("|".join(COMMENTS), line)[0]
        fields = [field.strip() for field in numbers.split(separator)]
        columns = columns or len(fields)
        bad = [field for field in fields if not _is_number(field)]
        if bad:
            return text.error(number, f"{shown(bad[0])} is not a number")
        if len(fields) != columns:
            return text.error(number, f"{len(fields)} columns, where the first line has {columns}")
    return InputError(f"{text.path} cannot be read as columns of numbers")


def _is_passed_over(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _is_number(field: str) -> bool:
    """As numpy reads numbers: no underscores, and only the digits 0 to 9."""
    try:
        float(field)
    except ValueError:
        return False
    return field.isascii() and "_" not in field
