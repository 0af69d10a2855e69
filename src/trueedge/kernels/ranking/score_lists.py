"""Lists of scored nodes that are sorted only where somebody looks.

Scores are held as the bits of their float64, which order numbers above zero as the numbers themselves. One
pass deals them to buckets, highest first; a bucket is sorted when a rank in it is asked for. So the best k of
a long list, and the rank of any one node, cost little more than reading the list.

Scores are rounded to 41 binary digits before they are ranked. Sums of the same terms in another order differ
in their last bits, and that is no reason to rank one node before another: what is equal shall tie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int32s, Int64s

MAX_BUCKETS = 8192
SCORES_PER_BUCKET = 4
ROUNDED_BITS = 12

# The columns of ScoreLists.shape.
SIZE, HIGHEST, WIDTH, ORDERED = 0, 1, 2, 3


class ScoreLists(NamedTuple):
    """A few lists over the same nodes, each highest first up to the order within a bucket.

    Attributes:
        bits: int64 array (lists, n), the bits of every node's score.
        keys: int64 array (lists, n), the bits of the listed scores, by bucket.
        nodes: int32 array (lists, n), the nodes beside them.
        room: int64 array (n,), overwritten whenever a list is filled.
        starts: int64 array (lists, MAX_BUCKETS + 1): bucket i is at ``starts[i]:starts[i + 1]``.
        sorted: bool array (lists, MAX_BUCKETS), which buckets are in order.
        shape: int64 array (lists, 4): how many nodes are listed, the highest key, the width of a bucket as a
            power of two, and how many nodes from the highest on are in order.
    """

    bits: Int64s
    keys: Int64s
    nodes: Int32s
    room: Int64s
    starts: Int64s
    sorted: Bools
    shape: Int64s


def score_lists(rows: Float64s) -> ScoreLists:
    """Return empty lists over rows of scores, float64 (lists, n), filled and cleared by the caller."""
    lists = len(rows)
    return ScoreLists(
        rows.view(np.int64),
        np.empty(rows.shape, dtype=np.int64),
        np.empty(rows.shape, dtype=np.int32),
        np.empty(rows.shape[1], dtype=np.int64),
        np.zeros((lists, MAX_BUCKETS + 1), dtype=np.int64),
        np.zeros((lists, MAX_BUCKETS), dtype=np.bool_),
        np.zeros((lists, 4), dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def fill_list(lists: ScoreLists, at: int, listed: Int32s, top: int) -> None:
    """List the nodes that are scored above zero, the best ``top`` and their ties in order.

    Args:
        lists: from :func:`score_lists`; the scores of the listed nodes are rounded.
        at: which of the lists.
        listed: int32 array (m,), the nodes that may have a score, each once; overwritten.
        top: how many of the best to put in order.
    """
    bits, room, shape, starts = lists.bits[at], lists.room, lists.shape[at], lists.starts[at]
    half_step = np.int64(1 << (ROUNDED_BITS - 1))
    size = 0
    high, low = np.int64(0), np.int64(0x7FFFFFFFFFFFFFFF)
    for node in listed:
        place = np.uint32(node)
        key = ((bits[place] + half_step) >> ROUNDED_BITS) << ROUNDED_BITS
        bits[place] = key
        room[size], listed[size] = key, node
        size += key > 0
        high, low = max(high, key), min(low, key if key > 0 else low)
    buckets = max(1, min(MAX_BUCKETS, size // SCORES_PER_BUCKET))
    width = 0
    while size > 0 and (high - low) >> width >= buckets:
        width += 1
    shape[SIZE], shape[HIGHEST], shape[WIDTH], shape[ORDERED] = size, high, width, 0
    _deal(lists, at, listed[:size], buckets)
    bucket = np.int64(0)
    while shape[ORDERED] < min(top, size):
        _sort_bucket(lists, at, bucket)
        bucket += 1
        shape[ORDERED] = starts[bucket]


@njit(cache=True, nogil=True)
def rank_of(lists: ScoreLists, at: int, key: int) -> int:
    """1 + how many scores of a list are strictly higher than one of them, whose bits are given."""
    bucket = (lists.shape[at, HIGHEST] - key) >> lists.shape[at, WIDTH]
    if not lists.sorted[at, bucket]:
        _sort_bucket(lists, at, bucket)
    first, last = lists.starts[at, bucket], lists.starts[at, bucket + 1]
    while first < last:
        middle = (first + last) >> 1
        if lists.keys[at, middle] > key:
            first = middle + 1
        else:
            last = middle
    return int(first + 1)


@njit(cache=True, nogil=True)
def sort_descending(keys: Int64s, nodes: Int32s, first: int, last: int) -> None:
    """Sort ``keys[first:last]``, and the nodes beside them, in place; equal keys stay in any order.

    Shell's sort: what is sorted here is short.
    """
    gap = last - first
    while gap > 1:
        gap = max(1, gap * 4 // 9)
        for i in range(first + gap, last):
            key, node, j = keys[i], nodes[i], i
            while j - gap >= first and keys[j - gap] < key:
                keys[j], nodes[j] = keys[j - gap], nodes[j - gap]
                j -= gap
            keys[j], nodes[j] = key, node


@njit(cache=True, nogil=True)
def move_highest(keys: Int64s, nodes: Int32s, size: int, wanted: int) -> None:
    """Move the ``wanted`` highest of the first ``size`` keys to the front; keys are distinct."""
    first, last = 0, size - 1
    while first < last:
        pivot = _median(keys[first], keys[(first + last) >> 1], keys[last])
        i, j = first, last
        while i <= j:
            while keys[i] > pivot:
                i += 1
            while keys[j] < pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                nodes[i], nodes[j] = nodes[j], nodes[i]
                i += 1
                j -= 1
        if wanted - 1 <= j:
            last = j
        elif wanted >= i + 1:
            first = i
        else:
            return


@njit(cache=True, nogil=True)
def _deal(lists: ScoreLists, at: int, listed: Int32s, buckets: int) -> None:
    """Deal the nodes to buckets by their keys, which lie in ``room`` beside them."""
    keys, nodes, room, starts = lists.keys[at], lists.nodes[at], lists.room, lists.starts[at]
    high, width = lists.shape[at, HIGHEST], lists.shape[at, WIDTH]
    for bucket in range(buckets):
        starts[bucket] = 0
        lists.sorted[at, bucket] = False
    for i in range(len(listed)):
        starts[(high - room[i]) >> width] += 1
    total = 0
    for bucket in range(buckets):
        total += starts[bucket]
        starts[bucket] = total
    starts[buckets] = total
    for i in range(len(listed)):
        bucket = (high - room[i]) >> width
        starts[bucket] -= 1
        keys[starts[bucket]] = room[i]
        nodes[starts[bucket]] = listed[i]


@njit(cache=True, nogil=True)
def _sort_bucket(lists: ScoreLists, at: int, bucket: int) -> None:
    lists.sorted[at, bucket] = True
    keys, first, last = lists.keys[at], lists.starts[at, bucket], lists.starts[at, bucket + 1]
    # Long buckets are mostly of equals: all that a hub alone leads to have the same score.
    i = first + 1
    while i < last and keys[i] <= keys[i - 1]:
        i += 1
    if i < last:
        sort_descending(keys, lists.nodes[at], first, last)


@njit(cache=True, nogil=True)
def _median(a: int, b: int, c: int) -> int:
    return max(min(a, b), min(max(a, b), c))
