"""Graphs that grow node by node, new nodes preferring neighbours that have many."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.negatives.sampling import words


def grow(rng: np.random.Generator, quotas: Int64s, extra: float, ends: int) -> Int32s:
    """Attach each node to distinct earlier ones, drawn in proportion to their degree plus a constant.

    Args:
        quotas: int64 array (n,): how many earlier nodes each node attaches to, at most its own number; one
            that is equal to it attaches to them all.
        extra: what is added to every degree, 0 or more.
        ends: 1 to count only the edges a node received, 2 to count also those it made.

    Returns:
        int32 array (edges, 2): the new node and the earlier one.
    """
    edges = np.empty((int(quotas.sum()), 2), dtype=np.int32)
    edges[:, 0] = np.repeat(np.arange(len(quotas)), quotas)
    starts = np.cumsum(quotas) - quotas
    done = 0
    while done < len(edges):
        count = len(edges) - done
        # 53 bits of each word, as an exact float in [0, 1).
        fractions = (words(rng, count + count // 8 + 16) >> np.uint64(11)) * 2.0**-53
        done = attach(edges, starts, quotas, extra, ends, fractions, done)
    return edges


@njit(cache=True, nogil=True)
def attach(
    edges: Int32s, starts: Int64s, quotas: Int64s, extra: float, ends: int, fractions: Float64s, done: int
) -> int:
    """Go on drawing second ends until there are no more edges or no more random numbers: the edges done.

    Args:
        edges: int32 array (m, 2), first ends given; second ends are written from row ``done`` on.
        starts: int64 array (n,), the first row of each node.
        quotas, extra, ends: as in :func:`grow`.
        fractions: float64 array (r,), uniform in [0, 1); a draw that repeats a neighbour takes another.
        done: how many rows have their second end.
    """
    used = 0
    while done < len(edges):
        node = edges[done, 0]
        start = starts[node]
        if quotas[node] == node:
            edges[done, 1] = done - start
            done += 1
            continue
        if used == len(fractions):
            break
        place = fractions[used] * (extra * node + ends * start)
        used += 1
        if place < extra * node:
            target = np.int64(min(place / extra, node - 1))
        else:
            slot = np.int64(min(place - extra * node, ends * start - 1))
            target = np.int64(edges[slot // ends, 1 - slot % ends])
        if not _occurs(edges[start:done, 1], target):
            edges[done, 1] = target
            done += 1
    return done


@njit(cache=True, nogil=True)
def _occurs(values: Int32s, value: int) -> bool:
    place = 0
    while place < len(values) and values[place] != value:
        place += 1
    return place < len(values)
