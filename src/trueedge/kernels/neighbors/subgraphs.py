"""Enclosing subgraphs of pairs of nodes, with each node's label by its distances from the two ends.

Zhang, Chen: Link Prediction Based on Graph Neural Networks, NeurIPS 2018.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.growing import longer
from trueedge.kernels.arrays.kept_scratch import KeptScratch
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.arrays.threads import run_blocks

Scratch = tuple[Int32s, Int32s, Int32s, Int32s, Int32s]
Arrays = tuple[Int64s, Int32s, Int32s, Int64s, Int32s]
# Pairs that a thread does at a time.
BLOCK = 128
UNSEEN = -1


class Subgraphs(NamedTuple):
    """Subgraphs side by side, as one graph that falls apart into them.

    Attributes:
        starts: int64 (p + 1,), where each subgraph's nodes begin. The smaller end comes first, the larger
            second, then the other nodes hop by hop. A node paired with itself stands alone.
        nodes: int32 (k,), which node of the graph each is.
        labels: int32 (k,), their labels: 1 at both ends, 0 where an end is out of reach.
        indptr: int64 (k + 1,), the row starts of the subgraphs' arcs.
        indices: int32 (arcs,), ascending within a row, numbered through all subgraphs. Every node has a loop.
    """

    starts: Int64s
    nodes: Int32s
    labels: Int32s
    indptr: Int64s
    indices: Int32s

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(part.nbytes for part in self)

    def take(self, which: Int64s) -> Subgraphs:
        """Return some of them, int64 (m,), in the order asked for."""
        sizes = np.diff(self.starts)[which]
        arcs = (self.indptr[self.starts[1:]] - self.indptr[self.starts[:-1]])[which]
        starts, arc_starts = _ends(sizes), _ends(arcs)
        nodes, labels = (np.empty(starts[-1], dtype=np.int32) for _ in range(2))
        indptr = np.full(starts[-1] + 1, arc_starts[-1], dtype=np.int64)
        taken = Subgraphs(starts, nodes, labels, indptr, np.empty(arc_starts[-1], dtype=np.int32))
        _take(tuple(self), which, arc_starts, tuple(taken))
        return taken


def enclosing_subgraphs(
    indptr: Int64s,
    indices: NDArray[Any],
    pairs: Int64s,
    hops: int,
    most: int = 0,
    share: float = 1.0,
    key: int = 0,
) -> Subgraphs:
    """Return the subgraphs of nodes within some hops of either end of a pair, without the pair's own edge.

    A node's label comes of its distances d, e from the two ends, each taken inside the subgraph without the
    other end: ``1 + min(d, e) + s // 2 * (s // 2 + s % 2 - 1)`` where ``s = d + e``.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int (arcs,), ascending within a row.
        pairs: int64 array (p, 2); which end comes first does not matter.
        hops: how far nodes are taken from the nearer end.
        most: the largest number of nodes per distance, sampled; 0: all.
        share: the share of the nodes per distance that is sampled.
        key: what the draws depend on, beside the pair itself.
    """

    def block(first: int, last: int, scratch: Scratch) -> Subgraphs:
        return Subgraphs(
            *_block(indptr, indices, pairs[first:last], hops, most, share, np.uint64(key), scratch)
        )

    return join(run_blocks(block, len(pairs), BLOCK, _SCRATCH.of(indptr)))


def join(parts: list[Subgraphs]) -> Subgraphs:
    """Lists of subgraphs, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    nodes = _ends(np.array([len(part.nodes) for part in parts], dtype=np.int64))
    arcs = _ends(np.array([len(part.indices) for part in parts], dtype=np.int64))
    starts, indptr = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    empty = np.empty(0, dtype=np.int32)
    placed = list(zip(parts, nodes[:-1], arcs[:-1], strict=True))
    return Subgraphs(
        np.concatenate([starts, *[part.starts[1:] + node for part, node, _ in placed]]),
        np.concatenate([empty, *[part.nodes for part in parts]]),
        np.concatenate([empty, *[part.labels for part in parts]]),
        np.concatenate([indptr, *[part.indptr[1:] + arc for part, _, arc in placed]]),
        np.concatenate([empty, *[part.indices + np.int32(node) for part, node, _ in placed]]),
    )


