"""Distances from many sources to all entities, by breadth-first search."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s, UInt8s
from trueedge.kernels.arrays.threads import run_blocks


def distances_from(indptr: Int64s, targets: Int32s, kept: Bools, sources: Int64s, limit: int) -> UInt8s:
    """Return the distance from each source to each entity, uint8 (sources, entities).

    Entities that are further away than ``limit`` get ``limit + 1``.

    Args:
        indptr: int64 (entities + 1,), where the edges that leave an entity begin.
        targets: int32 (edges,), the entity that each edge enters.
        kept: bool (edges,), False for edges that are removed.
        sources: int64 (b,).
        limit: the largest distance, at most 254.
    """
    found = np.full((len(sources), len(indptr) - 1), limit + 1, dtype=np.uint8)
    run_blocks(
        lambda first, last, queue: _search(indptr, targets, kept, sources, limit, first, last, queue, found),
        len(sources),
        1,
        lambda: np.empty(len(indptr) - 1, dtype=np.int32),
    )
    return found


@njit(cache=True, nogil=True)
def _search(
    indptr: Int64s,
    targets: Int32s,
    kept: Bools,
    sources: Int64s,
    limit: int,
    first: int,
    last: int,
    queue: Int32s,
    found: UInt8s,
) -> None:
    for row in range(first, last):
        reached = found[row]
        reached[sources[row]] = 0
        queue[0] = sources[row]
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            following = reached[node] + 1
            if following > limit:
                break
            for edge in range(indptr[node], indptr[node + 1]):
                target = targets[edge]
                if kept[edge] and reached[target] > limit:
                    reached[target] = following
                    queue[tail] = target
                    tail += 1
