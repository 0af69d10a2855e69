"""Sums over the common neighbours of node pairs."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from trueedge.kernels.grouping import group_by, num_blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.int32]


def common_neighbor_sums(indptr: Ints, indices: Rows, pairs: Ints, weights: Floats) -> NDArray[np.float64]:
    """The sum of ``weights[w]`` over the common neighbours w of each pair, float64 (n,).

    The terms are added in ascending order of w and the rounding errors are carried along, so pairs whose
    common neighbours have the same weights get the same score, whatever their ids: ties stay ties.

    Args:
        indptr: int64 array (nodes + 1,), the row starts of the adjacency.
        indices: int32 array (arcs,), ascending within a row.
        pairs: int64 array (n, 2).
        weights: float64 array (nodes,), finite.
    """
    sums = np.zeros(len(pairs))
    if len(pairs) == 0:
        return sums
    degrees = np.diff(indptr)
    swap = degrees[pairs[:, 0]] < degrees[pairs[:, 1]]
    large = np.where(swap, pairs[:, 1], pairs[:, 0])
    small = np.where(swap, pairs[:, 0], pairs[:, 1])
    groups = group_by(large, len(degrees))
    _all_groups(indptr, indices, weights, *groups, small, num_blocks(len(groups.keys)), sums)
    return sums


@njit(cache=True, nogil=True, parallel=True)
def _all_groups(
    indptr: Ints,
    indices: Rows,
    weights: Floats,
    large: Ints,
    starts: Ints,
    order: Ints,
    small: Ints,
    blocks: int,
    sums: Floats,
) -> None:
    for block in prange(blocks):
        _block(indptr, indices, weights, large, starts, order, small, block, blocks, sums)


@njit(cache=True, nogil=True)
def _block(
    indptr: Ints,
    indices: Rows,
    weights: Floats,
    large: Ints,
    starts: Ints,
    order: Ints,
    small: Ints,
    block: int,
    blocks: int,
    sums: Floats,
) -> None:
    """Some groups; a group is the pairs whose end of larger degree is the same node."""
    scattered = np.zeros(len(weights))
    for group in range(block, len(large), blocks):
        row = indices[indptr[large[group]] : indptr[large[group] + 1]]
        members = order[starts[group] : starts[group + 1]]
        if _scattering_pays(indptr, small, members, len(row)):
            for w in row:
                scattered[w] = weights[w]
            for p in members:
                sums[p] = _sum_scattered(indices[indptr[small[p]] : indptr[small[p] + 1]], scattered)
            for w in row:
                scattered[w] = 0.0
        else:
            for p in members:
                sums[p] = _sum_galloping(indices[indptr[small[p]] : indptr[small[p] + 1]], row, weights)


@njit(cache=True, nogil=True)
def _scattering_pays(indptr: Ints, small: Ints, members: Ints, degree: int) -> bool:
    """Whether to write the larger neighbourhood out once rather than search it for every smaller one."""
    scan, search = 2 * degree, 0
    for p in members:
        size = indptr[small[p] + 1] - indptr[small[p]]
        steps, reach = 2, max(size, 1)
        while reach < degree:
            reach *= 2
            steps += 2
        scan += size
        search += size * steps
        if search >= scan:
            return True
    return False


@njit(cache=True, nogil=True)
def _sum_scattered(row: Rows, scattered: Floats) -> float:
    """Add what is written at each node of a row: zero for all but the common neighbours."""
    total, lost = 0.0, 0.0
    for w in row:
        total, lost = _add(total, lost, scattered[w])
    return total + lost


@njit(cache=True, nogil=True)
def _sum_galloping(row: Rows, long_row: Rows, weights: Floats) -> float:
    """Look each node of a short row up in a long one, in steps that double from the last place."""
    total, lost = 0.0, 0.0
    low, end = 0, len(long_row)
    for w in row:
        step, high = 1, low
        while high < end and long_row[high] < w:
            low = high + 1
            high += step
            step *= 2
        high = min(high, end)
        while low < high:
            middle = (low + high) // 2
            if long_row[middle] < w:
                low = middle + 1
            else:
                high = middle
        if low == end:
            break
        if long_row[low] == w:
            total, lost = _add(total, lost, weights[w])
    return total + lost


@njit(cache=True, nogil=True, inline="always")
def _add(total: float, lost: float, term: float) -> tuple[float, float]:
    """Add a term and keep what rounding lost (Knuth's two-sum)."""
    after = total + term
    kept = after - total
    return after, lost + ((total - (after - kept)) + (term - kept))
