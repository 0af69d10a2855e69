"""The adjacency of a sorted edge list, without sorting again."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.text.tidying import HALF, LOWER_HALF, block_size, range_bits, ranges_per_block


def neighbour_lists(edges: Int32s, num_nodes: int) -> tuple[Int64s, Int32s]:
    """Return both directions of each edge as sorted rows of neighbours: int64 (n + 1,), int32 (2m,).

    A row holds its smaller neighbours before its larger ones. The larger ones are in the edges' order
    already. For the smaller ones edges are dealt, front to back, into ranges of their larger node, and each
    range into its rows: walking sorted edges, they come in order. Every pass is linear.

    Args:
        edges: int32 array (m, 2), ``u < v``, sorted.
    """
    shift, size = range_bits(len(edges), num_nodes), block_size(len(edges))
    ranges = ((num_nodes - 1) >> shift) + 1
    counts = run_blocks(
        lambda first, last, _: _count(edges[first:last], shift, ranges), len(edges), size, lambda: None
    )
    table = np.array(counts, dtype=np.int64).reshape(len(counts), 2, ranges)
    starts = np.zeros((2, ranges + 1), dtype=np.int64)
    np.cumsum(table.sum(axis=0), axis=1, out=starts[:, 1:])
    smaller = table[:, 1]
    # Where each block writes its edges of each range: after those of the blocks before it.
    cursors = np.cumsum(smaller, axis=0) - smaller + starts[1, :-1]
    keys = np.empty(len(edges), dtype=np.int64)
    run_blocks(
        lambda first, last, _: _deal(edges[first:last], shift, cursors[first // size], keys),
        len(edges),
        size,
        lambda: None,
    )
    indptr = np.empty(num_nodes + 1, dtype=np.int64)
    indices = np.empty(2 * len(edges), dtype=np.int32)
    run_blocks(
        lambda first, last, _: _fill_ranges(edges, keys, starts, shift, first, last, indptr, indices),
        ranges,
        ranges_per_block(ranges),
        lambda: None,
    )
    return indptr, indices


@njit(cache=True, nogil=True)
def _count(edges: Int32s, shift: int, ranges: int) -> Int64s:
    """Return how many edges have their smaller, and how many their larger node in each range."""
    counts = np.zeros((2, ranges), dtype=np.int64)
    for i in range(len(edges)):
        counts[0, edges[i, 0] >> shift] += 1
        counts[1, edges[i, 1] >> shift] += 1
    return counts


@njit(cache=True, nogil=True)
def _deal(edges: Int32s, shift: int, cursor: Int64s, keys: Int64s) -> None:
    for i in range(len(edges)):
        u, v = np.int64(edges[i, 0]), np.int64(edges[i, 1])
        keys[cursor[v >> shift]] = v << HALF | u
        cursor[v >> shift] += 1


@njit(cache=True, nogil=True)
def _fill_ranges(
    edges: Int32s,
    keys: Int64s,
    starts: Int64s,
    shift: int,
    first: int,
    last: int,
    indptr: Int64s,
    indices: Int32s,
) -> None:
    """The rows of some ranges of nodes, and where they end."""
    nodes = len(indptr) - 1
    cursor = np.empty(1 << shift, dtype=np.int64)
    if first == 0:
        indptr[0] = 0
    for place in range(first, last):
        base = place << shift
        end = min(base + (1 << shift), nodes)
        cursor[:] = 0
        for i in range(starts[0, place], starts[0, place + 1]):
            cursor[edges[i, 0] - base] += 1
        for i in range(starts[1, place], starts[1, place + 1]):
            cursor[(keys[i] >> HALF) - base] += 1
        total = starts[0, place] + starts[1, place]
        for node in range(base, end):
            here = cursor[node - base]
            cursor[node - base] = total
            total += here
            indptr[node + 1] = total
        for i in range(starts[1, place], starts[1, place + 1]):
            row = (keys[i] >> HALF) - base
            indices[cursor[row]] = keys[i] & LOWER_HALF
            cursor[row] += 1
        for i in range(starts[0, place], starts[0, place + 1]):
            row = edges[i, 0] - base
            indices[cursor[row]] = edges[i, 1]
            cursor[row] += 1
