"""Sums over the common neighbours of node pairs.

Pairs are gathered by their end of larger degree. That node's neighbours are marked in a table of bytes, once
for all its pairs; a pair then costs a look at each neighbour of its smaller end. Lists of negatives come with
an end in common as they are, and are scored as they come; so are pairs too few to share ends.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.neighbors.marking import (
    COUNT,
    JACCARD,
    WEIGHT,
    Formula,
    Queue,
    Scratch,
    make_queue,
    make_scratch,
    score_queue,
)

# Pairs that are gathered together: bounds the memory, 28 bytes a pair.
SLAB = 1 << 24
# Where so many pairs share an end with the next one, judged by a sample, they are not gathered.
IN_RUNS, SAMPLED = 0.9, 1024
# Nor where there are so many nodes to a pair.
SPARSE = 16
# Pairs that are not gathered and laid out together.
LAID = 2048
# Pairs that are dealt to drawers together.
DEALT = 1 << 15
DRAWERS = 256
# Blocks of drawers, taken as threads fall idle.
BLOCKS = 16


def common_neighbor_counts(indptr: Int64s, indices: Int32s, pairs: Int64s) -> Float64s:
    """Return the number of common neighbours of each pair, float64 (n,).

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,), ascending within a row.
        pairs: int64 array (n, 2).
    """
    return _scored(indptr, indices, pairs, Formula(COUNT, np.empty(0)))


def common_neighbor_sums(indptr: Int64s, indices: Int32s, pairs: Int64s, weights: Float64s) -> Float64s:
    """Return the sum of ``weights[w]`` over the common neighbours w of each pair, float64 (n,).

    The terms are added in ascending order of w and the rounding errors are carried along, so pairs whose
    common neighbours have the same weights get the same score, whatever their ids: ties stay ties.

    Args:
        indptr, indices, pairs: as in :func:`common_neighbor_counts`.
        weights: float64 array (nodes,), finite.
    """
    return _scored(indptr, indices, pairs, Formula(WEIGHT, weights))


def jaccard_indices(indptr: Int64s, indices: Int32s, pairs: Int64s) -> Float64s:
    """Return the share of common neighbours in all neighbours of each pair, float64 (n,); 0 if none.

    Args:
        indptr, indices, pairs: as in :func:`common_neighbor_counts`.
    """
    return _scored(indptr, indices, pairs, Formula(JACCARD, np.empty(0)))


class Dealt(NamedTuple):
    """Pairs by drawer, within each run of ``DEALT`` pairs; the drawer is the last bits of the larger end.

    Attributes:
        starts: int32 array (runs, drawers + 1), where a run's drawers begin within the run.
        large: int32 array (n,), the end of larger degree.
        small: int32 array (n,), the other end.
        place: int32 array (n,), which pair it is.
    """

    starts: Int32s
    large: Int32s
    small: Int32s
    place: Int32s


def _scored(indptr: Int64s, indices: Int32s, pairs: Int64s, formula: Formula) -> Float64s:
    scores = np.empty(len(pairs))
    if indptr[-1] < 2**31:
        # Half as long, it stays in the cache.
        indptr = indptr.astype(np.int32)
    for first in range(0, len(pairs), SLAB):
        slab = slice(first, first + SLAB)
        _score_slab(indptr, indices, pairs[slab], formula, scores[slab])
    return scores


def _score_slab(indptr: Int64s, indices: Int32s, pairs: Int64s, formula: Formula, scores: Float64s) -> None:
    nodes, count = len(indptr) - 1, len(pairs)

    def score_runs(first: int, last: int, scratch: Scratch) -> None:
        _score_runs(indptr, indices, pairs[first:last], formula, scratch, scores[first:last])

    if count * SPARSE < nodes or _in_runs(pairs):
        run_blocks(score_runs, count, max(LAID, -(-count // BLOCKS)), partial(make_scratch, nodes))
        return
    # Few pairs share few drawers, so that looking through the drawers costs no more than the pairs.
    bits = max(0, min(DRAWERS.bit_length() - 1, count.bit_length() - 11))
    dealt = Dealt(
        np.empty((-(-count // DEALT), (1 << bits) + 1), dtype=np.int32),
        # One array in three parts: memory comes in larger pages then.
        *np.empty((3, count), dtype=np.int32),
    )

    def deal(first: int, last: int, _: Any) -> None:
        _deal(indptr, pairs, first, last, dealt)

    def score(first: int, last: int, scratch: Scratch) -> None:
        _score_drawers(indptr, indices, dealt, bits, first, last, formula, scratch, scores)

    run_blocks(deal, count, DEALT, lambda: None)
    run_blocks(score, 1 << bits, max(1, (1 << bits) // BLOCKS), partial(make_scratch, nodes))


def _in_runs(pairs: Int64s) -> bool:
    """Return whether most pairs have an end in common with the next one, as a positive's negatives do."""
    here = np.linspace(0, len(pairs) - 2, min(len(pairs) - 1, SAMPLED), dtype=np.int64)
    alike = (pairs[here] == pairs[here + 1]).any(axis=1)
    return len(here) > 0 and float(alike.mean()) > IN_RUNS


