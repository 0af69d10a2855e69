"""Mix each positive into the list of its negatives, in an order that depends on a key alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key, draw_word

_32 = np.uint64(32)


@njit(cache=True, nogil=True)
def mix_lists(
    positives: Int32s, negatives: Int32s, rows: Int64s, key: np.uint64, asked: Int64s, places: Int32s
) -> None:
    """Write the pairs of some lists in mixed order, the smaller node first.

    Args:
        positives: int32 array (P, 2).
        negatives: int32 array (P, K, 2).
        rows: int64 array (r,), the lists to write.
        key: for the random order.
        asked: int64 array (r, K + 1, 2), filled with the pairs.
        places: int32 array (r, K + 1), filled with the origin of each pair: 0 for the positive, 1 + j for
            its negative j.
    """
    length = places.shape[1]
    for i in range(len(rows)):
        row = rows[i]
        state = draw_key(key, row, 0)
        mixed = places[i]
        for j in range(length):
            word, state = draw_word(state)
            # The bias of a multiplication without rejection is below length / 2^32.
            jump = np.int64(((word >> _32) * np.uint64(j + 1)) >> _32)
            mixed[j] = mixed[jump]
            mixed[jump] = j
        for j in range(length):
            place = mixed[j]
            if place == 0:
                u, v = positives[row, 0], positives[row, 1]
            else:
                u, v = negatives[row, place - 1, 0], negatives[row, place - 1, 1]
            asked[i, j, 0] = min(u, v)
            asked[i, j, 1] = max(u, v)


@njit(cache=True, nogil=True)
def sort_out_lists(
    answers: NDArray[Any], rows: Int64s, places: Int32s, positive: Float64s, negative: Float64s
) -> None:
    """Write the answers to mixed lists, (r, K + 1), to their positives (P,) and negatives (P, K)."""
    for i in range(len(rows)):
        for j in range(places.shape[1]):
            place = places[i, j]
            if place == 0:
                positive[rows[i]] = answers[i, j]
            else:
                negative[rows[i], place - 1] = answers[i, j]
