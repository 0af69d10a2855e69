"""Pairs of queries with all candidates that they do not know, and rows of their scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

LEAST_PAIRS_PER_BLOCK = 65_536


def unknown_pairs(queries: Int64s, known: tuple[Int64s, Int32s], columns: int) -> tuple[Int64s, Int64s]:
    """Return the pairs of each query with the candidates it does not know, in ascending order.

    Args:
        queries: int64 (n,).
        known: where the known candidates of each query start, int64 (n + 1,), and these, int32, each once.
        columns: the number of candidates.

    Returns:
        where the pairs of each query start, int64 (n + 1,), and the pairs, int64 (m, 2).
    """
    starts = np.arange(len(queries) + 1) * columns - known[0]
    pairs = np.empty((starts[-1], 2), dtype=np.int64)
    _run(
        lambda first, last, marks: _list_pairs(queries, *known, starts, first, last, marks, pairs),
        len(queries),
        columns,
    )
    return starts, pairs


def spread_scores(scores: Float64s, starts: Int64s, known: tuple[Int64s, Int32s], columns: int) -> Float64s:
    """Return the scores of :func:`unknown_pairs` as rows, float64 (n, columns), 0 for known candidates."""
    rows = np.zeros((len(starts) - 1, columns), dtype=np.float64)
    _run(
        lambda first, last, marks: _spread(scores, starts, *known, first, last, marks, rows),
        len(rows),
        columns,
    )
    return rows


def _run(work: Callable[[int, int, Bools], None], rows: int, columns: int) -> None:
    run_blocks(
        work,
        rows,
        even_blocks(rows, LEAST_PAIRS_PER_BLOCK // max(columns, 1)),
        lambda: np.zeros(columns, dtype=np.bool_),
    )


@njit(cache=True, nogil=True)
def _list_pairs(
    queries: Int64s,
    known_starts: Int64s,
    known: Int32s,
    starts: Int64s,
    first: int,
    last: int,
    marks: Bools,
    pairs: Int64s,
) -> None:
    for row in range(first, last):
        out = known[known_starts[row] : known_starts[row + 1]]
        for candidate in out:
            marks[candidate] = True
        place = starts[row]
        for candidate in range(len(marks)):
            if not marks[candidate]:
                pairs[place, 0] = queries[row]
                pairs[place, 1] = candidate
                place += 1
        for candidate in out:
            marks[candidate] = False


@njit(cache=True, nogil=True)
def _spread(
    scores: Float64s,
    starts: Int64s,
    known_starts: Int64s,
    known: Int32s,
    first: int,
    last: int,
    marks: Bools,
    rows: Float64s,
) -> None:
    for row in range(first, last):
        out = known[known_starts[row] : known_starts[row + 1]]
        for candidate in out:
            marks[candidate] = True
        place = starts[row]
        for candidate in range(len(marks)):
            if not marks[candidate]:
                rows[row, candidate] = scores[place]
                place += 1
        for candidate in out:
            marks[candidate] = False
