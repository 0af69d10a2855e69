"""Arrays of triples: checked, sorted, and indexed by head and relation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import refuse_masked
from trueedge.graph.validation import MAX_NODES

COLUMNS = ("head", "relation", "tail")
MAX_EXACT = 2.0**53


def as_triples(
    triples: ArrayLike,
    num_entities: int | None = None,
    num_relations: int | None = None,
    what: str = "triples",
) -> NDArray[np.int32]:
    """Return triples as an int32 array (m, 3), or raise an InputError that names the first bad row.

    Args:
        triples: whole numbers (m, 3): head, relation, tail.
        num_entities: heads and tails must be below this.
        num_relations: relations must be below this.
        what: the plural noun for messages.
    """
    refuse_masked(triples, what)
    try:
        table = np.asarray(triples)
    except ValueError:
        raise InputError(f"{what} must have three columns: head, relation, tail") from None
    if table.size == 0:
        return np.empty((0, 3), dtype=np.int32)
    if table.ndim != 2 or table.shape[1] != 3:
        raise InputError(f"{what} must have the shape (m, 3): head, relation, tail; got {table.shape}")
    if table.dtype.kind == "f":
        # Also NaN, infinity, and what a float does not hold exactly.
        odd = ~((table == np.floor(table)) & (np.abs(table) < MAX_EXACT))
        if odd.any():
            row, column = np.argwhere(odd)[0]
            value = table[row, column]
            raise InputError(f"{what}, row {row}: the {COLUMNS[column]} is {value:g}, not a whole number")
        table = table.astype(np.int64)
    if table.dtype.kind not in "iu":
        raise InputError(f"{what} must be whole numbers, got values of type {table.dtype}")
    for column, (name, limit) in enumerate(
        zip(COLUMNS, (num_entities, num_relations, num_entities), strict=True)
    ):
        values, most = table[:, column], MAX_NODES if limit is None else limit
        bad = (values < 0) | (values >= most)
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"{what}, row {row}: the {name} is {values[row]}, it must be from 0 to {most - 1}"
            )
    return np.ascontiguousarray(table, dtype=np.int32)


def triple_order(triples: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the order that sorts triples by head, relation and tail, int64 (m,)."""
    return np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))


def repeated(ordered: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Return which of some sorted triples equal the one before, bool (m,)."""
    same = np.zeros(len(ordered), dtype=np.bool_)
    if len(ordered):
        same[1:] = (ordered[1:] == ordered[:-1]).all(axis=1)
    return same


def sorted_unique(triples: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return triples sorted, each once."""
    ordered = triples[triple_order(triples)]
    return np.ascontiguousarray(ordered[~repeated(ordered)])


def contained(triples: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which of some triples (m, 3) are among others (n, 3), bool (m,)."""
    joined = np.concatenate([triples, others]).astype(np.int64)
    _, place = np.unique(joined, axis=0, return_inverse=True)
    place = place.reshape(-1)
    known = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.bool_)
    known[place[len(triples) :]] = True
    return known[place[: len(triples)]]


def inverse(triples: NDArray[np.int32], num_relations: int) -> NDArray[np.int32]:
    """Return (tail, relation + R, head) for each triple."""
    head, relation, tail = triples.T
    return np.column_stack([tail, relation + num_relations, head]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class TailIndex:
    """The tails of each (head, relation), in both directions: the relation r + R leads from tail to head.

    Attributes:
        keys: int64 (q,), the distinct queries, ascending: head * 2R + relation.
        indptr: int64 (q + 1,), where the tails of each query start.
        tails: int32 (m,), ascending for each query.
        num_relations: R.
    """

    keys: NDArray[np.int64]
    indptr: NDArray[np.int64]
    tails: NDArray[np.int32]
    num_relations: int

    @classmethod
    def of(cls, triples: NDArray[np.int32], num_relations: int) -> TailIndex:
        """Index triples (m, 3) of R relations; repeated ones count once."""
        both = sorted_unique(np.concatenate([triples, inverse(triples, num_relations)]))
        found = query_keys(both[:, 0], both[:, 1], num_relations)
        keys, starts = np.unique(found, return_index=True)
        indptr = np.append(starts, len(both)).astype(np.int64)
        return cls(keys, indptr, np.ascontiguousarray(both[:, 2]), num_relations)

    def rows(
        self, heads: NDArray[np.integer[Any]], relations: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the tails of some queries as rows: where each starts, int64 (b + 1,), and all tails."""
        wanted = query_keys(heads, relations, self.num_relations)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        sizes = np.where(self.keys[place] == wanted, self.indptr[place + 1] - self.indptr[place], 0)
        indptr = np.zeros(len(wanted) + 1, dtype=np.int64)
        np.cumsum(sizes, out=indptr[1:])
        if not indptr[-1]:
            return indptr, np.empty(0, dtype=np.int32)
        shift = np.repeat(self.indptr[place] - indptr[:-1], sizes)
        return indptr, self.tails[np.arange(indptr[-1]) + shift]

    def contains(
        self, queries: NDArray[np.integer[Any]], answers: NDArray[np.integer[Any]]
    ) -> NDArray[np.bool_]:
        """Return whether each answer is a tail of its query (head, relation), bool (n,)."""
        wanted = query_keys(queries[:, 0], queries[:, 1], self.num_relations)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        pair = place * self._width + np.asarray(answers, dtype=np.int64)
        found = np.minimum(np.searchsorted(self._pairs, pair), len(self._pairs) - 1)
        known = (self.keys[place] == wanted) & (np.asarray(answers) < self._width)
        return np.asarray(known & (self._pairs[found] == pair))

    @property
    def _width(self) -> int:
        return int(self.tails.max(initial=-1)) + 1

    @cached_property
    def _pairs(self) -> NDArray[np.int64]:
        """Return one int64 for each (query, tail), ascending."""
        owners = np.repeat(np.arange(len(self.keys)), np.diff(self.indptr))
        return np.asarray(owners * self._width + self.tails)


def query_keys(
    heads: NDArray[np.integer[Any]], relations: NDArray[np.integer[Any]], num_relations: int
) -> NDArray[np.int64]:
    """Return one int64 for each (head, relation); relations may be inverse ones."""
    return np.asarray(heads, dtype=np.int64) * (2 * num_relations) + np.asarray(relations, dtype=np.int64)
