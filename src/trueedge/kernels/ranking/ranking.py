"""Counting how many scores lie above another: ranks without sorting what is only looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

LEAST_SCORES_PER_BLOCK = 65_536


def count_above(positive: Float64s, negative: NDArray[np.floating[Any]]) -> tuple[Int64s, Int64s]:
    """Return how many of its own negatives score strictly above each positive, and how many at least as high.

    Args:
        positive: float64 array (P,).
        negative: float32 or float64 array (P, K), a row for each positive.

    Returns:
        two int64 arrays (P,): the numbers above, and the numbers above or equal.
    """
    rows, columns = negative.shape
    above = np.empty(rows, dtype=np.int64)
    at_least = np.empty(rows, dtype=np.int64)
    least = LEAST_SCORES_PER_BLOCK // max(columns, 1)
    if rows <= least:
        _count_rows(positive, negative, 0, rows, above, at_least)
        return above, at_least
    run_blocks(
        lambda first, last, _: _count_rows(positive, negative, first, last, above, at_least),
        rows,
        even_blocks(rows, least),
        lambda: None,
    )
    return above, at_least


@njit(cache=True, nogil=True)
def _count_rows(
    positive: Float64s,
    negative: NDArray[np.floating[Any]],
    first: int,
    last: int,
    above: Int64s,
    at_least: Int64s,
) -> None:
    for row in range(first, last):
        score = positive[row]
        higher = 0
        higher_or_equal = 0
        for column in range(negative.shape[1]):
            other = negative[row, column]
            higher += other > score
            higher_or_equal += other >= score
        above[row] = higher
        at_least[row] = higher_or_equal


def count_above_listed(
    positive: Float64s, scores: NDArray[np.floating[Any]], places: Int32s
) -> tuple[Int64s, Int64s]:
    """Return :func:`count_above` for negatives that are given by their places among some scores.

    Args:
        positive: float64 array (P,).
        scores: float32 or float64 array (m,).
        places: int32 array (P, K), a row for each positive.
    """
    rows, columns = places.shape
    above = np.empty(rows, dtype=np.int64)
    at_least = np.empty(rows, dtype=np.int64)
    run_blocks(
        lambda first, last, _: _count_listed(positive, scores, places, first, last, above, at_least),
        rows,
        even_blocks(rows, LEAST_SCORES_PER_BLOCK // max(columns, 1)),
        lambda: None,
    )
    return above, at_least


@njit(cache=True, nogil=True)
def _count_listed(
    positive: Float64s,
    scores: NDArray[np.floating[Any]],
    places: Int32s,
    first: int,
    last: int,
    above: Int64s,
    at_least: Int64s,
) -> None:
    for row in range(first, last):
        score = positive[row]
        higher = 0
        higher_or_equal = 0
        for column in range(places.shape[1]):
            other = scores[places[row, column]]
            higher += other > score
            higher_or_equal += other >= score
        above[row] = higher
        at_least[row] = higher_or_equal


def rank_relevant(
    indptr: Int64s, scores: NDArray[np.floating[Any]], relevant: Bools, starts: Int64s
) -> tuple[Int64s, Int64s]:
    """Return how many candidates lie above each relevant one in its list, and how many tie with it.

    Args:
        indptr: int64 array (q + 1,), where each list starts in ``scores``.
        scores: float array (n,).
        relevant: bool array (n,).
        starts: int64 array (q + 1,), where each list's relevant candidates start in the answer.

    Returns:
        two int64 arrays (number of relevant candidates,), best first within a list: the number scored
        strictly above, and the number with the same score, itself included.
    """
    above = np.empty(starts[-1], dtype=np.int64)
    tied = np.empty(starts[-1], dtype=np.int64)
    lists = len(indptr) - 1
    run_blocks(
        lambda first, last, _: _rank_lists(indptr, scores, relevant, starts, first, last, above, tied),
        lists,
        even_blocks(lists, LEAST_SCORES_PER_BLOCK * lists // max(len(scores), 1)),
        lambda: None,
    )
    return above, tied


@njit(cache=True, nogil=True)
def _rank_lists(
    indptr: Int64s,
    scores: NDArray[np.floating[Any]],
    relevant: Bools,
    starts: Int64s,
    first: int,
    last: int,
    above: Int64s,
    tied: Int64s,
) -> None:
    for query in range(first, last):
        begin, end = starts[query], starts[query + 1]
        if begin < end:
            low, high = indptr[query], indptr[query + 1]
            _rank_one_list(scores[low:high], relevant[low:high], above[begin:end], tied[begin:end])


@njit(cache=True, nogil=True)
def _rank_one_list(scores: NDArray[np.floating[Any]], relevant: Bools, above: Int64s, tied: Int64s) -> None:
    """Sort only the relevant scores (m of n) and drop every candidate between them: n log m, not n log n."""
    marks = np.sort(scores[relevant])
    count = len(marks)
    equal = np.zeros(count, dtype=np.int64)
    between = np.zeros(count + 1, dtype=np.int64)
    for score in scores:
        place = np.searchsorted(marks, score)
        if place < count and marks[place] == score:
            equal[place] += 1
        else:
            between[place] += 1
    higher = between[count]
    end = count
    while end > 0:
        begin = end - 1
        while begin > 0 and marks[begin - 1] == marks[begin]:
            begin -= 1
        for mark in range(begin, end):
            above[count - 1 - mark] = higher
            tied[count - 1 - mark] = equal[begin]
        higher += equal[begin] + between[begin]
        end = begin


@njit(cache=True, nogil=True)
def chance_of_hit(above: Int64s, tied: Int64s, relevant: Int64s, k: int) -> Float64s:
    """Return the chance of a relevant candidate among the first k of each list, over random orders of ties.

    Args:
        above: int64 array (q,), the candidates above the best relevant one.
        tied: int64 array (q,), the candidates with its score, relevant or not.
        relevant: int64 array (q,), the relevant ones of those.
        k: how many are looked at.
    """
    chance = np.empty(len(above), dtype=np.float64)
    for query in range(len(above)):
        places = min(max(k - above[query], 0), tied[query])
        miss = 1.0
        for i in range(relevant[query]):
            miss *= max(tied[query] - places - i, 0) / (tied[query] - i)
        chance[query] = 1.0 - miss
    return chance


@njit(cache=True, nogil=True)
def reciprocal_first(above: Int64s, tied: Int64s, relevant: Int64s, k: int) -> Float64s:
    """Return the expected reciprocal rank of each list's first relevant candidate, over orders of ties.

    Args:
        above, tied, relevant: as in :func:`chance_of_hit`.
        k: the last place that counts.
    """
    expected = np.empty(len(above), dtype=np.float64)
    for query in range(len(above)):
        none_before = 1.0
        total = 0.0
        for place in range(1, min(tied[query] - relevant[query] + 1, k - above[query]) + 1):
            left = tied[query] - place + 1
            total += none_before * relevant[query] / left / (above[query] + place)
            none_before *= (left - relevant[query]) / left
        expected[query] = total
    return expected