@njit(cache=True, nogil=True)
def _block(
    indptr: Int64s,
    indices: NDArray[Any],
    pairs: Int64s,
    hops: int,
    most: int,
    share: float,
    key: np.uint64,
    scratch: Scratch,
) -> Arrays:
    """Return some pairs one after the other; ``place`` holds the number of each node of the pair at hand."""
    place, found, near, far, queue = scratch
    count = len(pairs)
    starts = np.zeros(count + 1, dtype=np.int64)
    nodes = np.empty(64 * count, dtype=np.int32)
    labels = np.empty(64 * count, dtype=np.int32)
    ends = np.zeros(64 * count + 1, dtype=np.int64)
    arcs = np.empty(256 * count, dtype=np.int32)
    size, filled = 0, 0
    for p in range(count):
        low, high = min(pairs[p, 0], pairs[p, 1]), max(pairs[p, 0], pairs[p, 1])
        own = draw_key(key, low, high)
        around, volume = _grow(indptr, indices, low, high, hops, most, share, own, place, found)
        last = size + around
        if last > len(nodes):
            room = max(last, 2 * len(nodes))
            nodes, labels = longer(nodes, size, room), longer(labels, size, room)
            ends = longer(ends, size + 1, room + 1)
        if filled + volume > len(arcs):
            arcs = longer(arcs, filled, max(filled + volume, 2 * len(arcs)))
        nodes[size:last] = found[:around]
        rows = ends[size : last + 1]
        used = _link(indptr, indices, found[:around], low != high, place, rows, arcs, filled, queue)
        _label(rows, arcs, low != high, near, far, queue, labels[size:last])
        for arc in range(filled, used):
            arcs[arc] += size
        for node in found[:around]:
            place[node] = UNSEEN
        size, filled = last, used
        starts[p + 1] = size
    return starts, nodes[:size].copy(), labels[:size].copy(), ends[: size + 1].copy(), arcs[:filled].copy()


@njit(cache=True, nogil=True)
def _grow(
    indptr: Int64s,
    indices: NDArray[Any],
    low: int,
    high: int,
    hops: int,
    most: int,
    share: float,
    key: np.uint64,
    place: Int32s,
    found: Int32s,
) -> tuple[int, int]:
    """Return how many nodes are around two ends, and how many arcs and loops they have.

    They are left in ``found``, and their numbers in ``place``.
    """
    found[0] = low
    place[low] = 0
    outer = 1
    if high != low:
        found[1] = high
        place[high] = 1
        outer = 2
    dropped = np.empty(0, dtype=np.int32)
    inner = 0
    # A node paired with itself is no link, whatever is around it. Such pairs fill up blocks: they shall cost
    # nothing.
    for hop in range(hops if high != low else 0):
        first = outer
        for number in range(inner, first):
            w = found[number]
            for x in indices[indptr[w] : indptr[w + 1]]:
                if place[x] == UNSEEN:
                    place[x] = outer
                    found[outer] = x
                    outer += 1
        inner = first
        keep = int(share * (outer - first))
        if most > 0:
            keep = min(keep, most)
        if keep < outer - first:
            level = _thin(found[first:outer], keep, draw_key(key, hop, 0))
            dropped = np.concatenate((dropped, level[keep:]))
            found[first : first + keep] = level[:keep]
            outer = first + keep
        if outer == first:
            break
    # Those left out are not to be found again at a later hop, so their marks stay until here.
    for node in dropped:
        place[node] = UNSEEN
    volume = outer
    for number in range(outer):
        node = found[number]
        place[node] = number
        volume += indptr[node + 1] - indptr[node]
    return outer, volume


