"""Sets of nodes around pairs of nodes, ragged: each is counted first and then written into its place."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int64s
from trueedge.kernels.arrays.sorted_rows import place_of
from trueedge.kernels.arrays.threads import run_blocks

# Pairs, or rows, a thread takes at a time: a usual batch of training is one block, and starts no thread.
BLOCK = 4096
# From this ratio of lengths on, the longer list is searched, not walked through.
_SKEWED = 16

BOTH, FIRST, SECOND = 0, 1, 2


def common_sets(indptr: Int64s, indices: Int64s, pairs: Int64s) -> tuple[Int64s, Int64s]:
    """Return the common neighbours of each pair: where they start, int64 (m + 1,), and the nodes, ascending.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int64 (arcs,), ascending within a row.
        pairs: int64 (m, 2).
    """
    starts = np.zeros(len(pairs) + 1, dtype=np.int64)

    def count(first: int, last: int, _: None) -> None:
        _count_common(indptr, indices, pairs, first, last, starts)

    run_blocks(count, len(pairs), BLOCK, no_scratch)
    np.cumsum(starts, out=starts)
    nodes = np.empty(starts[-1], dtype=np.int64)

    def fill(first: int, last: int, _: None) -> None:
        _fill_common(indptr, indices, pairs, first, last, starts, nodes)

    run_blocks(fill, len(pairs), BLOCK, no_scratch)
    return starts, nodes


def joint_sets(indptr: Int64s, indices: Int64s, pairs: Int64s) -> tuple[Int64s, Int64s, NDArray[np.int8]]:
    """Return all neighbours of each pair without its ends: starts, nodes ascending, and whose each is.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int64 (arcs,), ascending within a row.
        pairs: int64 (m, 2).
    """
    starts = np.zeros(len(pairs) + 1, dtype=np.int64)
    nothing, no_side = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)

    def count(first: int, last: int, _: None) -> None:
        _join(indptr, indices, pairs, first, last, starts, nothing, no_side)

    run_blocks(count, len(pairs), BLOCK, no_scratch)
    np.cumsum(starts, out=starts)
    nodes, sides = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1], dtype=np.int8)

    def fill(first: int, last: int, _: None) -> None:
        _join(indptr, indices, pairs, first, last, starts, nodes, sides)

    if len(nodes):
        run_blocks(fill, len(pairs), BLOCK, no_scratch)
    return starts, nodes, sides


def turned_sets(starts: Int64s, nodes: Int64s, num_nodes: int) -> tuple[Int64s, Int64s, Int64s]:
    """Return the sets of each node: starts, int64 (n + 1,), sets ascending, positions of the entries.

    Args:
        starts: int64 (m + 1,), where each set's nodes start.
        nodes: int64 (k,).
    """
    turned = np.zeros(num_nodes + 1, dtype=np.int64)
    rows, places = np.empty(len(nodes), dtype=np.int64), np.empty(len(nodes), dtype=np.int64)
    _turn(starts, nodes, turned, rows, places)
    return turned, rows, places


def no_scratch() -> None:
    """No scratch."""


@njit(cache=True, nogil=True)
def _ends(indptr, pairs, p):  # type: ignore[no-untyped-def]
    """Return the list of the end with fewer neighbours, then that of the other."""
    a, b = pairs[p, 0], pairs[p, 1]
    if indptr[a + 1] - indptr[a] > indptr[b + 1] - indptr[b]:
        a, b = b, a
    return indptr[a], indptr[a + 1], indptr[b], indptr[b + 1]


@njit(cache=True, nogil=True)
def _count_common(indptr, indices, pairs, first, last, counts):  # type: ignore[no-untyped-def]
    for p in range(first, last):
        i, i_end, j, j_end = _ends(indptr, pairs, p)
        total = 0
        if (i_end - i) * _SKEWED < j_end - j:
            while i < i_end and j < j_end:
                j = place_of(indices, j, j_end, indices[i])
                total += j < j_end and indices[j] == indices[i]
                i += 1
        else:
            while i < i_end and j < j_end:
                left, right = indices[i], indices[j]
                total += left == right
                i += left <= right
                j += right <= left
        counts[p + 1] = total


@njit(cache=True, nogil=True)
def _fill_common(indptr, indices, pairs, first, last, starts, nodes):  # type: ignore[no-untyped-def]
    for p in range(first, last):
        at, end = starts[p], starts[p + 1]
        i, i_end, j, j_end = _ends(indptr, pairs, p)
        if (i_end - i) * _SKEWED < j_end - j:
            while at < end:
                j = place_of(indices, j, j_end, indices[i])
                if indices[j] == indices[i]:
                    nodes[at] = indices[i]
                    at += 1
                i += 1
        else:
            while at < end:
                left, right = indices[i], indices[j]
                # Written first and counted after: what is common is nothing a processor can foresee.
                nodes[at] = left
                at += left == right
                i += left <= right
                j += right <= left


@njit(cache=True, nogil=True)
def _join(indptr, indices, pairs, first, last, starts, nodes, sides):  # type: ignore[no-untyped-def]
    """Count into the starts where there is no room for nodes yet, else fill."""
    counting = len(nodes) == 0
    for p in range(first, last):
        a, b = pairs[p, 0], pairs[p, 1]
        i, i_end, j, j_end = indptr[a], indptr[a + 1], indptr[b], indptr[b + 1]
        at = 0 if counting else starts[p]
        while i < i_end or j < j_end:
            if j == j_end or (i < i_end and indices[i] < indices[j]):
                node, side = indices[i], FIRST
                i += 1
            elif i == i_end or indices[j] < indices[i]:
                node, side = indices[j], SECOND
                j += 1
            else:
                node, side = indices[i], BOTH
                i += 1
                j += 1
            if node != a and node != b:
                if not counting:
                    nodes[at], sides[at] = node, side
                at += 1
        if counting:
            starts[p + 1] = at


@njit(cache=True, nogil=True)
def _turn(starts, nodes, turned, rows, places):  # type: ignore[no-untyped-def]
    for node in nodes:
        turned[node + 1] += 1
    for node in range(len(turned) - 1):
        turned[node + 1] += turned[node]
    free = turned.copy()
    for row in range(len(starts) - 1):
        for place in range(starts[row], starts[row + 1]):
            at = free[nodes[place]]
            free[nodes[place]] = at + 1
            rows[at], places[at] = row, place
