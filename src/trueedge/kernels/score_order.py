"""A list of scored nodes that is sorted only where somebody looks.

Scores are held as the bits of their float64, which order numbers above zero as the numbers themselves. One pass
deals them to buckets, highest first; a bucket is sorted when its first rank is asked for. So the best k of a long
list, and the rank of any one node, cost little more than reading the list.

Scores are rounded to 41 binary digits before they are ranked. Sums of the same terms in another order differ in
their last bits, and that is no reason to rank one node before another: what is equal shall tie, whatever the ids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

MAX_BUCKETS = 8192
SCORES_PER_BUCKET = 4
INSERTION_UP_TO = 16
ROUNDED_BITS = 12


class ScoreOrder(NamedTuple):
    """The scored nodes of one list, highest first up to the order within a bucket.

    Attributes:
        keys: int64 array (n,), the scores' bits, by bucket.
        nodes: int32 array (n,), the nodes beside them.
        starts: int64 array (MAX_BUCKETS + 1,): bucket i is at ``starts[i]:starts[i + 1]``.
        sorted: bool array (MAX_BUCKETS,), which buckets are in order.
        shape: int64 array (4,): how many nodes are listed, the highest key, the width of a bucket as a power of
            two, and how many nodes from the highest on are in order.
    """

    keys: NDArray[np.int64]
    nodes: NDArray[np.int32]
    starts: NDArray[np.int64]
    sorted: NDArray[np.bool_]
    shape: NDArray[np.int64]


def score_order(num_nodes: int) -> ScoreOrder:
    """Room for a list of at most so many nodes."""
    return ScoreOrder(
        np.empty(num_nodes, dtype=np.int64),
        np.empty(num_nodes, dtype=np.int32),
        np.zeros(MAX_BUCKETS + 1, dtype=np.int64),
        np.zeros(MAX_BUCKETS, dtype=np.bool_),
        np.zeros(4, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def fill_order(
    order: ScoreOrder,
    row: NDArray[np.float64],
    listed: NDArray[np.int32],
    top: int,
) -> int:
    """List the nodes that are scored above zero, the best ``top`` and their ties in order.

    Args:
        order: from :func:`score_order`; overwritten.
        row: float64 array (n,), the scores; rounded where they are listed.
        listed: int32 array (m,), the nodes that may have a score, each once; overwritten.
        top: how many of the best to put in order.

    Returns:
        How many nodes are listed.
    """
    bits = row.view(np.int64)
    half_step = np.int64(1 << (ROUNDED_BITS - 1))
    size = 0
    high, low = np.int64(0), np.int64(0x7FFFFFFFFFFFFFFF)
    for node in listed:
        key = ((bits[node] + half_step) >> ROUNDED_BITS) << ROUNDED_BITS
        if key > 0:
            bits[node] = key
            listed[size] = node
            size += 1
            high, low = max(high, key), min(low, key)
    buckets = max(1, min(MAX_BUCKETS, size // SCORES_PER_BUCKET))
    width = 0
    while size > 0 and (high - low) >> width >= buckets:
        width += 1
    order.shape[0], order.shape[1], order.shape[2], order.shape[3] = size, high, width, 0
    order.starts[: buckets + 1] = 0
    order.sorted[:buckets] = False
    _deal(order, bits, listed[:size], buckets)
    bucket = 0
    while order.shape[3] < min(top, size):
        _sort_bucket(order, bucket)
        bucket += 1
        order.shape[3] = order.starts[bucket]
    return size


@njit(cache=True, nogil=True)
def rank_of(order: ScoreOrder, key: int) -> int:
    """1 + how many listed scores are strictly higher than one of them, whose bits are given."""
    bucket = (order.shape[1] - key) >> order.shape[2]
    if not order.sorted[bucket]:
        _sort_bucket(order, bucket)
    first, last = order.starts[bucket], order.starts[bucket + 1]
    while first < last:
        middle = (first + last) >> 1
        if order.keys[middle] > key:
            first = middle + 1
        else:
            last = middle
    return first + 1


@njit(cache=True, nogil=True)
def _deal(order: ScoreOrder, bits: NDArray[np.int64], listed: NDArray[np.int32], buckets: int) -> None:
    keys, nodes, starts = order.keys, order.nodes, order.starts
    high, width = order.shape[1], order.shape[2]
    for node in listed:
        starts[(high - bits[node]) >> width] += 1
    total = 0
    for bucket in range(buckets):
        total += starts[bucket]
        starts[bucket] = total
    starts[buckets] = total
    for node in listed:
        bucket = (high - bits[node]) >> width
        starts[bucket] -= 1
        keys[starts[bucket]] = bits[node]
        nodes[starts[bucket]] = node


@njit(cache=True, nogil=True)
def _sort_bucket(order: ScoreOrder, bucket: int) -> None:
    order.sorted[bucket] = True
    _sort_descending(order.keys, order.nodes, order.starts[bucket], order.starts[bucket + 1])


@njit(cache=True, nogil=True)
def _sort_descending(keys: NDArray[np.int64], nodes: NDArray[np.int32], first: int, last: int) -> None:
    """Sort ``keys[first:last]``, and the nodes beside them, in place; equal keys stay in any order."""
    while last - first > INSERTION_UP_TO:
        pivot = _median(keys[first], keys[(first + last) >> 1], keys[last - 1])
        # Three parts (higher, equal, lower): resource allocation ties by the thousand.
        higher, i, lower = first, first, last
        while i < lower:
            if keys[i] > pivot:
                _swap(keys, nodes, i, higher)
                higher += 1
                i += 1
            elif keys[i] < pivot:
                lower -= 1
                _swap(keys, nodes, i, lower)
            else:
                i += 1
        if higher - first < last - lower:
            _sort_descending(keys, nodes, first, higher)
            first = lower
        else:
            _sort_descending(keys, nodes, lower, last)
            last = higher
    for i in range(first + 1, last):
        key, node, j = keys[i], nodes[i], i
        while j > first and keys[j - 1] < key:
            keys[j], nodes[j] = keys[j - 1], nodes[j - 1]
            j -= 1
        keys[j], nodes[j] = key, node


@njit(cache=True, nogil=True)
def _median(a: int, b: int, c: int) -> int:
    return max(min(a, b), min(max(a, b), c))


@njit(cache=True, nogil=True)
def _swap(keys: NDArray[np.int64], nodes: NDArray[np.int32], i: int, j: int) -> None:
    keys[i], keys[j] = keys[j], keys[i]
    nodes[i], nodes[j] = nodes[j], nodes[i]
