"""The adjacency of a sorted edge list, without sorting again."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def neighbour_lists(edges: NDArray[np.int32], indptr: NDArray[np.int64]) -> NDArray[np.int32]:
    """Both directions of each edge as sorted rows of neighbours: int32 (2m,).

    A row holds its smaller neighbours before its larger ones. Walking the sorted edges, the smaller ones of
    every node come in order, and on a second walk the larger ones do: two passes, each linear.

    Args:
        edges: int32 array (m, 2), ``u < v``, sorted.
        indptr: int64 array (n + 1,), where each row starts.
    """
    indices = np.empty(2 * len(edges), dtype=np.int32)
    place = indptr[:-1].copy()
    for i in range(len(edges)):
        u, v = edges[i, 0], edges[i, 1]
        indices[place[v]] = u
        place[v] += 1
    for i in range(len(edges)):
        u, v = edges[i, 0], edges[i, 1]
        indices[place[u]] = v
        place[u] += 1
    return indices
