"""Personalised PageRank of every node, kept where a pair of nodes may be asked for it, and nowhere else.

What is kept of a row is the node's own value, the values at its neighbours, one an arc, and the values that
are not below a floor: all that the sets of nodes around pairs are made of. A row is forgotten as soon as that
is taken out of it, so nothing is ever there of the size of nodes times nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.radix import sort_ids
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.push import Block, Scratch, block_size, kept_scratch, push, stack_rows


class NearRanks(NamedTuple):
    """PageRank estimates of all nodes as sources.

    Attributes:
        own: float64 array (n,), of each node at itself.
        at_arcs: float64 array (arcs,), of each arc's row at its column.
        starts: int64 array (n + 1,): what is not below the floor in row i is at ``starts[i]:starts[i + 1]``.
        nodes: int32 array (entries,), ascending within a row, never the source itself.
        scores: float64 array (entries,).
    """

    own: Float64s
    at_arcs: Float64s
    starts: Int64s
    nodes: Int32s
    scores: Float64s


def near_ranks(indptr: Int64s, indices: Int32s, alpha: float, eps: float, floor: float) -> NearRanks:
    """Return the PageRank of every node at itself, at its neighbours, and wherever it reaches a floor.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,), ascending within a row.
        alpha: the teleport probability.
        eps: the error bound per unit of degree.
        floor: the smallest estimate that is kept of nodes further away; above 1 keeps none.
    """
    nodes = len(indptr) - 1
    own, at_arcs = np.empty(nodes), np.empty(len(indices))

    def work(first: int, last: int, scratch: Scratch) -> Block:
        kept: Block = _near_rows(indptr, indices, first, last, alpha, floor, scratch, own, at_arcs)
        return kept

    blocks = run_blocks(work, nodes, block_size(nodes), kept_scratch.of(indptr, alpha, eps))
    return NearRanks(own, at_arcs, *stack_rows(blocks))


@njit(cache=True, nogil=True)
def _near_rows(indptr, indices, first, last, alpha, floor, scratch, own, at_arcs):  # type: ignore[no-untyped-def]
    state, estimate, support, room, digits = scratch
    counts = np.empty(last - first, dtype=np.int64)
    nodes, scores = np.empty(64 * len(counts), dtype=np.int32), np.empty(64 * len(counts))
    filled = 0
    for source in range(first, last):
        reached = push(indptr, indices, source, alpha, state, estimate, support)
        own[source] = estimate[source]
        for arc in range(indptr[source], indptr[source + 1]):
            at_arcs[arc] = estimate[indices[arc]]
        kept = 0
        for place in range(reached):
            node = support[place]
            if estimate[node] >= floor and node != source:
                # Moved to the front: what stood there has been looked at, and is cleared below.
                support[place], support[kept] = support[kept], node
                kept += 1
        sort_ids(support[:kept], room, digits)
        if filled + kept > len(nodes):
            nodes = np.concatenate((nodes[:filled], np.empty(filled + 2 * kept, dtype=np.int32)))
            scores = np.concatenate((scores[:filled], np.empty(filled + 2 * kept)))
        for node in support[:kept]:
            nodes[filled] = node
            scores[filled] = estimate[node]
            filled += 1
        for node in support[:reached]:
            estimate[node] = 0.0
        counts[source - first] = kept
    return counts, nodes[:filled], scores[:filled]
