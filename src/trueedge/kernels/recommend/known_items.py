"""Whether a user is known to have an item.

A few bits for each user say no to most items with one read from a small table; only the others are looked up
in the user's list.

Bloom: Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s, UInt8s, UInt64s
from trueedge.kernels.arrays.sorted_rows import place_of

# A list of n items has at least so many times n bits: at most every eighth other item is looked up.
_BITS = 8
_ODD = np.uint64(0x9E3779B97F4A7C15)
_1, _6, _63 = np.uint64(1), np.uint64(6), np.uint64(63)


class KnownItems(NamedTuple):
    """The items of each user.

    Attributes:
        starts: int64 array (users + 1,), where the items of each user start.
        items: int32 array, those of a user ascending.
        first_words: int64 array (users,), where the bits of each user start.
        shifts: uint8 array (users,), 64 minus the logarithm of a user's number of bits.
        words: uint64 array, the bits.
    """

    starts: Int64s
    items: Int32s
    first_words: Int64s
    shifts: UInt8s
    words: UInt64s


def known_items(starts: Int64s, items: Int32s) -> KnownItems:
    """Return a table to ask for the items of each user.

    Args:
        starts: int64 array (users + 1,), where the items of each user start.
        items: int32 array, those of a user ascending.
    """
    wanted = np.maximum(np.diff(starts) * _BITS, 64)
    logarithms = np.ceil(np.log2(wanted)).astype(np.int64)
    ends = np.cumsum(1 << (logarithms - 6))
    words = np.zeros(ends[-1] if len(ends) else 0, dtype=np.uint64)
    first_words = ends - (1 << (logarithms - 6))
    table = KnownItems(starts, items, first_words, (64 - logarithms).astype(np.uint8), words)
    _set_bits(table)
    return table


@njit(cache=True, nogil=True)
def is_known(  # type: ignore[no-untyped-def]
    starts: Int64s, items: Int32s, first_words: Int64s, shifts: UInt8s, words: UInt64s, user, item
):
    """Return whether a user has an item; the arrays are those of :class:`KnownItems`.

    In a tuple they would be counted as used and unused in every call, which takes longer than the answer.
    """
    bit = (np.uint64(item) * _ODD) >> np.uint64(shifts[user])
    word = words[first_words[user] + np.int64(bit >> _6)]
    if (word >> (bit & _63)) & _1 == 0:
        return False
    last = starts[user + 1]
    place = place_of(items, starts[user], last, item)
    return place < last and items[place] == item


@njit(cache=True, nogil=True)
def _set_bits(table: KnownItems) -> None:
    for user in range(len(table.shifts)):
        for k in range(table.starts[user], table.starts[user + 1]):
            bit = (np.uint64(table.items[k]) * _ODD) >> np.uint64(table.shifts[user])
            table.words[table.first_words[user] + np.int64(bit >> _6)] |= _1 << (bit & _63)
