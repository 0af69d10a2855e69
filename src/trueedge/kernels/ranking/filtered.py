"""Ranks of targets among all candidates of their query, without the candidates known to be true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int64s
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

# One thread reads 25 GB of scores a second: fewer than these are not worth another one.
LEAST_SCORES_PER_BLOCK = 1 << 23


def count_filtered(
    scores: NDArray[np.floating[Any]],
    rows: Int64s,
    targets: Int64s,
    indptr: Int64s,
    known: NDArray[np.int32],
) -> tuple[Int64s, Int64s, int]:
    """Return how many candidates score above each target, how many tie with it, and how many are not finite.

    Args:
        scores: float32 or float64 array (b, candidates), a row for each query.
        rows: int64 array (n,), the query of each target, ascending; every query has one.
        targets: int64 array (n,), the true candidates.
        indptr: int64 array (b + 1,), where the known candidates of each query start.
        known: int32 array, the candidates that are left out, each once.

    Returns:
        two int64 arrays (n,): the candidates that are not left out with a score strictly above the target's,
        and with the same score; and the number of scores that are NaN or infinite.
    """
    above, tied = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    bad = run_blocks(
        lambda first, last, _: int(
            _count_rows(scores, rows, targets, indptr, known, first, last, above, tied)
        ),
        len(rows),
        even_blocks(len(rows), LEAST_SCORES_PER_BLOCK // max(scores.shape[1], 1)),
        lambda: None,
    )
    return above, tied, sum(bad)


@njit(cache=True, nogil=True)
def _count_rows(
    scores: NDArray[np.floating[Any]],
    rows: Int64s,
    targets: Int64s,
    indptr: Int64s,
    known: NDArray[np.int32],
    first: int,
    last: int,
    above: Int64s,
    tied: Int64s,
) -> int:
    bad = 0
    for place in range(first, last):
        row = rows[place]
        score = scores[row, targets[place]]
        higher = 0
        at_least = 0
        if place == 0 or rows[place - 1] != row:
            # In one loop: a row is read from memory once.
            for column in range(scores.shape[1]):
                other = scores[row, column]
                higher += other > score
                at_least += other >= score
                bad += not np.isfinite(other)
        else:
            for column in range(scores.shape[1]):
                other = scores[row, column]
                higher += other > score
                at_least += other >= score
        for entry in range(indptr[row], indptr[row + 1]):
            other = scores[row, known[entry]]
            higher -= other > score
            at_least -= other >= score
        above[place] = higher
        tied[place] = at_least - higher
    return bad
