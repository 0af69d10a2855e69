"""Counts of pairs of small numbers, most of which are zero: a table with open addresses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int64s

EMPTY = -1
# Odd, below 2^32: a number below 2^31 times one of these is below 2^63.
_MIX_FIRST, _MIX_SECOND = 0x9E3779B1, 0x85EBCA6B


class PairCounts(NamedTuple):
    """Counts by pairs; those never touched are zero.

    Attributes:
        keys: int64 array (c,), c a power of two; a pair as one number, or -1.
        values: int64 array (c,).
        used: int64 array (1,), the number of keys.
    """

    keys: Int64s
    values: Int64s
    used: Int64s


def pair_counts(first: Int64s, second: Int64s, amounts: Int64s, most: int) -> PairCounts:
    """Return a table of counts.

    Args:
        first: int64 array (n,), each at least 0 and below 2^31.
        second: int64 array (n,), likewise.
        amounts: int64 array (n,); those of equal pairs add up.
        most: how many pairs will ever have a count that is not zero at the same time.
    """
    size = 16
    while size < 4 * most:
        size *= 2
    table = PairCounts(
        np.full(size, EMPTY, dtype=np.int64), np.zeros(size, dtype=np.int64), np.zeros(1, dtype=np.int64)
    )
    _fill(table, first, second, amounts)
    return table


@njit(cache=True, nogil=True)
def _fill(table: PairCounts, first: Int64s, second: Int64s, amounts: Int64s) -> None:
    for i in range(len(first)):
        count_add(table, first[i], second[i], amounts[i])


@njit(cache=True, nogil=True)
def count_of(table: PairCounts, first: int, second: int) -> int:
    """Return the count of a pair."""
    slot = _slot(table.keys, first, second)
    return int(table.values[slot]) if table.keys[slot] != EMPTY else 0


@njit(cache=True, nogil=True)
def count_add(table: PairCounts, first: int, second: int, amount: int) -> None:
    """Add to the count of a pair."""
    slot = _slot(table.keys, first, second)
    if table.keys[slot] == EMPTY:
        if 2 * (table.used[0] + 1) > len(table.keys):
            _forget_zeros(table)
            slot = _slot(table.keys, first, second)
        table.keys[slot] = (first << 32) | second
        table.used[0] += 1
    table.values[slot] += amount


@njit(cache=True, nogil=True)
def _slot(keys: Int64s, first: int, second: int) -> int:
    """Return where a pair is, or would be."""
    key = (first << 32) | second
    mixed = (first * _MIX_FIRST) ^ (second * _MIX_SECOND)
    slot = (mixed ^ (mixed >> 17)) & (len(keys) - 1)
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@njit(cache=True, nogil=True)
def _forget_zeros(table: PairCounts) -> None:
    live = np.flatnonzero(table.values)
    keys, values = table.keys[live], table.values[live]
    table.keys[:] = EMPTY
    table.values[:] = 0
    table.used[0] = len(live)
    for i in range(len(keys)):
        slot = _slot(table.keys, keys[i] >> 32, keys[i] & 0xFFFFFFFF)
        table.keys[slot] = keys[i]
        table.values[slot] = values[i]
