"""Weighted sums over the walks between node pairs, of bounded length."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.grouping import Groups, group_by, num_blocks
from trueedge.kernels.arrays.threads import run_blocks


def walk_sums(
    indptr: Int64s, indices: Int32s, pairs: Int64s, coefficients: Float64s, weights: Float64s
) -> Float64s:
    """Return the summed weights of walks of length l, times ``coefficients[l - 1]``, over l: float64 (n,).

    A walk's weight is the product of ``weights[w]`` over the nodes w it passes between its ends, a node as
    often as it is passed; with weights of one this counts walks, ``(A^l)_uv``. Walks from one end reach all
    lengths but the last, which is summed over the neighbours of the other end; the end from which two steps
    are cheaper is walked from, whichever is named first, so (u, v) and (v, u) get the same bits.

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,).
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
    run_blocks(
        lambda block, _, __: _block(
            indptr, indices, coefficients, weights, groups, target, block, blocks, sums
        ),
        blocks,
        1,
        lambda: None,
    )
    return sums


@njit(cache=True, nogil=True)
def _two_step_cost(indptr: Int64s, indices: Int32s) -> Int64s:
    """Return the number of walks of two steps from each node."""
    cost = np.zeros(len(indptr) - 1, dtype=np.int64)
    for node in range(len(cost)):
        for w in indices[indptr[node] : indptr[node + 1]]:
            cost[node] += indptr[w + 1] - indptr[w]
    return cost


@njit(cache=True, nogil=True)
def _block(
    indptr: Int64s,
    indices: Int32s,
    coefficients: Float64s,
    weights: Float64s,
    groups: Groups,
    target: Int64s,
    block: int,
    blocks: int,
    sums: Float64s,
) -> None:
    """The pairs of some sources, one source after the other."""
    walks = np.zeros(len(weights))  # of the current length, from the source to each node
    longer = np.zeros(len(weights))  # of the next length
    frontier = np.empty(len(weights) + 1, dtype=np.int32)  # where walks is not zero
    following = np.empty(len(weights) + 1, dtype=np.int32)  # where longer is not zero
    sources, starts, order = groups
    for group in range(block, len(sources), blocks):
        members = order[starts[group] : starts[group + 1]]
        size = np.int64(0)
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
    indptr: Int64s,
    indices: Int32s,
    weights: Float64s,
    walks: Float64s,
    frontier: Int32s,
    size: int,
    longer: Float64s,
    following: Int32s,
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
