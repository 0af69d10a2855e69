"""A spanning forest of a graph, in the order its edges are looked at."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s


@njit(cache=True, nogil=True)
def spanning_forest(edges: Int32s, order: Int64s, num_nodes: int) -> Bools:
    """Return which edges first join two components when they are looked at in an order: bool (m,).

    With a random order this is the minimum spanning forest for independent random weights.

    Args:
        edges: int32 (m, 2), ids below ``num_nodes``.
        order: int64 (m,), a permutation of the rows.

    Kruskal 1956, "On the shortest spanning subtree of a graph and the traveling salesman problem".
    """
    parent = np.arange(num_nodes).astype(np.int32)
    tree = np.zeros(len(edges), dtype=np.bool_)
    joined = 0
    for at in range(len(order)):
        row = order[at]
        u = _root(parent, edges[row, 0])
        v = _root(parent, edges[row, 1])
        if u == v:
            continue
        # The larger id hangs below the smaller: with halved paths that is enough to keep them short.
        if u < v:
            parent[v] = u
        else:
            parent[u] = v
        tree[row] = True
        joined += 1
        if joined == num_nodes - 1:
            break
    return tree


@njit(cache=True, nogil=True, inline="always")
def _root(parent: Int32s, node: int) -> int:
    """Return the representative of a node's component; the path to it is halved on the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
