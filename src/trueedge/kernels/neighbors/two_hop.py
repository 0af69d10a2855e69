"""Scores of every node two steps away from a source, in one sweep over the steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s


@njit(cache=True, nogil=True)
def two_hop_row(
    indptr: Int64s, indices: Int32s, weights: Float64s, source: int, row: Float64s, touched: Int32s
) -> int:
    """Sum ``weights[w]`` over the common neighbours w of a source and each node; return how many have one.

    With weights 1 / degree this is resource allocation, with ones the number of common neighbours. The terms
    are added in ascending order of w, as a product of matrices would.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,), ascending within a row.
        weights: float64 array (n,), above zero at every node with a neighbour.
        source: the node whose row is computed.
        row: float64 array (n,), all zero; filled with the sums, which the caller clears where touched.
        touched: int32 array (n + 1,), filled with the nodes that have a sum, the source among them.
    """
    count = 0
    for w in indices[indptr[source] : indptr[source + 1]]:
        weight = weights[w]
        for neighbor in indices[indptr[w] : indptr[w + 1]]:
            node = np.uint32(neighbor)
            before = row[node]
            row[node] = before + weight
            # Written first and counted after: which node is new is nothing a processor can foresee.
            touched[count] = neighbor
            count += before == 0.0
    return count
