"""Read files of scores that were computed elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.archives import read_archive
from trueedge.files.arrays import ZIP, read_array
from trueedge.files.text import as_path, open_text, readable, shown
from trueedge.graph import as_pairs, in_sorted, pair_keys
from trueedge.graph.bipartite import NamesBySide
from trueedge.metrics.scores import PairScores, as_scores
from trueedge.scorers.pair_titles import INSTEAD, PairsTitle, title_of_array, title_of_lines
from trueedge.scorers.score_text import read_numbers, read_written

TEXT = (".txt", ".csv", ".tsv")
MAX_ID = 2**31 - 2
NODE_NUMBER = re.compile("[0-9]{1,10}")


@dataclass(frozen=True, eq=False)
class FileScores:
    """The scores of a file: a table to look pairs up in, or scores in an order that a task knows.

    Attributes:
        name: the file's name, for messages.
        in_order: float64 array (n,) if the file holds only scores, else None. They are in the order of a
            task's distinct pairs or, with ``positives``, positives first and then negatives row by row.
        keys: sorted int64 keys of the table's unordered pairs (empty if the file holds only scores).
        values: float64 array, the score of each key.
        num_ids: one more than the largest node id in the table.
        labels: the names of the nodes, for messages; None if they are numbers.
        positives: how many of the scores in order are of positives; None if the file does not tell.
        title: the part of a task that the file says it is of, or None.
    """

    name: str
    in_order: NDArray[np.float64] | None
    keys: NDArray[np.int64]
    values: NDArray[np.float64]
    num_ids: int
    labels: Sequence[str] | None = None
    positives: int | None = None
    title: PairsTitle | None = None

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of pairs (n, 2) in either direction, or raise an InputError if one is missing."""
        if self.in_order is not None:
            raise InputError(f"{self.name} holds scores without pairs: {INSTEAD}")
        # An id past the table's would share its key with another pair.
        known = (pairs < self.num_ids).all(axis=1)
        keys = pair_keys(pairs, self.num_ids)
        known &= in_sorted(keys, self.keys)
        if not known.all():
            example = _named(pairs[~known][0].tolist(), self.labels)
            missing = int(np.count_nonzero(~known))
            raise InputError(
                f"{self.name} has no score for {missing} of {len(pairs)} pairs, for example {example}"
            )
        found: NDArray[np.float64] = self.values[np.searchsorted(self.keys, keys)]
        return found


def read_scores(
    path: str | Path, labels: Sequence[str] | None = None, sides: NamesBySide | None = None
) -> FileScores:
    """Read a file of scores.

    Args:
        path: a ``.txt``, ``.csv`` or ``.tsv`` file (plain or ``.gz``) with ``u,v,score`` lines (node ids;
            commas, semicolons or spaces; comments after ``#`` or ``%`` and one header line are ignored), or
            with one score per line in the order of the task's distinct pairs, below the first line of the
            file that ``trueedge pairs`` wrote; a ``.npy`` array (n, 3); a ``.npz`` with ``scores`` (n,) and
            ``pairs`` (n, 2) or, for the order of the distinct pairs, ``task``: that first line, or the hash
            of the task; or the ``.npz`` of a certificate, with ``positive`` (P,) and ``negative`` (M,) or
            (P, K).
        labels: the names of the nodes, if any. The ids of a table are looked up among them; if one is not
            found, and all are whole numbers below the number of nodes, they are node numbers.
        sides: of a bipartite graph, the nodes of either side by their names without a prefix: the first id of
            a line may then be one of the first side, and the second one of the second.
    """
    path = as_path(path, "read_scores")
    name = readable(path.name)
    if not _is_file(path):
        raise InputError(f"there is no file of scores at {path}")
    positives = None
    if path.suffix in (".npy", ".npz"):
        pairs, scores, positives, title = read_numpy(path)
    elif path.with_suffix("" if path.suffix == ".gz" else path.suffix).suffix in TEXT:
        text = open_text(path)
        title = title_of_lines(text.lines)
        known = frozenset(labels or ()).union(*(sides or ()))
        written = None if labels is None else read_written(text, nodes=known)
        if labels is not None and written is not None:
            found = _look_up(written.ids, labels, lambda row: f"{path}, line {written.lines[row]}", sides)
            return table(name, found, as_scores(written.scores, f"scores in {name}"), labels, title)
        pairs, scores = _split_columns(read_numbers(text), name)
    else:
        kinds = ", ".join((".npy", ".npz", *TEXT))
        raise InputError(f"{name}: a file of scores must end in one of {kinds}")
    if len(scores) == 0:
        raise InputError(f"{name} holds no score")
    values = as_scores(scores, f"scores in {name}").astype(np.float64)
    if pairs is None:
        none = np.empty(0, np.int64)
        return FileScores(name, values, none, np.empty(0), 0, positives=positives, title=title)
    if labels is not None:
        ids = [as_written(value) for value in pairs.ravel().tolist()]
        found = _look_up(ids, labels, lambda row: f"{name}: pairs: row {row}", sides)
        return table(name, found, values, labels, title)
    return table(name, as_pairs(pairs, MAX_ID + 1, f"{name}: pairs"), values, title=title)


