"""Node ids in ascending order, by dealing them out digit by digit."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s

# With fewer ids than this a digit's value, a plain sort is faster than going through the values.
IDS_PER_VALUE = 1 / 16


def digit_counts(nodes: int) -> Int32s:
    """Room for :func:`sort_ids`: a count for each value of the two digits that a node id has."""
    bits = max(nodes - 1, 1).bit_length()
    return np.zeros(1 << ((bits + 1) // 2), dtype=np.int32)


@njit(cache=True, nogil=True)
def sort_ids(ids: Int32s, room: Int32s, counts: Int32s) -> None:
    """Sort node ids in place.

    Args:
        ids: int32 array (m,), each below the number of nodes and not below 0.
        room: int32 array (at least m,), overwritten.
        counts: from :func:`digit_counts` of the number of nodes, overwritten.
    """
    if len(ids) < IDS_PER_VALUE * len(counts):
        ids.sort()
        return
    low = np.uint32(len(counts) - 1)
    shift = np.uint32(0)
    while (low >> shift) > 0:
        shift += np.uint32(1)
    _deal(ids, room, counts, np.uint32(0), low)
    _deal(room[: len(ids)], ids, counts, shift, low)


@njit(cache=True, nogil=True)
def _deal(ids: Int32s, dealt: Int32s, counts: Int32s, shift: int, low: int) -> None:
    """Write ids in the order of the digit that begins at a bit; equals stay as they come."""
    counts[:] = 0
    for node in ids:
        counts[(np.uint32(node) >> shift) & low] += 1
    before = 0
    for value in range(len(counts)):
        size = counts[value]
        counts[value] = before
        before += size
    for node in ids:
        digit = (np.uint32(node) >> shift) & low
        dealt[np.uint32(counts[digit])] = node
        counts[digit] += 1
