"""Sketches of what lies within a few hops of a node: how large such a set is, and how much two of them share.

A set of nodes is held as HyperLogLog registers, which say how large it is, and as the smallest values of some
hash functions over it (MinHash), of which two sets share as large a part as they share of their union. Both
are closed under unions, so one hop of all nodes is an entrywise maximum and minimum over neighbours. Beside
them stand exact sets, a bit a node, for graphs that are small enough.

All that is computed here are whole numbers, so the order of the work and the machine do not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s, UInt8s, UInt64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import run_blocks

# Registers of a HyperLogLog sketch: 2^8.
REGISTERS = 256
# The highest value of a register; with it, sums of 2^(TOP - register) over a sketch are whole and small.
TOP = 48
_NODES = 256
_PAIRS = 512
_1, _8, _33 = np.uint64(1), np.uint64(8), np.uint64(33)
_REGISTER_BITS = np.uint64(REGISTERS - 1)

Registers = UInt8s
Minima = Int32s
Bits = UInt64s
Counts = Int64s


def own_sketches(num_nodes: int, permutations: int, key: int) -> tuple[Registers, Minima]:
    """Return the sketches of the sets that hold one node each: uint8 (n, 256) and int32 (n, permutations).

    Args:
        permutations: hash functions of the MinHash sketch; their values are 31 bits long.
        key: what the hash functions depend on.
    """
    registers = np.zeros((num_nodes, REGISTERS), dtype=np.uint8)
    minima = np.empty((num_nodes, permutations), dtype=np.int32)
    with np.errstate(over="ignore"):
        _own(np.uint64(key), registers, minima)
    return registers, minima


def spread(indptr: Int64s, indices: Int64s, registers: Registers, minima: Minima) -> tuple[Registers, Minima]:
    """Return the sketches of the unions of each node's set and its neighbours': one hop further.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int (arcs,).
        registers: uint8 (n, 256).
        minima: int32 (n, permutations).
    """
    most, least = registers.copy(), minima.copy()

    def work(first: int, last: int, _: None) -> None:
        _spread(indptr, indices, registers, minima, first, last, most, least)

    run_blocks(work, len(registers), _NODES, lambda: None)
    return most, least


def union_sums(pairs: Int64s, left: Registers, right: Registers) -> tuple[Counts, Counts]:
    """Return what the sizes of unions of two sets are estimated from.

    Args:
        pairs: int64 (m, 2), a row of the one and a row of the other.
        left: uint8 (n, 256).
        right: uint8 (n, 256).

    Returns:
        the sum of ``2^(TOP - register)`` over the union's registers above zero, int64 (m,), and how many
        registers are zero, int64 (m,).
    """
    powers = np.empty(len(pairs), dtype=np.int64)
    zeros = np.empty(len(pairs), dtype=np.int64)

    def work(first: int, last: int, _: None) -> None:
        _union_sums(pairs, left, right, first, last, powers, zeros)

    run_blocks(work, len(pairs), _PAIRS, lambda: None)
    return powers, zeros


def equal_minima(pairs: Int64s, left: Minima, right: Minima) -> Counts:
    """Return for how many hash functions two sets have the same smallest value, int64 (m,).

    Args:
        pairs: int64 (m, 2), a row of the one and a row of the other.
        left: int32 (n, permutations).
        right: int32 (n, permutations).
    """
    return _counted(_equal_minima, pairs, left, right)


def own_bits(num_nodes: int) -> Bits:
    """Return the exact sets that hold one node each, a bit a node: uint64 (n, n / 64 rounded up)."""
    bits = np.zeros((num_nodes, (num_nodes + 63) // 64), dtype=np.uint64)
    nodes = np.arange(num_nodes)
    bits[nodes, nodes // 64] = np.uint64(1) << (nodes % 64).astype(np.uint64)
    return bits


def spread_bits(indptr: Int64s, indices: Int64s, bits: Bits) -> Bits:
    """Return the unions of each node's exact set and its neighbours': one hop further."""
    more = bits.copy()

    def work(first: int, last: int, _: None) -> None:
        _spread_bits(indptr, indices, bits, first, last, more)

    run_blocks(work, len(bits), _NODES, lambda: None)
    return more


def shared_bits(pairs: Int64s, left: Bits, right: Bits) -> Counts:
    """Return how many nodes two exact sets share, int64 (m,)."""
    return _counted(_shared_bits, pairs, left, right)


def _counted(loop: Any, pairs: Int64s, left: NDArray[Any], right: NDArray[Any]) -> Counts:
    """Fill in a count for each pair, on all cores."""
    found = np.zeros(len(pairs), dtype=np.int64)

    def work(first: int, last: int, _: None) -> None:
        loop(pairs[first:last], left, right, found[first:last])

    run_blocks(work, len(pairs), _PAIRS, lambda: None)
    return found


@njit(cache=True, nogil=True)
def _own(key, registers, minima):  # type: ignore[no-untyped-def]
    for node in range(len(registers)):
        word = draw_key(key, node, 0)
        place = word & _REGISTER_BITS
        # One more than the number of zero bits before the first set one.
        rest, rank = word >> _8, 1
        while rest & _1 == 0 and rank < TOP:
            rest >>= _1
            rank += 1
        registers[node, place] = rank
        for column in range(minima.shape[1]):
            minima[node, column] = draw_key(key, node, column + 1) >> _33


@njit(cache=True, nogil=True)
def _spread(indptr, indices, registers, minima, first, last, most, least):  # type: ignore[no-untyped-def]
    for node in range(first, last):
        large, small = most[node], least[node]
        for at in range(indptr[node], indptr[node + 1]):
            theirs, values = registers[indices[at]], minima[indices[at]]
            for place in range(len(large)):
                large[place] = max(large[place], theirs[place])
            for place in range(len(small)):
                small[place] = min(small[place], values[place])


@njit(cache=True, nogil=True)
def _union_sums(pairs, left, right, first, last, powers, zeros):  # type: ignore[no-untyped-def]
    value = np.zeros(TOP + 1, dtype=np.int64)
    for rank in range(1, TOP + 1):
        value[rank] = 1 << (TOP - rank)
    for at in range(first, last):
        ours, theirs = left[pairs[at, 0]], right[pairs[at, 1]]
        total, empty = 0, 0
        for place in range(REGISTERS):
            rank = max(ours[place], theirs[place])
            total += value[rank]
            empty += rank == 0
        powers[at] = total
        zeros[at] = empty


@njit(cache=True, nogil=True)
def _equal_minima(pairs, left, right, found):  # type: ignore[no-untyped-def]
    for at in range(len(pairs)):
        ours, theirs = left[pairs[at, 0]], right[pairs[at, 1]]
        same = 0
        for place in range(len(ours)):
            same += ours[place] == theirs[place]
        found[at] = same


@njit(cache=True, nogil=True)
def _spread_bits(indptr, indices, bits, first, last, more):  # type: ignore[no-untyped-def]
    for node in range(first, last):
        own = more[node]
        for at in range(indptr[node], indptr[node + 1]):
            theirs = bits[indices[at]]
            for place in range(len(own)):
                own[place] |= theirs[place]


@njit(cache=True, nogil=True)
def _shared_bits(pairs, left, right, found):  # type: ignore[no-untyped-def]
    for at in range(len(pairs)):
        total = 0
        for place in range(left.shape[1]):
            word = left[pairs[at, 0], place] & right[pairs[at, 1], place]
            while word != 0:
                word &= word - _1
                total += 1
        found[at] = total
