"""Huffman trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s


class Paths(NamedTuple):
    """The ways from the root of a Huffman tree to its leaves.

    Attributes:
        starts: int64 array (n + 1,): the way to leaf i is at ``starts[i]:starts[i + 1]``.
        inner: int32 array, the inner nodes on it, ``0..n-2``, the root first.
        left: bool array, whether it turns to the left there.
    """

    starts: Int64s
    inner: Int32s
    left: Bools


def huffman_paths(counts: Int64s) -> Paths:
    """Return the ways to the leaves of the tree in which frequent leaves lie near the root.

    Args:
        counts: int64 array (n,), how often each leaf occurs.

    Huffman: A Method for the Construction of Minimum-Redundancy Codes, Proceedings of the IRE 1952.
    """
    if len(counts) < 2:
        return Paths(np.zeros(len(counts) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.bool_))
    order = np.argsort(counts, kind="stable")
    parent, left = _merge_lightest(counts[order])
    lengths = _depths(parent)[: len(counts)]
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    depth = np.empty(len(counts), dtype=np.int64)
    depth[order] = lengths
    np.cumsum(depth, out=starts[1:])
    inner = np.empty(starts[-1], dtype=np.int32)
    turns = np.empty(starts[-1], dtype=np.bool_)
    _write_paths(order, parent, left, starts, inner, turns)
    return Paths(starts, inner, turns)


@njit(cache=True, nogil=True)
def _merge_lightest(counts: Int64s) -> tuple[Int64s, Bools]:
    """The parent of each node of the tree, leaves first, and whether it is its left child; counts ascend."""
    leaves = len(counts)
    weight = np.empty(2 * leaves - 1, dtype=np.int64)
    parent = np.full(2 * leaves - 1, -1, dtype=np.int64)
    left = np.zeros(2 * leaves - 1, dtype=np.bool_)
    weight[:leaves] = counts
    leaf, merged = 0, leaves
    for new in range(leaves, 2 * leaves - 1):
        weight[new] = 0
        for turn in range(2):
            # Merged nodes come out in ascending order, so the lightest is at the head of one of two rows.
            if leaf < leaves and (merged >= new or weight[leaf] <= weight[merged]):
                child = leaf
                leaf += 1
            else:
                child = merged
                merged += 1
            weight[new] += weight[child]
            parent[child] = new
            left[child] = turn == 0
    return parent, left


@njit(cache=True, nogil=True)
def _depths(parent: Int64s) -> Int64s:
    depth = np.zeros(len(parent), dtype=np.int64)
    for node in range(len(parent) - 2, -1, -1):
        depth[node] = depth[parent[node]] + 1
    return depth


@njit(cache=True, nogil=True)
def _write_paths(
    order: Int64s, parent: Int64s, left: Bools, starts: Int64s, inner: Int32s, turns: Bools
) -> None:
    leaves = len(order)
    for rank in range(leaves):
        place, node = starts[order[rank] + 1], rank
        while parent[node] >= 0:
            place -= 1
            inner[place] = parent[node] - leaves
            turns[place] = left[node]
            node = parent[node]
