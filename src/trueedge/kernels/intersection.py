"""Sums over the common neighbours of node pairs."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from trueedge.kernels.grouping import group_by, num_blocks


def common_neighbor_sums(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
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
def _all_groups(indptr, indices, weights, keys, starts, order, small, blocks, sums):  # type: ignore[no-untyped-def]
    for block in prange(blocks):
        _block(indptr, indices, weights, keys, starts, order, small, block, blocks, sums)


@njit(cache=True, nogil=True)
def _block(indptr, indices, weights, keys, starts, order, small, block, blocks, sums):  # type: ignore[no-untyped-def]
    """One block of groups; a group is the pairs whose end of larger degree is the same node."""
    scattered = np.zeros(len(weights))
    for group in range(block, len(keys), blocks):
        node = keys[group]
        row = indices[indptr[node] : indptr[node + 1]]
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
def _scattering_pays(indptr, small, members, degree):  # type: ignore[no-untyped-def]
    """Whether to write the larger neighbourhood out once, or to search it for every smaller one."""
    scan = 2 * degree
    search = 0
    for p in members:
        size = indptr[small[p] + 1] - indptr[small[p]]
        scan += size
        steps, ratio = 2, size
        while ratio < degree and size > 0:
            ratio *= 2
            steps += 2
        search += size * steps
        if search >= scan:
            return True
    return False


@njit(cache=True, nogil=True)
def _sum_scattered(row, scattered):  # type: ignore[no-untyped-def]
    total, lost = 0.0, 0.0
    for w in row:
        term = scattered[w]
        after = total + term
        added = after - total
        lost += (total - (after - added)) + (term - added)
        total = after
    return total + lost


@njit(cache=True, nogil=True)
def _sum_galloping(row, large, weights):  # type: ignore[no-untyped-def]
    """Look each node of a short row up in a long one, in steps that double from the last place."""
    total, lost = 0.0, 0.0
    low, end = 0, len(large)
    for w in row:
        step, high = 1, low
        while high < end and large[high] < w:
            low = high + 1
            high += step
            step *= 2
        high = min(high, end)
        while low < high:
            middle = (low + high) // 2
            if large[middle] < w:
                low = middle + 1
            else:
                high = middle
        if low == end:
            break
        if large[low] == w:
            term = weights[w]
            after = total + term
            added = after - total
            lost += (total - (after - added)) + (term - added)
            total = after
    return total + lost
