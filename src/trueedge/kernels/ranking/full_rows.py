"""Ranking of all candidates of a query, a row of scores each, without sorting the row.

A row of tens of thousands of scores stays in a core's cache while it is checked, compared with its relevant
candidates and searched for its best ones, so the scores of a block are read from memory once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

LEAST_SCORES_PER_BLOCK = 65_536
# So few relevant candidates are compared with the row one by one, at 1.5 µs for 25,000 scores each. With
# more, each score is searched among them.
FEW = 256
# So few are sorted by insertion.
VERY_FEW = 12
# Scores in a part of a row: most parts have none of the best ones, which its peak tells.
PART = 64


def rank_rows(
    scores: NDArray[np.floating[Any]],
    known: tuple[Int64s, Int32s],
    relevant: tuple[Int64s, Int32s],
    above: Int64s,
    tied: Int64s,
    answers: Int32s,
) -> int:
    """Write how many candidates lie above each relevant one of a row, and how many tie with it.

    Args:
        scores: float array (n, candidates), a row for each query.
        known: where the known candidates of each row start, int64 (n + 1,), and these, int32. They do not
            count, and none of them is relevant.
        relevant: the same for relevant candidates.
        above: int64 (relevant candidates,), to be filled, best first within a row.
        tied: the same; the relevant candidate itself counts.
        answers: int32 (relevant candidates,), to be filled with these candidates in the same order.

    Returns:
        the number of scores that are NaN or infinite, those of known candidates included; if there are any,
        the ranks mean nothing.
    """
    nobody = np.zeros(scores.shape[0], dtype=np.int64)
    return _run(scores, known, relevant, nobody, 0, above, tied, answers, _no_lists(len(scores)))


def top_rows(
    scores: NDArray[np.floating[Any]], known: tuple[Int64s, Int32s], queries: Int64s, k: int, key: int
) -> Int32s:
    """Return the k best candidates of each row, best first, int32 (n, k); -1 where there are fewer.

    Ties are in a random order that depends on the key, the query and the candidate.

    Args:
        scores: float array (n, candidates), finite.
        known: where the known candidates of each row start, and these: they are left out.
        queries: int64 (n,), the query of each row.
        k: how many.
        key: a random number.
    """
    best = np.full((len(scores), k), -1, dtype=np.int32)
    none = np.zeros(len(scores) + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    empty = np.zeros(0, dtype=np.int64)
    _run(scores, known, none, queries, key, empty, empty, none[1], best)
    return best


def rank_and_list_rows(
    scores: NDArray[np.floating[Any]],
    known: tuple[Int64s, Int32s],
    relevant: tuple[Int64s, Int32s],
    queries: Int64s,
    key: int,
    above: Int64s,
    tied: Int64s,
    answers: Int32s,
    best: Int32s,
) -> int:
    """Do what :func:`rank_rows` and :func:`top_rows` do, in one pass over the rows.

    Args:
        scores, known, relevant, above, tied, answers: as in :func:`rank_rows`.
        queries, key: as in :func:`top_rows`.
        best: int32 (n, k), to be filled with the k best candidates of each row; it must hold -1.
    """
    return _run(scores, known, relevant, queries, key, above, tied, answers, best)


def _no_lists(rows: int) -> Int32s:
    return np.zeros((rows, 0), dtype=np.int32)


def _run(
    scores: NDArray[np.floating[Any]],
    known: tuple[Int64s, Int32s],
    relevant: tuple[Int64s, Int32s],
    queries: Int64s,
    key: int,
    above: Int64s,
    tied: Int64s,
    answers: Int32s,
    best: Int32s,
) -> int:
    rows, columns = scores.shape
    bad = run_blocks(
        lambda first, last, values: int(
            _rank_rows(
                scores,
                *known,
                *relevant,
                queries,
                np.uint64(key),
                first,
                last,
                values,
                above,
                tied,
                answers,
                best,
            )
        ),
        rows,
        even_blocks(rows, LEAST_SCORES_PER_BLOCK // max(columns, 1)),
        lambda: np.empty(columns, dtype=scores.dtype),
    )
    return sum(bad)


@njit(cache=True, nogil=True)
def _rank_rows(
    scores: NDArray[np.floating[Any]],
    known_starts: Int64s,
    known: Int32s,
    starts: Int64s,
    relevant: Int32s,
    queries: Int64s,
    key: np.uint64,
    first: int,
    last: int,
    values: NDArray[np.floating[Any]],
    above: Int64s,
    tied: Int64s,
    answers: Int32s,
    best: Int32s,
) -> int:
    bad = 0
    for row in range(first, last):
        wrong = _copy(scores[row], values)
        if wrong:
            # Comparisons with NaN would mislead the searches below.
            bad += wrong
            continue
        for candidate in known[known_starts[row] : known_starts[row + 1]]:
            values[candidate] = -np.inf
        begin, end = starts[row], starts[row + 1]
        if begin < end:
            answers[begin:end] = relevant[begin:end]
            _sort_by_score(answers[begin:end], values)
            if end - begin <= FEW:
                _compare(values, answers[begin:end], above[begin:end], tied[begin:end])
            else:
                _search(values, answers[begin:end], above[begin:end], tied[begin:end])
        if best.shape[1]:
            _choose_best(values, key, queries[row], best[row])
    return bad


@njit(cache=True, nogil=True)
def _copy(scores: NDArray[np.floating[Any]], values: NDArray[np.floating[Any]]) -> int:
    """Copy a row, and return how many of its scores are not finite."""
    # Loops over indices from 0 with 32-bit counters become vector instructions, ten times as fast.
    finite = np.int32(0)
    for i in range(len(scores)):
        values[i] = scores[i]
        finite = np.int32(finite + (abs(scores[i]) < np.inf))
    return len(scores) - int(finite)


@njit(cache=True, nogil=True)
def _sort_by_score(candidates: Int32s, values: NDArray[np.floating[Any]]) -> None:
    """Sort candidates by score, best first; equal ones keep their order."""
    if len(candidates) > VERY_FEW:
        candidates[:] = candidates[np.argsort(-values[candidates], kind="mergesort")]
        return
    for place in range(1, len(candidates)):
        candidate = candidates[place]
        before = place
        while before > 0 and values[candidates[before - 1]] < values[candidate]:
            candidates[before] = candidates[before - 1]
            before -= 1
        candidates[before] = candidate


@njit(cache=True, nogil=True)
def _compare(values: NDArray[np.floating[Any]], answers: Int32s, above: Int64s, tied: Int64s) -> None:
    """Compare all scores with each relevant one, in vector instructions."""
    for place in range(len(answers)):
        mark = values[answers[place]]
        if place and values[answers[place - 1]] == mark:
            above[place], tied[place] = above[place - 1], tied[place - 1]
            continue
        higher = np.int32(0)
        equal = np.int32(0)
        for i in range(len(values)):
            higher = np.int32(higher + (values[i] > mark))
            equal = np.int32(equal + (values[i] == mark))
        above[place] = higher
        tied[place] = equal


@njit(cache=True, nogil=True)
def _search(values: NDArray[np.floating[Any]], answers: Int32s, above: Int64s, tied: Int64s) -> None:
    """Find the place of each score among the relevant ones, which fall."""
    marks = values[answers]
    count = len(marks)
    lowest = marks[count - 1]
    higher = np.zeros(count + 1, dtype=np.int64)  # above mark i, but not above mark i - 1
    equal = np.zeros(count, dtype=np.int64)
    for value in values:
        if value >= lowest:
            low, high = 0, count
            while low < high:
                middle = (low + high) // 2
                if marks[middle] > value:
                    low = middle + 1
                else:
                    high = middle
            if marks[low] == value:
                equal[low] += 1
            else:
                higher[low] += 1
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
def _choose_best(values: NDArray[np.floating[Any]], key: np.uint64, query: int, best: Int32s) -> None:
    """Write the best candidates; ``best`` is a heap with the last of them on top while it is filled.

    A row is cut into parts, every w-th candidate each. The k highest peaks of parts bound the k best scores
    from below, so only about k parts are looked at.
    """
    k = len(best)
    count = len(values)
    parts = min(count, max(count // PART, 4 * k))
    peaks = _peaks(values, parts)
    bound = np.partition(peaks, parts - k)[parts - k] if k < parts else peaks.min()
    size = 0
    for part in range(parts):
        if peaks[part] < bound:
            continue
        for candidate in range(part, count, parts):
            if values[candidate] < bound or values[candidate] == -np.inf:
                continue
            if size < k:
                best[size] = candidate
                size += 1
                _rise(best, size - 1, values, key, query)
            elif _below(best[0], candidate, values, key, query):
                best[0] = candidate
                _sink(best, size, values, key, query)
    while size > 1:
        size -= 1
        best[0], best[size] = best[size], best[0]
        _sink(best, size, values, key, query)


@njit(cache=True, nogil=True)
def _peaks(values: NDArray[np.floating[Any]], parts: int) -> NDArray[np.floating[Any]]:
    peaks = values[:parts].copy()
    for start in range(parts, len(values), parts):
        others = values[start : start + parts]
        for i in range(len(others)):
            peaks[i] = others[i] if others[i] > peaks[i] else peaks[i]
    return peaks


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
