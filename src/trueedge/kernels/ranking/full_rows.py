"""Ranking of all candidates of a query, a row of scores each, without sorting the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

LEAST_SCORES_PER_BLOCK = 65_536
# With so few relevant candidates, comparing a row with each of them is faster than searching.
FEW = 12


def rank_rows(
    scores: NDArray[np.floating[Any]],
    known: tuple[Int64s, Int32s],
    relevant: tuple[Int64s, Int32s],
    above: Int64s,
    tied: Int64s,
) -> None:
    """Write how many candidates lie above each relevant one of a row, and how many tie with it.

    Args:
        scores: float array (n, candidates), a row for each query.
        known: where the known candidates of each row start, int64 (n + 1,), and these, int32. They do not
            count, and none of them is relevant.
        relevant: the same for relevant candidates.
        above: int64 (relevant candidates,), to be filled, best first within a row.
        tied: the same; the relevant candidate itself counts.
    """
    rows, columns = scores.shape
    run_blocks(
        lambda first, last, _: _rank_rows(scores, *known, *relevant, first, last, above, tied),
        rows,
        even_blocks(rows, LEAST_SCORES_PER_BLOCK // max(columns, 1)),
        lambda: None,
    )


@njit(cache=True, nogil=True)
def _rank_rows(
    scores: NDArray[np.floating[Any]],
    known_starts: Int64s,
    known: Int32s,
    starts: Int64s,
    relevant: Int32s,
    first: int,
    last: int,
    above: Int64s,
    tied: Int64s,
) -> None:
    for row in range(first, last):
        begin, end = starts[row], starts[row + 1]
        if begin == end:
            continue
        out = known[known_starts[row] : known_starts[row + 1]]
        marks = np.sort(scores[row][relevant[begin:end]])[::-1]
        if end - begin <= FEW:
            _compare(scores[row], out, marks, above[begin:end], tied[begin:end])
        else:
            _search(scores[row], out, marks, above[begin:end], tied[begin:end])


@njit(cache=True, nogil=True)
def _compare(
    scores: NDArray[np.floating[Any]],
    known: Int32s,
    marks: NDArray[np.floating[Any]],
    above: Int64s,
    tied: Int64s,
) -> None:
    """Compare all scores with each mark; these loops become vector instructions."""
    for place in range(len(marks)):
        mark = marks[place]
        if place and marks[place - 1] == mark:
            above[place], tied[place] = above[place - 1], tied[place - 1]
            continue
        higher = 0
        equal = 0
        for score in scores:
            higher += score > mark
            equal += score == mark
        for candidate in known:
            higher -= scores[candidate] > mark
            equal -= scores[candidate] == mark
        above[place] = higher
        tied[place] = equal


@njit(cache=True, nogil=True)
def _search(
    scores: NDArray[np.floating[Any]],
    known: Int32s,
    marks: NDArray[np.floating[Any]],
    above: Int64s,
    tied: Int64s,
) -> None:
    """Find the place of each score among the marks, which fall."""
    count = len(marks)
    lowest = marks[count - 1]
    higher = np.zeros(count + 1, dtype=np.int64)  # above mark i, but not above mark i - 1
    equal = np.zeros(count, dtype=np.int64)
    for score in scores:
        if score >= lowest:
            _note(score, marks, higher, equal, 1)
    for candidate in known:
        if scores[candidate] >= lowest:
            _note(scores[candidate], marks, higher, equal, -1)
    total = 0
    for place in range(count):
        if place and marks[place - 1] == marks[place]:
            above[place], tied[place] = above[place - 1], tied[place - 1]
            continue
        total += higher[place]
        above[place] = total
        tied[place] = equal[place]
        total += equal[place]


@njit(cache=True, nogil=True)
def _note(score: float, marks: NDArray[np.floating[Any]], higher: Int64s, equal: Int64s, step: int) -> None:
    low, high = 0, len(marks)
    while low < high:
        middle = (low + high) // 2
        if marks[middle] > score:
            low = middle + 1
        else:
            high = middle
    if marks[low] == score:
        equal[low] += step
    else:
        higher[low] += step


def top_rows(
    scores: NDArray[np.floating[Any]], known: tuple[Int64s, Int32s], queries: Int64s, k: int, key: int
) -> Int32s:
    """Return the k best candidates of each row, best first, int32 (n, k); -1 where there are fewer.

    Ties are in a random order that depends on the key, the query and the candidate.

    Args:
        scores: float array (n, candidates).
        known: where the known candidates of each row start, and these: they are left out.
        queries: int64 (n,), the query of each row.
        k: how many.
        key: a random number.
    """
    rows, columns = scores.shape
    best = np.full((rows, k), -1, dtype=np.int32)
    run_blocks(
        lambda first, last, marks: _top_rows(
            scores, *known, queries, np.uint64(key), first, last, marks, best
        ),
        rows,
        even_blocks(rows, LEAST_SCORES_PER_BLOCK // max(columns, 1)),
        lambda: np.zeros(columns, dtype=np.bool_),
    )
    return best


@njit(cache=True, nogil=True)
def _top_rows(
    scores: NDArray[np.floating[Any]],
    known_starts: Int64s,
    known: Int32s,
    queries: Int64s,
    key: np.uint64,
    first: int,
    last: int,
    marks: NDArray[np.bool_],
    best: Int32s,
) -> None:
    k = best.shape[1]
    heap = np.empty(k, dtype=np.int32)
    for row in range(first, last):
        out = known[known_starts[row] : known_starts[row + 1]]
        for candidate in out:
            marks[candidate] = True
        query = queries[row]
        size = 0
        values = scores[row]
        for candidate in range(len(values)):
            if size == k and values[candidate] < values[heap[0]]:
                continue
            if marks[candidate]:
                continue
            if size < k:
                heap[size] = candidate
                size += 1
                _rise(heap, size - 1, values, key, query)
            elif _below(heap[0], candidate, values, key, query):
                heap[0] = candidate
                _sink(heap, size, values, key, query)
        for place in range(size - 1, -1, -1):
            best[row, place] = heap[0]
            size -= 1
            heap[0] = heap[size]
            _sink(heap, size, values, key, query)
        for candidate in out:
            marks[candidate] = False


@njit(cache=True, nogil=True)
def _below(one: int, other: int, values: NDArray[np.floating[Any]], key: np.uint64, query: int) -> bool:
    """Return whether a candidate comes after another."""
    if values[one] != values[other]:
        return bool(values[one] < values[other])
    return bool(draw_key(key, query, one) < draw_key(key, query, other))


@njit(cache=True, nogil=True)
def _rise(heap: Int32s, place: int, values: NDArray[np.floating[Any]], key: np.uint64, query: int) -> None:
    while place > 0:
        parent = (place - 1) // 2
        if not _below(heap[place], heap[parent], values, key, query):
            break
        heap[place], heap[parent] = heap[parent], heap[place]
        place = parent


@njit(cache=True, nogil=True)
def _sink(heap: Int32s, size: int, values: NDArray[np.floating[Any]], key: np.uint64, query: int) -> None:
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _below(heap[child + 1], heap[child], values, key, query):
            child += 1
        if not _below(heap[child], heap[place], values, key, query):
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child
