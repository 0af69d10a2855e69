"""Pairs that come by a shared end: its row is marked once, and the other ends' rows are looked through.

What is left to wait for are rows of the adjacency, so they are asked for a dozen pairs ahead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s, UInt8s
from trueedge.kernels.arrays.prefetch import prefetch
from trueedge.kernels.arrays.sorted_rows import place_of

COUNT, WEIGHT, JACCARD = 0, 1, 2

# How many pairs ahead a row is asked for.
AHEAD = 12
# A neighbourhood that is marked without a thought.
SHORT = 64
# A step of a search takes as long as so many marks.
MARKS_A_STEP = 2


class Formula(NamedTuple):
    """What is made of the common neighbours of a pair.

    Attributes:
        kind: ``COUNT``, ``WEIGHT`` or ``JACCARD``.
        weights: float64 array (nodes,), read where the kind is ``WEIGHT``.
    """

    kind: int
    weights: Float64s


class Scratch(NamedTuple):
    """What a thread marks and lists in.

    Attributes:
        marked: uint8 array (nodes,), zero in between.
        hits: int32 array (nodes,), the common neighbours of a pair.
    """

    marked: UInt8s
    hits: Int32s


class Queue(NamedTuple):
    """Pairs to be scored, those that share an end beside each other, and ``AHEAD`` places more.

    Attributes:
        shared: int32 array (n + AHEAD,), the end that neighbouring pairs have in common.
        start: int64 array (n + AHEAD,), where the row of the other end begins.
        size: int32 array (n + AHEAD,), how long it is.
        place: int32 array (n + AHEAD,), where the score goes.
    """

    shared: Int32s
    start: Int64s
    size: Int32s
    place: Int32s


def make_scratch(nodes: int) -> Scratch:
    """Return scratch memory for a graph of so many nodes."""
    return Scratch(np.zeros(nodes, dtype=np.uint8), np.empty(nodes, dtype=np.int32))


@njit(cache=True, nogil=True)
def make_queue(count: int) -> Queue:
    """Return an empty queue for so many pairs."""
    return Queue(
        np.zeros(count + AHEAD, dtype=np.int32),
        np.zeros(count + AHEAD, dtype=np.int64),
        np.zeros(count + AHEAD, dtype=np.int32),
        np.zeros(count + AHEAD, dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def score_queue(
    indptr: Int64s,
    indices: Int32s,
    queue: Queue,
    filled: int,
    formula: Formula,
    scratch: Scratch,
    scores: Float64s,
) -> None:
    """Score the first pairs of a queue.

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,), ascending within a row.
        formula: what a score is.
        scratch: given back as it came.
        scores: float64 array, filled at the pairs' places.
    """
    shared, start, size, place = queue
    kind, weights = formula
    marked, hits = scratch
    p = np.int64(0)
    while p < filled:
        node = shared[p]
        # Unsigned, here and below: the compiler then need not look for places counted from the end.
        row_start, row_end = np.uint64(indptr[node]), np.uint64(indptr[node + 1])
        degree = indptr[node + 1] - indptr[node]
        marking = degree <= SHORT or _marking_pays(shared, size, p, filled, degree)
        if marking:
            for i in range(row_start, row_end):
                marked[np.uint32(indices[i])] = 1
        while p < filled and shared[p] == node:
            prefetch(indices, start[p + AHEAD])
            prefetch(indices, start[p + AHEAD] + size[p + AHEAD] - 1)
            prefetch(indices, indptr[shared[p + AHEAD]])
            other_start, other_end = np.uint64(start[p]), np.uint64(start[p] + size[p])
            found, total = np.int64(0), np.int64(0)
            if not marking:
                found = _search(indices[other_start:other_end], indices[row_start:row_end], hits)
                total = np.int64(hits[0])
            elif kind == WEIGHT:
                for i in range(other_start, other_end):
                    w = np.int64(indices[i])
                    mark = np.int64(marked[np.uint32(w)])
                    found += mark
                    # The only common neighbour, where it is the only one.
                    total += w & -mark
            else:
                for i in range(other_start, other_end):
                    found += marked[np.uint32(indices[i])]
            score = np.float64(found)
            if kind == JACCARD:
                score = found / max(degree + size[p] - found, 1)
            elif kind == WEIGHT and found == 1:
                score = weights[total]
            elif kind == WEIGHT and found > 1:
                if marking:
                    _list_marked(indices[other_start:other_end], marked, hits)
                score = _sum(hits[:found], weights)
            scores[place[p]] = score
            p += 1
        if marking:
            for i in range(row_start, row_end):
                marked[np.uint32(indices[i])] = 0


@njit(cache=True, nogil=True)
def _list_marked(row: Int32s, marked: UInt8s, hits: Int32s) -> None:
    """List the marked nodes of a row."""
    found = np.int64(0)
    # Written first and counted after, which spares an unforeseeable branch.
    for w in row:
        hits[found] = w
        found += marked[np.uint32(w)]


@njit(cache=True, nogil=True)
def _marking_pays(shared: Int32s, size: Int32s, p: int, filled: int, degree: int) -> bool:
    """Return whether to mark a shared neighbourhood rather than search it for every other one."""
    steps, reach = 1, 1
    while reach < degree:
        reach *= 2
        steps += 1
    node, searched = shared[p], 0
    while p < filled and shared[p] == node:
        searched += size[p] * steps * MARKS_A_STEP
        if searched >= 2 * degree:
            return True
        p += 1
    return False


@njit(cache=True, nogil=True)
def _search(row: Int32s, long_row: Int32s, hits: Int32s) -> int:
    """Look each node of a short row up in a long one, in steps that double from the last place."""
    found = 0
    low, end = 0, len(long_row)
    for w in row:
        step, high = 1, low
        while high < end and long_row[high] < w:
            low = high + 1
            high += step
            step *= 2
        low = place_of(long_row, low, min(high, end), w)
        if low == end:
            break
        if long_row[low] == w:
            hits[found] = w
            found += 1
    return found


@njit(cache=True, nogil=True)
def _sum(nodes: Int32s, weights: Float64s) -> float:
    """Add the weights of some nodes, and what rounding lost on the way (Knuth's two-sum)."""
    total, lost = 0.0, 0.0
    for w in nodes:
        term = weights[w]
        after = total + term
        kept = after - total
        total, lost = after, lost + ((total - (after - kept)) + (term - kept))
    return total + lost