@njit(cache=True, nogil=True)
def _thin(level: Int32s, keep: int, key: np.uint64) -> Int32s:
    """Return the nodes of a level, those first that are kept: whose draws are lowest."""
    draws = np.empty(len(level), dtype=np.uint64)
    for i in range(len(level)):
        # Different nodes never draw the same number.
        draws[i] = draw_key(key, 0, level[i])
    bound = np.sort(draws)[keep]
    return np.concatenate((np.sort(level[draws < bound]), level[draws >= bound]))


@njit(cache=True, nogil=True)
def _link(
    indptr: Int64s,
    indices: NDArray[Any],
    found: Int32s,
    two: bool,
    place: Int32s,
    ends: Int64s,
    arcs: Int32s,
    filled: int,
    fill: Int32s,
) -> int:
    """Write the arcs and loops of the nodes behind ``filled``, each row ascending; where they end."""
    size = len(found)
    ends[0] = filled
    for number in range(size):
        count = 1
        node = found[number]
        for x in indices[indptr[node] : indptr[node + 1]]:
            other = place[x]
            # Numbers that add up to 1 are the two ends': the pair's own edge.
            count += other >= 0 and not (two and number + other == 1)
        fill[number] = ends[number] - filled
        ends[number + 1] = ends[number] + count
    # Each node writes itself into its neighbours' rows, so these come out in ascending order.
    for number in range(size):
        node = found[number]
        arcs[filled + fill[number]] = number
        fill[number] += 1
        for x in indices[indptr[node] : indptr[node + 1]]:
            other = place[x]
            if other >= 0 and not (two and number + other == 1):
                arcs[filled + fill[other]] = number
                fill[other] += 1
    return int(ends[size])


@njit(cache=True, nogil=True)
def _label(
    ends: Int64s, arcs: Int32s, two: bool, near: Int32s, far: Int32s, queue: Int32s, labels: Int32s
) -> None:
    """Fill in the labels of one subgraph."""
    if two:
        _walk(ends, arcs, 0, 1, near, queue)
        _walk(ends, arcs, 1, 0, far, queue)
    for number in range(2, len(labels)):
        d, e = near[number], far[number]
        half, odd = (d + e) // 2, (d + e) % 2
        labels[number] = 1 + min(d, e) + half * (half + odd - 1) if d >= 0 and e >= 0 else 0
    labels[:2] = 1


@njit(cache=True, nogil=True)
def _walk(ends: Int64s, arcs: Int32s, source: int, removed: int, distance: Int32s, queue: Int32s) -> None:
    """Fill in the distances from a node inside a subgraph without another node; -1 where there is no path."""
    distance[: len(ends) - 1] = -1
    distance[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        w = queue[head]
        head += 1
        for x in arcs[ends[w] : ends[w + 1]]:
            if distance[x] < 0 and x != removed:
                distance[x] = distance[w] + 1
                queue[tail] = x
                tail += 1


@njit(cache=True, nogil=True)
def _take(old: Arrays, which: Int64s, arc_starts: Int64s, new: Arrays) -> None:
    old_starts, old_nodes, old_labels, old_indptr, old_indices = old
    starts, nodes, labels, indptr, indices = new
    for i in range(len(which)):
        begin, end = old_starts[which[i]], old_starts[which[i] + 1]
        nodes[starts[i] : starts[i + 1]] = old_nodes[begin:end]
        labels[starts[i] : starts[i + 1]] = old_labels[begin:end]
        shift = arc_starts[i] - old_indptr[begin]
        for j in range(end - begin):
            indptr[starts[i] + j] = old_indptr[begin + j] + shift
        move = starts[i] - begin
        for arc in range(old_indptr[begin], old_indptr[end]):
            indices[arc + shift] = old_indices[arc] + move


def _make_scratch(indptr: Int64s) -> Scratch:
    place = np.full(len(indptr) - 1, UNSEEN, dtype=np.int32)
    found, near, far, queue = (np.empty(max(1, len(place)), dtype=np.int32) for _ in range(4))
    return place, found, near, far, queue


_SCRATCH = KeptScratch(_make_scratch)


def _ends(sizes: Int64s) -> Int64s:
    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ends[1:])
    return ends
