"""Draws in proportion to weights, by one look at a table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, UInt32s

_HIGH, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class Alias(NamedTuple):
    """Draws from a distribution by one look at a table.

    Attributes:
        threshold: uint32 array (n,), out of 2^32: below it a slot stands for itself.
        other: int32 array (n,), whom it stands for above.

    Walker: An Efficient Method for Generating Discrete Random Variables with General Distributions, ACM TOMS
    1977.
    """

    threshold: UInt32s
    other: Int32s


def alias_table(weights: Float64s) -> Alias:
    """Return a table to draw in proportion to weights.

    Args:
        weights: float64 array (n,), not negative, with a positive sum where n is not 0.
    """
    shares = weights * (len(weights) / weights.sum()) if len(weights) else weights
    threshold = np.empty(len(weights), dtype=np.uint32)
    other = np.arange(len(weights), dtype=np.int32)
    _fill_alias(shares.copy(), threshold, other)
    return Alias(threshold, other)


@njit(cache=True, nogil=True)
def drawn(threshold: UInt32s, other: Int32s, word: np.uint64) -> np.int64:
    """Return a slot of an alias table, from one random word."""
    # Without their width the compiler would mix signed and unsigned numbers to floats.
    slot = np.int64(((word >> _HIGH) * np.uint64(len(threshold))) >> _HIGH)
    return slot if word & _LOW < np.uint64(threshold[slot]) else np.int64(other[slot])


@njit(cache=True, nogil=True)
def _fill_alias(shares: Float64s, threshold: UInt32s, other: Int32s) -> None:
    """Fill up each slot that has less than its part from one that has more."""
    nodes = len(shares)
    poor, rich = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    poor_size = rich_size = 0
    for slot in range(nodes):
        threshold[slot] = 0xFFFFFFFF
        if shares[slot] < 1.0:
            poor[poor_size] = slot
            poor_size += 1
        else:
            rich[rich_size] = slot
            rich_size += 1
    while poor_size > 0 and rich_size > 0:
        poor_size -= 1
        slot, giver = poor[poor_size], rich[rich_size - 1]
        threshold[slot] = np.uint32(min(shares[slot] * 4294967296.0, 4294967295.0))
        other[slot] = giver
        shares[giver] -= 1.0 - shares[slot]
        if shares[giver] < 1.0:
            rich_size -= 1
            poor[poor_size] = giver
            poor_size += 1
