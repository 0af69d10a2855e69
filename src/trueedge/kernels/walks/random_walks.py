"""Random walks on a graph: uniform ones, and node2vec's, which remember where they came from.

Every draw is keyed by the walk's number and the step, so a walk is the same whichever walks are made beside
it, on any number of threads: nobody has to keep walks that can be made again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.sorted_rows import place_of
from trueedge.kernels.arrays.threads import run_blocks

WALKS_IN_A_BLOCK = 1024
NOWHERE = -1
_HIGH = np.uint64(32)
_TO_UNIT = 1.0 / (1 << 53)
_ELEVEN = np.uint64(11)


def random_walks(
    indptr: Int64s, indices: Int32s, starts: Int32s, length: int, key: int, p: float, q: float, first: int
) -> Int32s:
    """Return walks of ``length`` nodes, int32 (walks, length); a walk that cannot go on ends in ``NOWHERE``.

    A step goes from v, reached from t, to a neighbour x of v with a weight of 1/p where x is t, 1 where x is
    a neighbour of t, and 1/q elsewhere; the first step, and all where p and q are 1, go to any neighbour
    alike.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,), ascending within a row.
        starts: int32 array (walks,), where each walk starts.
        length: nodes in a walk, the first one too.
        p: the return parameter; above 1, walks rarely turn back.
        q: the in-out parameter; above 1, walks stay near the previous node.
        first: the number of the first walk; walk i is keyed by ``first + i``.

    Grover, Leskovec: node2vec: Scalable Feature Learning for Networks, KDD 2016.
    """
    walks = np.empty((len(starts), length), dtype=np.int32)
    second_order = p != 1.0 or q != 1.0

    def work(begin: int, end: int, _: None) -> None:
        part, numbers, place = starts[begin:end], first + begin, walks[begin:end]
        if second_order:
            _biased(indptr, indices, part, np.uint64(key), numbers, 1.0 / p, 1.0 / q, place)
        else:
            _uniform(indptr, indices, part, np.uint64(key), numbers, place)

    run_blocks(work, len(starts), WALKS_IN_A_BLOCK, lambda: None)
    return walks


@njit(cache=True, nogil=True)
def _uniform(
    indptr: Int64s, indices: Int32s, starts: Int32s, key: np.uint64, first: int, walks: Int32s
) -> None:
    for i in range(len(starts)):
        own = draw_key(key, first + i, 0)
        node = starts[i]
        for step in range(walks.shape[1]):
            walks[i, step] = node
            if node != NOWHERE:
                node = _neighbor(indptr, indices, node, draw_key(own, step, 0))


@njit(cache=True, nogil=True)
def _biased(
    indptr: Int64s,
    indices: Int32s,
    starts: Int32s,
    key: np.uint64,
    first: int,
    back: float,
    away: float,
    walks: Int32s,
) -> None:
    top = max(1.0, back, away)
    for i in range(len(starts)):
        own = draw_key(key, first + i, 0)
        before, node = np.int32(NOWHERE), starts[i]
        for step in range(walks.shape[1]):
            walks[i, step] = node
            if node == NOWHERE:
                continue
            following = _neighbor(indptr, indices, node, draw_key(own, step, 0))
            if before != NOWHERE:
                # A proposal is taken with its share of the largest weight: no table for each pair of nodes.
                trial = 0
                while True:
                    if following == before:
                        weight = back
                    elif _is_edge(indptr, indices, before, following):
                        weight = 1.0
                    else:
                        weight = away
                    if float(draw_key(own, step, 2 * trial + 1) >> _ELEVEN) * _TO_UNIT * top < weight:
                        break
                    trial += 1
                    following = _neighbor(indptr, indices, node, draw_key(own, step, 2 * trial))
            before, node = node, following


@njit(cache=True, nogil=True)
def _neighbor(indptr: Int64s, indices: Int32s, node: np.int32, word: np.uint64) -> np.int32:
    """Return a neighbour, all alike but for one part in four billion; ``NOWHERE`` where there is none."""
    degree = indptr[node + 1] - indptr[node]
    if degree == 0:
        return np.int32(NOWHERE)
    jump = ((word >> _HIGH) * np.uint64(degree)) >> _HIGH
    return np.int32(indices[indptr[node] + np.int64(jump)])


@njit(cache=True, nogil=True)
def _is_edge(indptr: Int64s, indices: Int32s, u: np.int32, v: np.int32) -> bool:
    end = indptr[u + 1]
    place = place_of(indices, indptr[u], end, v)
    return bool(place < end and indices[place] == v)
