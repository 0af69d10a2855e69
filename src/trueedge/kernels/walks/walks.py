"""Weighted sums over the walks between node pairs, of bounded length."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from trueedge.kernels.arrays.grouping import group_by, num_blocks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.int32]


def walk_sums(
    indptr: Ints, indices: Rows, pairs: Ints, coefficients: Floats, weights: Floats
) -> NDArray[np.float64]:
    """The weights of all walks of length l, times ``coefficients[l - 1]``, summed over l: float64 (n,).

    A walk's weight is the product of ``weights[w]`` over the nodes w it passes between its ends, a node as
    often as it is passed; with weights of one this counts walks, ``(A^l)_uv``. Walks from one end reach all
    lengths but the last, which is summed over the neighbours of the other end; the end from which two steps
    are cheaper is walked from, whichever is named first, so (u, v) and (v, u) get the same bits.

    Args:
        indptr: int64 array (nodes + 1,), the row starts of the adjacency.
        indices: int32 array (arcs,).
        pairs: int64 array (n, 2).
        coefficients: float64 array (lengths,), for the lengths 1, 2, …; at least one.
        weights: float64 array (nodes,), finite and not negative.
    """
    sums = np.zeros(len(pairs))
    if len(pairs) == 0:
        return sums
    cost = _two_step_cost(indptr, indices)
    first, second = pairs[:, 0], pairs[:, 1]
    swap = (cost[first] > cost[second]) | ((cost[first] == cost[second]) & (first > second))
    source = np.where(swap, second, first)
    target = np.where(swap, first, second)
    groups = group_by(source, len(cost))
    blocks = num_blocks(len(groups.keys))
    _all_groups(indptr, indices, coefficients, weights, *groups, target, blocks, sums)
    return sums


@njit(cache=True, nogil=True)
def _two_step_cost(indptr: Ints, indices: Rows) -> NDArray[np.int64]:
    """The number of walks of two steps from each node."""
    cost = np.zeros(len(indptr) - 1, dtype=np.int64)
    for node in range(len(cost)):
        for w in indices[indptr[node] : indptr[node + 1]]:
            cost[node] += indptr[w + 1] - indptr[w]
    return cost


@njit(cache=True, nogil=True, parallel=True)
def _all_groups(
    indptr: Ints,
    indices: Rows,
    coefficients: Floats,
    weights: Floats,
    sources: Ints,
    starts: Ints,
    order: Ints,
    target: Ints,
    blocks: int,
    sums: Floats,
) -> None:
    for block in prange(blocks):
        _block(indptr, indices, coefficients, weights, sources, starts, order, target, block, blocks, sums)


@njit(cache=True, nogil=True)
def _block(
    indptr: Ints,
    indices: Rows,
    coefficients: Floats,
    weights: Floats,
    sources: Ints,
    starts: Ints,
    order: Ints,
    target: Ints,
    block: int,
    blocks: int,
    sums: Floats,
) -> None:
    """The pairs of some sources, one source after the other."""
    walks = np.zeros(len(weights))  # of the current length, from the source to each node
    longer = np.zeros(len(weights))  # of the next length
    frontier = np.empty(len(weights) + 1, dtype=np.int32)  # where walks is not zero
    following = np.empty(len(weights) + 1, dtype=np.int32)  # where longer is not zero
    for group in range(block, len(sources), blocks):
        members = order[starts[group] : starts[group + 1]]
        size = 0
        for w in indices[indptr[sources[group]] : indptr[sources[group] + 1]]:
            walks[w] = 1.0
            frontier[size] = w
            size += 1
        for p in members:
            sums[p] = coefficients[0] * walks[target[p]]
        for length in range(2, len(coefficients)):
            size = _step(indptr, indices, weights, walks, frontier, size, longer, following)
            walks, longer = longer, walks
            frontier, following = following, frontier
            for p in members:
                sums[p] += coefficients[length - 1] * walks[target[p]]
        if len(coefficients) > 1:
            for w in frontier[:size]:
                walks[w] *= weights[w]
            for p in members:
                total = 0.0
                for w in indices[indptr[target[p]] : indptr[target[p] + 1]]:
                    total += walks[w]
                sums[p] += coefficients[-1] * total
        for w in frontier[:size]:
            walks[w] = 0.0


@njit(cache=True, nogil=True)
def _step(
    indptr: Ints,
    indices: Rows,
    weights: Floats,
    walks: Floats,
    frontier: Rows,
    size: int,
    longer: Floats,
    following: Rows,
) -> int:
    """Carry every walk one step on and clear where it was; the number of nodes reached is returned."""
    reached = 0
    for w in frontier[:size]:
        weight = walks[w] * weights[w]
        walks[w] = 0.0
        if weight > 0.0:  # an underflow to zero must not list a node twice
            for x in indices[indptr[w] : indptr[w + 1]]:
                before = longer[x]
                following[reached] = x  # kept only if x is new: a branch here would be a coin toss
                reached += before == 0.0
                longer[x] = before + weight
    return reached
