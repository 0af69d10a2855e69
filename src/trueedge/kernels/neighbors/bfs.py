"""Shortest distances between node pairs, by breadth-first search from both ends."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s
from trueedge.kernels.arrays.grouping import Groups, group_by, num_blocks
from trueedge.kernels.arrays.threads import run_blocks


def distances(indptr: Int64s, indices: Int32s, pairs: Int64s) -> Int32s:
    """Return the length of a shortest path between the ends of each pair, int32 (n,); -1 if there is none.

    Pairs are gathered by the column with fewer distinct nodes. The search around a source is shared by its
    targets and grows only as far as they need; each target is searched from until the two searches meet.

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,).
        pairs: int64 array (n, 2).
    """
    found = np.full(len(pairs), -1, dtype=np.int32)
    if len(pairs) == 0:
        return found
    nodes = len(indptr) - 1
    first, second = np.ascontiguousarray(pairs.T)
    groups, target = group_by(first, nodes), second
    swapped = group_by(second, nodes)
    if len(swapped.keys) < len(groups.keys):
        groups, target = swapped, first
    blocks = num_blocks(len(groups.keys))
    run_blocks(
        lambda block, _, __: _block(indptr, indices, groups, target, block, blocks, found),
        blocks,
        1,
        lambda: None,
    )
    return found


@njit(cache=True, nogil=True)
def _block(
    indptr: Int64s, indices: Int32s, groups: Groups, target: Int64s, block: int, blocks: int, found: Int32s
) -> None:
    """The pairs of some sources; around each, ``near`` holds the distances to the nodes of a growing ball."""
    nodes = len(indptr) - 1
    near = np.full(nodes, -1, dtype=np.int32)
    ball = np.empty(nodes, dtype=np.int32)  # nodes by distance from the source
    around = np.zeros(nodes, dtype=np.bool_)  # who the search from the target has reached
    other = np.empty(nodes, dtype=np.int32)  # nodes by distance from the target
    sources, starts, order = groups
    for group in range(block, len(sources), blocks):
        source = sources[group]
        near[source] = 0
        ball[0] = source
        # ball[inner:outer] are the nodes at distance radius
        inner, outer, radius = np.int64(0), np.int64(1), np.int64(0)
        volume = indptr[source + 1] - indptr[source]  # arcs that leave them
        for place in range(starts[group], starts[group + 1]):
            p = order[place]
            end = target[p]
            if near[end] >= 0:
                found[p] = near[end]
                continue
            left = starts[group + 1] - place
            around[end] = True
            other[0] = end
            back_inner, back_outer, back = np.int64(0), np.int64(1), 0
            back_volume = indptr[end + 1] - indptr[end]
            met = False
            while not met and outer > inner and back_outer > back_inner:
                if volume <= left * back_volume:
                    # A level around the source spares each target still to come a level of its own.
                    inner, outer, volume, met = _grow_ball(
                        indptr, indices, near, ball, inner, outer, radius + 1, around
                    )
                    radius += 1
                else:
                    back_inner, back_outer, back_volume, met = _grow_back(
                        indptr, indices, around, other, back_inner, back_outer, near
                    )
                    back += 1
            if met:
                # Nothing met before, so the path is one longer than the radii before this last level.
                found[p] = radius + back
            for w in other[:back_outer]:
                around[w] = False
        for w in ball[:outer]:
            near[w] = -1


@njit(cache=True, nogil=True)
def _grow_ball(
    indptr: Int64s,
    indices: Int32s,
    near: Int32s,
    ball: Int32s,
    inner: int,
    outer: int,
    radius: int,
    around: Bools,
) -> tuple[int, int, int, bool]:
    """Add a whole level around the source: later targets rely on it, so it does not stop at a meeting."""
    last, volume, met = outer, 0, False
    for w in ball[inner:outer]:
        for x in indices[indptr[w] : indptr[w + 1]]:
            if near[x] < 0:
                near[x] = radius
                ball[last] = x
                last += 1
                volume += indptr[x + 1] - indptr[x]
                met = met or around[x]
    return outer, last, volume, met


@njit(cache=True, nogil=True)
def _grow_back(
    indptr: Int64s, indices: Int32s, around: Bools, other: Int32s, inner: int, outer: int, near: Int32s
) -> tuple[int, int, int, bool]:
    """Add a level around the target, and stop at the first node the search around the source holds."""
    last, volume = outer, 0
    for w in other[inner:outer]:
        for x in indices[indptr[w] : indptr[w + 1]]:
            if near[x] >= 0:
                return outer, last, volume, True
            if not around[x]:
                around[x] = True
                other[last] = x
                last += 1
                volume += indptr[x + 1] - indptr[x]
    return outer, last, volume, False
