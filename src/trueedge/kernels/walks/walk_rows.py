"""Rows of powers of the adjacency, and what two of them share."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int64s
from trueedge.kernels.arrays.growing import longer
from trueedge.kernels.arrays.sorted_rows import place_of
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.neighbors.pair_sets import BLOCK, common_sets, no_scratch

_Scratch = tuple[Float64s, Int64s, Float64s, Int64s, Bools]


def walk_rows(
    indptr: Int64s, indices: Int64s, ends: Int64s, weights: Float64s
) -> tuple[Int64s, Int64s, Float64s]:
    """Return rows of a weighted sum of powers of the adjacency: starts, nodes ascending, values.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int64 (arcs,), ascending within a row.
        ends: int64 (q,), the nodes whose rows are asked for.
        weights: float64 (hops,), that of each power from the first on, above zero.
    """
    counts = np.zeros(len(ends) + 1, dtype=np.int64)
    size = len(indptr) - 1

    def scratch() -> _Scratch:
        lists = np.empty((2, size), dtype=np.int64)
        touched, known = np.empty(size + 1, dtype=np.int64), np.zeros(size, dtype=np.bool_)
        return np.zeros((2, size)), lists, np.zeros(size), touched, known

    def work(first: int, last: int, room: _Scratch) -> tuple[Int64s, Float64s]:
        found: tuple[Int64s, Float64s] = _walk(indptr, indices, ends, weights, first, last, *room, counts)
        return found

    found = run_blocks(work, len(ends), BLOCK, scratch)
    np.cumsum(counts, out=counts)
    nodes = np.concatenate([part[0] for part in found]) if found else np.empty(0, dtype=np.int64)
    values = np.concatenate([part[1] for part in found]) if found else np.empty(0)
    return counts, nodes, values


def row_overlaps(
    starts: Int64s, nodes: Int64s, values: Float64s, pairs: Int64s
) -> tuple[Int64s, Int64s, Float64s]:
    """Return the nodes that two rows share, and the product of their values there: starts, nodes, products.

    Args:
        starts: int64 (q + 1,), where each row starts.
        nodes: int64 (k,), ascending within a row.
        values: float64 (k,).
        pairs: int64 (m, 2), of rows.
    """
    shared, found = common_sets(starts, nodes, pairs)
    products = np.empty(len(found))

    def work(first: int, last: int, _: None) -> None:
        _multiply(starts, nodes, values, pairs, first, last, shared, found, products)

    run_blocks(work, len(pairs), BLOCK, no_scratch)
    return shared, found, products


@njit(cache=True, nogil=True)
def _walk(indptr, indices, ends, weights, first, last, walks, lists, total, touched, known, counts):  # type: ignore[no-untyped-def]
    """Walks are counted hop by hop, from one end at a time: whole numbers, so in no order that matters."""
    nodes, values = np.empty(1024, dtype=np.int64), np.empty(1024)
    size = 0
    for q in range(first, last):
        now, level, seen = 0, 1, 0
        lists[now, 0], walks[now, ends[q]] = ends[q], 1.0
        for hop in range(len(weights)):
            level = _step(indptr, indices, walks[now], walks[1 - now], lists[now], lists[1 - now], level)
            now = 1 - now
            for node in lists[now, :level]:
                total[node] += weights[hop] * walks[now, node]
                touched[seen] = node
                # Written first and counted after.
                seen += not known[node]
                known[node] = True
        for node in lists[now, :level]:
            walks[now, node] = 0.0
        if size + seen > len(nodes):
            room = max(2 * len(nodes), size + seen)
            nodes, values = longer(nodes, size, room), longer(values, size, room)
        nodes[size : size + seen] = np.sort(touched[:seen])
        for place in range(size, size + seen):
            node = nodes[place]
            values[place] = total[node]
            total[node], known[node] = 0.0, False
        size += seen
        counts[q + 1] = seen
    return nodes[:size].copy(), values[:size].copy()


@njit(cache=True, nogil=True)
def _step(indptr, indices, walks, ahead, reached, following, level):  # type: ignore[no-untyped-def]
    """Make every walk one step longer, and forget the shorter ones; how many nodes they end at."""
    count = 0
    for node in reached[:level]:
        number = walks[node]
        walks[node] = 0.0
        for neighbor in indices[indptr[node] : indptr[node + 1]]:
            if ahead[neighbor] == 0.0:
                following[count] = neighbor
                count += 1
            ahead[neighbor] += number
    return count


@njit(cache=True, nogil=True)
def _multiply(starts, nodes, values, pairs, first, last, shared, found, products):  # type: ignore[no-untyped-def]
    for p in range(first, last):
        a, b = pairs[p, 0], pairs[p, 1]
        i, j = starts[a], starts[b]
        for place in range(shared[p], shared[p + 1]):
            i = place_of(nodes, i, starts[a + 1], found[place])
            j = place_of(nodes, j, starts[b + 1], found[place])
            products[place] = values[i] * values[j]