@njit(cache=True, nogil=True)
def _run(indptr: Int64s, pairs: Int64s, first: int, last: int) -> tuple[int, int]:
    """Which side the pairs from one on have in common, and where that ends; a lone pair's larger side."""
    u, v = pairs[first]
    p = first + 1
    side = 0
    if p < last and pairs[p, 0] == u:
        side = 0
    elif p < last and pairs[p, 1] == v:
        side = 1
    elif indptr[u + 1] - indptr[u] < indptr[v + 1] - indptr[v]:
        return 1, p
    while p < last and pairs[p, side] == pairs[first, side]:
        p += 1
    return side, p


@njit(cache=True, nogil=True)
def _score_runs(
    indptr: Int64s, indices: Int32s, pairs: Int64s, formula: Formula, scratch: Scratch, scores: Float64s
) -> None:
    """Score pairs as they come, by the end that a run of them shares."""
    queue = make_queue(np.int64(LAID))
    p, laid, last = np.int64(0), np.int64(0), len(pairs)
    while p < last:
        side, end = _run(indptr, pairs, p, min(last, p + LAID - laid))
        for i in range(p, end):
            node = pairs[i, 1 - side]
            queue.shared[laid], queue.place[laid] = pairs[i, side], i
            queue.start[laid], queue.size[laid] = indptr[node], indptr[node + 1] - indptr[node]
            laid += 1
        p = end
        if laid == LAID or p == last:
            score_queue(indptr, indices, queue, laid, formula, scratch, scores)
            laid = np.int64(0)


@njit(cache=True, nogil=True)
def _deal(indptr: Int64s, pairs: Int64s, first: int, last: int, dealt: Dealt) -> None:
    """Deal one run of pairs to its drawers."""
    starts = dealt.starts[first // DEALT]
    mask = len(starts) - 2
    large, small = np.empty(last - first, dtype=np.int32), np.empty(last - first, dtype=np.int32)
    cursor = np.zeros(len(starts), dtype=np.int32)
    for i in range(first, last):
        u, v = pairs[i, 0], pairs[i, 1]
        swap = indptr[u + 1] - indptr[u] < indptr[v + 1] - indptr[v]
        large[i - first] = v if swap else u
        small[i - first] = u if swap else v
        cursor[(large[i - first] & mask) + 1] += 1
    for drawer in range(mask + 1):
        cursor[drawer + 1] += cursor[drawer]
    for drawer in range(len(starts)):
        starts[drawer] = cursor[drawer]
    for i in range(last - first):
        drawer = large[i] & mask
        at = first + cursor[drawer]
        cursor[drawer] += 1
        dealt.large[at], dealt.small[at], dealt.place[at] = large[i], small[i], first + i


@njit(cache=True, nogil=True)
def _score_drawers(
    indptr: Int64s,
    indices: Int32s,
    dealt: Dealt,
    bits: int,
    first: int,
    last: int,
    formula: Formula,
    scratch: Scratch,
    scores: Float64s,
) -> None:
    """Sort each of some drawers by larger end, and score its pairs."""
    most = np.int64(0)
    for drawer in range(first, last):
        size = np.int64(0)
        for run in range(len(dealt.starts)):
            size += dealt.starts[run, drawer + 1] - dealt.starts[run, drawer]
        most = max(most, size)
    queue = make_queue(most)
    cursor = np.zeros(((len(indptr) - 2) >> bits) + 2, dtype=np.int32)
    for drawer in range(first, last):
        filled = _sort_drawer(indptr, dealt, bits, drawer, cursor, queue)
        score_queue(indptr, indices, queue, filled, formula, scratch, scores)


@njit(cache=True, nogil=True)
def _sort_drawer(indptr: Int64s, dealt: Dealt, bits: int, drawer: int, cursor: Int32s, queue: Queue) -> int:
    """Put the pairs of a drawer beside each other, those with the same larger end together; how many."""
    cursor[:] = 0
    for run in range(len(dealt.starts)):
        for i in range(run * DEALT + dealt.starts[run, drawer], run * DEALT + dealt.starts[run, drawer + 1]):
            cursor[(dealt.large[i] >> bits) + 1] += 1
    for key in range(len(cursor) - 1):
        cursor[key + 1] += cursor[key]
    for run in range(len(dealt.starts)):
        for i in range(run * DEALT + dealt.starts[run, drawer], run * DEALT + dealt.starts[run, drawer + 1]):
            key = dealt.large[i] >> bits
            at = cursor[key]
            cursor[key] = at + 1
            queue.shared[at], queue.place[at], node = dealt.large[i], dealt.place[i], dealt.small[i]
            queue.start[at], queue.size[at] = indptr[node], indptr[node + 1] - indptr[node]
    return np.int64(cursor[-1])  # type: ignore[return-value]
