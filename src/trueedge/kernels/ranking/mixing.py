"""Mix each positive into the list of its negatives, in an order that depends on a key alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s, UInt8s
from trueedge.kernels.arrays.keyed_draws import draw_key

_32, _LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
# A pair shares the positive's smaller node or its larger node, as its first or as its second, or neither.
_GROUPS = 5


@njit(cache=True, nogil=True)
def mix_lists(
    positives: Int32s,
    negatives: Int32s,
    rows: Int64s,
    orders: Int32s,
    key: np.uint64,
    asked: Int64s,
    places: Int32s,
) -> None:
    """Write the pairs of some lists in mixed order, the smaller node first.

    Negatives that share a node of the positive on the same side come together, in random order, so that
    kernels read the neighbours of a shared node once. The positive, which shares both, joins either.

    Args:
        positives: int32 array (P, 2).
        negatives: int32 array (P, K, 2).
        rows: int64 array (r,), the lists to write.
        orders: int32 array (o, K + 1), random permutations of 0 to K; each list takes one.
        key: for the choice among them.
        asked: int64 array (r, K + 1, 2), filled with the pairs.
        places: int32 array (r, K + 1), filled with the origin of each pair: 0 for the positive, 1 + j for
            its negative j.
    """
    length = places.shape[1]
    groups = np.empty(length, dtype=np.uint8)
    for i in range(len(rows)):
        row = rows[i]
        pair = positives[row]
        small, large = min(pair[0], pair[1]), max(pair[0], pair[1])
        word = draw_key(key, row, 0)
        starts = _group(small, large, negatives[row], word & _LOW_HALF, groups)
        order = orders[np.int64(((word >> _32) * np.uint64(len(orders))) >> _32)]
        for j in range(length):
            place = order[j]
            group = groups[place]
            at = starts[group]
            starts[group] = at + 1
            places[i, at] = place
            if place == 0:
                first, second = small, large
            else:
                first, second = negatives[row, place - 1, 0], negatives[row, place - 1, 1]
            asked[i, at, 0] = min(first, second)
            asked[i, at, 1] = max(first, second)


@njit(cache=True, nogil=True)
def _group(small: int, large: int, negatives: Int32s, half_word: np.uint64, groups: UInt8s) -> Int64s:
    """Fill in the group of each pair of a list, the positive's first, and return where each group starts."""
    sizes = np.zeros(_GROUPS + 1, dtype=np.int64)
    # Without branches: on random nodes they would be mispredicted half of the time.
    for j in range(len(negatives)):
        low, high = min(negatives[j, 0], negatives[j, 1]), max(negatives[j, 0], negatives[j, 1])
        shares = 4 * (low == small) + 3 * (high == small) + 2 * (low == large) + (high == large)
        groups[j + 1] = max(4 - shares, 0)
    for j in range(len(negatives)):
        sizes[groups[j + 1] + 1] += 1
    shared = np.uint64(sizes[1] + sizes[2] + sizes[3] + sizes[4])
    # The positive is among as many pairs on either side, whichever node they share.
    with_small = np.int64((half_word * shared) >> _32) < sizes[1] + sizes[2]
    groups[0] = 0 if with_small else 3
    sizes[groups[0] + 1] += 1
    for group in range(_GROUPS):
        sizes[group + 1] += sizes[group]
    return sizes


@njit(cache=True, nogil=True)
def sort_out_lists(
    answers: NDArray[Any], rows: Int64s, places: Int32s, positive: Float64s, negative: Float64s
) -> None:
    """Write the answers to mixed lists, (r, K + 1), to their positives (P,) and negatives (P, K)."""
    for i in range(len(rows)):
        row = rows[i]
        for j in range(places.shape[1]):
            place = places[i, j]
            if place == 0:
                positive[row] = answers[i, j]
            else:
                negative[row, place - 1] = answers[i, j]
