"""Walks on graphs whose nodes have types: the frequent neighbours of each type, and paths along matrices.

Every draw is keyed by the node and the step, so that results depend neither on threads nor on blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import even_blocks, run_blocks

NOWHERE = -1
LEAST_NODES = 64
_HIGH = np.uint64(32)


def frequent_neighbors(
    indptr: Int64s, indices: Int32s, types: Int32s, counts: Int64s, steps: int, key: int
) -> Int32s:
    """Return the nodes of each type that walks with restart from a node visit most, int32 (n, sum of counts).

    Before each step, the walk returns to its node with probability one half. Nodes of a type are ordered by
    visits, then by id. The node itself is not counted. Where too few nodes of a type were visited, they are
    repeated in that order, and ``NOWHERE`` stands where none was.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,).
        types: int32 (n,), the type of each node.
        counts: int64 (types,), how many nodes of each type are returned.
        steps: steps of the walk from each node.
        key: what the draws depend on.

    Zhang, Song, Huang, Swami, Chawla: Heterogeneous Graph Neural Network, KDD 2019.
    """
    nodes = len(types)
    found = np.full((nodes, int(counts.sum())), NOWHERE, dtype=np.int32)

    def work(first: int, last: int, visits: Int32s) -> None:
        _restarts(indptr, indices, types, counts, steps, np.uint64(key), first, last, visits, found)

    run_blocks(work, nodes, even_blocks(nodes, LEAST_NODES), lambda: np.zeros(nodes, dtype=np.int32))
    return found


@njit(cache=True, nogil=True)
def _restarts(indptr, indices, types, counts, steps, key, first, last, visits, found):  # type: ignore[no-untyped-def]
    seen = np.empty(steps, dtype=np.int32)
    for root in range(first, last):
        number, node = 0, root
        for step in range(steps):
            word = draw_key(key, root, step)
            if word & np.uint64(1):
                node = root
            degree = indptr[node + 1] - indptr[node]
            if degree == 0:
                break
            node = indices[indptr[node] + np.int64(((word >> _HIGH) * np.uint64(degree)) >> _HIGH)]
            if node != root:
                if visits[node] == 0:
                    seen[number] = node
                    number += 1
                visits[node] += 1
        # Most visits first; among equals, the smaller id.
        order = np.empty(number, dtype=np.int64)
        for i in range(number):
            order[i] = (np.int64(steps - visits[seen[i]]) << 32) | np.int64(seen[i])
        order.sort()
        start = 0
        for kind in range(len(counts)):
            own = 0
            for word in order:
                visited = np.int32(word & 0xFFFFFFFF)
                if own < counts[kind] and types[visited] == kind:
                    found[root, start + own] = visited
                    own += 1
            for place in range(own, counts[kind] if own > 0 else 0):
                found[root, start + place] = found[root, start + place % own]
            start += counts[kind]
        for node in seen[:number]:
            visits[node] = 0


def path_instances(
    starts: Sequence[Int64s], columns: Sequence[Int32s], nodes: Int64s, most: int, key: int
) -> tuple[Int32s, Int64s]:
    """Return paths along a sequence of matrices: int32 (rows, width, steps + 1), and how many each row has.

    A row with at most ``most`` paths has all of them, in order. For others the list of all paths is cut into
    ``most`` parts of about the same size, and one path of each is drawn. Unused places hold ``NOWHERE``.

    Args:
        starts, columns: row starts and columns of the CSR matrix of each step.
        nodes: int64 (steps + 1,), the number of rows of each matrix, and of columns of the last.
        most: the largest number of paths of a row.
        key: what the draws depend on.
    """
    # The paths that go on from each node: their number, and its sums over the entries of each matrix.
    ways = np.ones(nodes[-1], dtype=np.int64)
    sums: list[Int64s] = []
    for start, column in zip(starts[::-1], columns[::-1], strict=True):
        total = np.zeros(len(column) + 1, dtype=np.int64)
        np.cumsum(ways[column], out=total[1:])
        sums.insert(0, total)
        ways = total[start[1:]] - total[start[:-1]]
    counts = np.minimum(ways, most)
    found = np.full((len(counts), int(counts.max(initial=0)), len(starts) + 1), NOWHERE, dtype=np.int32)
    found[:, :, 0] = np.where(
        np.arange(found.shape[1]) < counts[:, None], np.arange(len(counts))[:, None], -1
    )
    ranks = np.zeros(found.shape[:2], dtype=np.int64)
    _choose(ways, counts, np.uint64(key), ranks)
    for step, (start, column, total) in enumerate(zip(starts, columns, sums, strict=True)):

        def work(
            first: int,
            last: int,
            _: None,
            given: tuple[Int64s, Int32s, Int64s, int] = (start, column, total, step),
        ) -> None:
            _follow(*given, counts[first:last], ranks[first:last], found[first:last])

        run_blocks(work, len(counts), even_blocks(len(counts), LEAST_NODES), lambda: None)
    return found, counts


@njit(cache=True, nogil=True)
def _choose(ways: Int64s, counts: Int64s, key: np.uint64, ranks: Int64s) -> None:
    """Draw the number of a path from each part of a row's list."""
    for row in range(len(ways)):
        size, rest = ways[row] // max(1, counts[row]), ways[row] % max(1, counts[row])
        begin = np.int64(0)
        for place in range(counts[row]):
            # The first parts are longer by one.
            own = size + np.int64(place < rest)
            word = draw_key(key, row, place) >> np.uint64(1)
            ranks[row, place] = begin + np.int64(word) % own
            begin += own


@njit(cache=True, nogil=True)
def _follow(
    starts: Int64s, columns: Int32s, sums: Int64s, step: int, counts: Int64s, ranks: Int64s, found: Int32s
) -> None:
    """Make every path one step longer: its number says which entry it takes, and what remains of it."""
    for row in range(len(counts)):
        for place in range(counts[row]):
            node = found[row, place, step]
            wanted = sums[starts[node]] + ranks[row, place]
            entry = np.searchsorted(sums[starts[node] : starts[node + 1] + 1], wanted, side="right") - 1
            entry += starts[node]
            found[row, place, step + 1] = columns[entry]
            ranks[row, place] = wanted - sums[entry]