def split_flat(
    scores: NDArray[Any], num_positives: int, negatives_shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Split scores (n,), positives first, into positive scores (P,) and negative scores (M,) or (P, K)."""
    negatives = int(np.prod(negatives_shape, dtype=np.int64))
    if len(scores) != num_positives + negatives:
        shape = " x ".join(map(str, negatives_shape))
        raise InputError(
            f"there are {len(scores)} scores, but the task lists {num_positives + negatives} pairs: "
            f"{num_positives} positives, then {shape} negatives"
        )
    floats = scores.astype(np.float64, copy=False)
    return floats[:num_positives], floats[num_positives:].reshape(negatives_shape)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError) as problem:  # a folder that may not be entered, a NUL in the name
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{str(path)!r} cannot be read: {reason}") from None


def table(
    name: str,
    pairs: NDArray[np.int64],
    scores: NDArray[np.float64],
    labels: Sequence[str] | None = None,
    title: PairsTitle | None = None,
) -> FileScores:
    """Return scores to look up by pair; one pair with two different scores is an error.

    Args:
        name: the file's name, for messages.
        pairs: int64 array (n, 2) of node numbers.
        scores: float64 array (n,).
        labels: the names of the nodes, for messages.
        title: the part of a task that the file says it is of.
    """
    num_ids = int(pairs.max()) + 1
    keys = pair_keys(pairs, num_ids)
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], scores[order]
    again = np.flatnonzero(keys[1:] == keys[:-1]) + 1
    conflict = again[values[again] != values[again - 1]]
    if conflict.size:
        at = int(conflict[0])
        pair = _named(divmod(int(keys[at]), num_ids), labels)
        raise InputError(
            f"{name} gives the pair {pair} two different scores, {values[at - 1]} and {values[at]}"
        )
    keep = np.ones(len(keys), dtype=np.bool_)
    keep[again] = False
    return FileScores(name, None, keys[keep], values[keep], num_ids, labels, title=title)


def _named(pair: Sequence[int], labels: Sequence[str] | None) -> str:
    u, v = pair if labels is None else (labels[node] for node in pair)
    return f"({u}, {v})"


def _look_up(
    ids: Sequence[str],
    labels: Sequence[str],
    where: Callable[[int], str],
    sides: NamesBySide | None = None,
) -> NDArray[np.int64]:
    """Return the nodes of 2m ids as they are written, int64 (m, 2); ``where`` names a row in errors."""
    place = {label: node for node, label in enumerate(labels)}
    by_column = sides or ({}, {})
    nodes = np.array([place.get(value, -1) for value in ids], dtype=np.int64)
    for at in np.flatnonzero(nodes < 0):
        nodes[at] = by_column[at % 2].get(ids[int(at)], -1)
    if (nodes < 0).any():
        # The pairs of a task are node numbers, and users may write these.
        if not all(NODE_NUMBER.fullmatch(value) and int(value) < len(labels) for value in ids):
            first = int((nodes < 0).argmax())
            raise InputError(f"{where(first // 2)}: no node is called {shown(ids[first])}")
        nodes = np.array([int(value) for value in ids], dtype=np.int64)
    return nodes.reshape(-1, 2)


def as_written(value: object) -> str:
    """Return an id of an array as text: 7.0 in a table of floats is the id 7."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_numpy(path: Path) -> tuple[NDArray[Any] | None, NDArray[Any], int | None, PairsTitle | None]:
    """Return the pairs of a table, the scores, and the number of positives and the title, if known."""
    name = readable(path.name)
    arrays = _arrays(path, name)
    if isinstance(arrays, np.ndarray):
        return *_split_columns(arrays, name), None, None
    if set(arrays) == {"positive", "negative"}:
        found = PairScores.check(
            *(as_scores(arrays[what], f"{what} scores in {name}") for what in ("positive", "negative"))
        )
        both = np.concatenate([found.positive, found.negative.ravel()])
        return None, both, len(found.positive), None
    if "scores" not in arrays or not set(arrays) <= {"scores", "pairs", "task"}:
        raise InputError(
            f"{name} must hold 'scores' with 'pairs' or 'task', or 'positive' and 'negative'; it holds "
            + (", ".join(map(repr, arrays)) or "nothing")
        )
    scores, pairs = arrays["scores"], arrays.get("pairs")
    if scores.ndim != 1 or (pairs is not None and pairs.shape != (len(scores), 2)):
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise InputError(f"{name} must hold scores (n,) and pairs (n, 2), it holds {shapes}")
    title = title_of_array(arrays["task"], f"'task' in {name}") if "task" in arrays else None
    return pairs, scores, None, title


def _arrays(path: Path, name: str) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """Return the array of a file, or the arrays of an archive by name, whatever the ending."""
    try:
        with path.open("rb") as stream:
            archived = stream.read(4) in ZIP
        return read_archive(path, name) if archived else read_array(path, "it")
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except InputError as error:
        raise InputError(f"{name} cannot be read: {error}") from None


def _split_columns(array: NDArray[Any], name: str) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    if array.ndim == 1:
        return None, array
    if array.ndim == 2 and array.shape[1] == 3:
        return array[:, :2], array[:, 2]
    raise InputError(f"{name} must contain one score per line or u,v,score; got shape {array.shape}")
