"""Personalised PageRank of every node, kept where a pair of nodes may be asked for it, and nowhere else.

What is kept of a row is the node's own value, the values at its neighbours, one an arc, and the values that
are not below a floor: all that the sets of nodes around pairs are made of. A row is forgotten as soon as that
is taken out of it, so nothing is ever there of the size of nodes times nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.kept_scratch import KeptScratch
from trueedge.kernels.arrays.radix import digit_counts, sort_ids
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.push import PushState, push, push_state

MOST_SOURCES_PER_BLOCK = 64


class NearRanks(NamedTuple):
    """PageRank estimates of all nodes as sources.

    Attributes:
        own: float64 array (n,), of each node at itself.
        at_arcs: float64 array (arcs,), of each arc's row at its column.
        starts: int64 array (n + 1,): what is not below the floor in row i is at ``starts[i]:starts[i + 1]``.
        nodes: int32 array (entries,), ascending within a row, never the source itself.
        scores: float64 array (entries,).
    """

    own: NDArray[np.float64]
    at_arcs: NDArray[np.float64]
    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    scores: NDArray[np.float64]


def near_ranks(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], alpha: float, eps: float, floor: float
) -> NearRanks:
    """The PageRank estimates of every node at itself, at its neighbours, and wherever they reach a floor.

    Args:
        indptr: int64 array (n + 1,), the row starts of the adjacency.
        indices: int32 array (arcs,), ascending within a row.
        alpha: the probability of going back to the source.
        eps: the error bound a unit of degree.
        floor: the smallest estimate that is kept of nodes further away; above 1 keeps none.
    """
    nodes = len(indptr) - 1
    own, at_arcs = np.empty(nodes), np.empty(len(indices))

    def work(first: int, last: int, scratch: Any) -> Any:
        return _block(indptr, indices, first, last, alpha, floor, *scratch, own, at_arcs)

    size = max(1, min(MOST_SOURCES_PER_BLOCK, nodes // 16))
    blocks = run_blocks(work, nodes, size, _scratch.of(indptr, alpha, eps))
    starts = np.zeros(nodes + 1, dtype=np.int64)
    if not blocks:
        return NearRanks(own, at_arcs, starts, np.empty(0, dtype=np.int32), np.empty(0))
    np.cumsum(np.concatenate([block[0] for block in blocks]), out=starts[1:])
    kept, scores = (np.concatenate([block[part] for block in blocks]) for part in (1, 2))
    return NearRanks(own, at_arcs, starts, kept, scores)


def _make_scratch(indptr: NDArray[np.int64], alpha: float, eps: float) -> tuple[Any, ...]:
    """What one thread needs: the state, an estimate of zeros, room for its support and two for sorting it."""
    nodes = len(indptr) - 1
    support, room = np.empty(nodes + 1, dtype=np.int32), np.empty(nodes + 1, dtype=np.int32)
    return push_state(indptr, alpha, eps), np.zeros(nodes), support, room, digit_counts(nodes)


_scratch = KeptScratch(_make_scratch)


@njit(cache=True, nogil=True)
def _block(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    first: int,
    last: int,
    alpha: float,
    floor: float,
    state: PushState,
    estimate: NDArray[np.float64],
    support: NDArray[np.int32],
    room: NDArray[np.int32],
    digits: NDArray[np.int32],
    own: NDArray[np.float64],
    at_arcs: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
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
