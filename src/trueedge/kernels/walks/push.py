"""Personalised PageRank from one node at a time, by pushing residuals to neighbours.

For a source s with teleport probability alpha, the residual starts as alpha at s. Pushing a node v adds its
residual to its estimate and hands (1 - alpha) times it to its neighbours in equal parts. A node is pushed
while its residual is at least alpha * eps * degree. The estimate p is never above the exact PageRank, and
falls short of it by at most eps * degree at each node.

Nodes are pushed in rounds: all that are at their threshold when a round begins, each with the residual it has
then. So the estimate does not depend on how nodes are numbered, and nodes that the graph does not tell apart
get the same estimate (but for the last bits of a sum); with one node after the other they would not.

Andersen, Chung, Lang: Local Graph Partitioning using PageRank Vectors, FOCS 2006.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numba.extending import overload

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.kept_scratch import KeptScratch
from trueedge.kernels.arrays.prefetch import prefetch
from trueedge.kernels.arrays.radix import digit_counts, sort_ids
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.small_push import SmallState, push_small, small_state

Block = tuple[Int64s, Int32s, Float64s]

MOST_SOURCES_PER_BLOCK = 64
BLOCKS_OF_A_SHORT_TASK = 16
DEGREE, STAMP = 2, 3
LAST_STAMP = np.int32(0x7FFFFFFF)
# How many rows before its turn one is asked for from memory.
ROWS_AHEAD = 6
# Up to this size, what a push reads and writes of the nodes is in a core's cache.
MOST_NODES_IN_CACHE = 1 << 15


class SparseRows(NamedTuple):
    """Rows of scores; those of row i are at ``starts[i]:starts[i + 1]``, nodes ascending.

    Attributes:
        starts: int64 array (rows + 1,).
        nodes: int32 array (entries,).
        scores: float64 array (entries,).
    """

    starts: Int64s
    nodes: Int32s
    scores: Float64s


class PushState(NamedTuple):
    """What pushes in the same thread share; none leaves a trace that the next would see.

    Attributes:
        residual: float64 array (n, 2); the first column is a node's residual, if this push has been there.
        tags: int32 array (n, 4), the same memory: column DEGREE is a node's degree, column STAMP the number
            of the push that wrote its residual. So nothing has to be cleared, and what the inner loop reads
            of a node comes in one cache line.
        stamp: int32 array (1,), the number of the last push.
        unit: the threshold of a node of degree 1.
        queue: int32 array, a ring whose size is a power of two above 2n: this round's nodes and the next's.
        starts: int64 array (n,), where the neighbours of each node of a round start.
        ends: int64 array (n,), where they end.
        shares: float64 array (n,), what each of them gets.
    """

    residual: Float64s
    tags: Int32s
    stamp: Int32s
    unit: float
    queue: Int32s
    starts: Int64s
    ends: Int64s
    shares: Float64s


class Scratch(NamedTuple):
    """What one thread needs to push from one source after the other.

    Attributes:
        state: of the push.
        estimate: float64 array (n,), zeros between two pushes.
        support: int32 array (n + 1,), the nodes with an estimate.
        room: int32 array (n + 1,), to sort them in.
        digits: int32 array, to sort them by.
    """

    state: PushState | SmallState
    estimate: Float64s
    support: Int32s
    room: Int32s
    digits: Int32s


def push_state(indptr: Int64s, alpha: float, eps: float) -> PushState | SmallState:
    """Return the scratch of one thread for pushes at one alpha and eps.

    Args:
        indptr: int64 array (n + 1,), the row starts of the adjacency.
        alpha: the teleport probability, between 0 and 1.
        eps: the threshold: a node is pushed at a residual of alpha * eps * degree.
    """
    degrees = np.diff(indptr)
    nodes = len(degrees)
    if nodes <= MOST_NODES_IN_CACHE:
        return small_state(indptr, alpha, eps)
    residual = np.zeros((nodes, 2))
    tags = residual.view(np.int32)
    tags[:, DEGREE] = degrees
    return PushState(
        residual,
        tags,
        np.zeros(1, dtype=np.int32),
        alpha * eps,
        np.empty(1 << (2 * nodes).bit_length(), dtype=np.int32),
        np.empty(max(nodes, 1), dtype=np.int64),
        np.empty(max(nodes, 1), dtype=np.int64),
        np.empty(max(nodes, 1)),
    )


def push_rows(indptr: Int64s, indices: Int32s, sources: Int64s, alpha: float, eps: float) -> SparseRows:
    """Return the PageRank estimates of many sources, a sparse row each.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,), ascending within a row.
        sources: int64 array (rows,).
        alpha: the teleport probability.
        eps: the error bound per unit of degree.
    """

    def work(first: int, last: int, scratch: Scratch) -> Block:
        rows: Block = _rows_block(indptr, indices, sources[first:last], alpha, scratch)
        return rows

    blocks = run_blocks(work, len(sources), block_size(len(sources)), kept_scratch.of(indptr, alpha, eps))
    return stack_rows(blocks)


def stack_rows(blocks: list[Block]) -> SparseRows:
    """Put the rows of blocks below each other.

    Args:
        blocks: of each, how many entries each row has, and the nodes and scores of all its rows.
    """
    empty = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
    counts, nodes, scores = (np.concatenate(parts) for parts in zip(empty, *blocks, strict=True))
    return SparseRows(np.concatenate([[0], np.cumsum(counts)]), nodes, scores)


def push_values(
    indptr: Int64s,
    indices: Int32s,
    sources: Int64s,
    starts: Int64s,
    targets: Int64s,
    alpha: float,
    eps: float,
) -> Float64s:
    """Return the PageRank estimates of many sources at a few targets each; no row is ever stored.

    Args:
        indptr, indices, sources, alpha, eps: as in :func:`push_rows`.
        starts: int64 array (s + 1,): source i is asked at ``targets[starts[i]:starts[i + 1]]``.
        targets: int64 array (t,).

    Returns:
        float64 array (t,), in the order of the targets.
    """
    values = np.empty(len(targets))

    def work(first: int, last: int, scratch: Scratch) -> None:
        asked = starts[first : last + 1]
        _values_block(indptr, indices, sources[first:last], asked, targets, alpha, scratch, values)

    run_blocks(work, len(sources), block_size(len(sources)), kept_scratch.of(indptr, alpha, eps))
    return values


def _make_scratch(indptr: Int64s, alpha: float, eps: float) -> Scratch:
    nodes = len(indptr) - 1
    support, room = np.empty(nodes + 1, dtype=np.int32), np.empty(nodes + 1, dtype=np.int32)
    return Scratch(push_state(indptr, alpha, eps), np.zeros(nodes), support, room, digit_counts(nodes))


kept_scratch = KeptScratch(_make_scratch)


def block_size(sources: int) -> int:
    """Return how many sources a thread takes at a time: few enough to keep all cores busy to the end."""
    return max(1, min(MOST_SOURCES_PER_BLOCK, sources // BLOCKS_OF_A_SHORT_TASK))


def push(
    indptr: Int64s,
    indices: Int32s,
    source: int,
    alpha: float,
    state: PushState | SmallState,
    estimate: Float64s,
    support: Int32s,
) -> int:
    """Push from one source until no residual is at its threshold; the number of nodes with an estimate.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,), ascending within a row.
        source: the node the walk starts from.
        alpha: the teleport probability.
        state: from :func:`push_state`, with the same alpha; given back as it came.
        estimate: float64 array (n,), all zero; filled with p, which the caller clears on the support.
        support: int32 array (n + 1,), filled with the nodes where p is above zero, as they are first pushed.
    """
    chosen = push_small if isinstance(state, SmallState) else push_large
    reached: int = chosen(indptr, indices, source, alpha, state, estimate, support)
    return reached


@overload(push, inline="always")
def _push(indptr, indices, source, alpha, state, estimate, support):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Choose while compiling, so that the one that is not needed is not compiled."""
    if state.instance_class is SmallState:
        return lambda indptr, indices, source, alpha, state, estimate, support: push_small(
            indptr, indices, source, alpha, state, estimate, support
        )
    return lambda indptr, indices, source, alpha, state, estimate, support: push_large(
        indptr, indices, source, alpha, state, estimate, support
    )


@njit(cache=True, nogil=True)
def push_large(
    indptr: Int64s,
    indices: Int32s,
    source: int,
    alpha: float,
    state: PushState,
    estimate: Float64s,
    support: Int32s,
) -> int:
    """:func:`push` on a graph that does not fit into a core's cache."""
    residual, tags, unit, queue = state.residual, state.tags, state.unit, state.queue
    starts, ends, stamp = state.starts, state.ends, _next_stamp(state)
    ring = len(queue) - 1
    head, tail, count = np.int64(0), np.int64(1), np.int64(0)
    queue[0] = source
    residual[source, 0] = alpha
    tags[source, STAMP] = stamp
    while head != tail:
        size = tail - head
        count = _begin_round(indptr, indices, alpha, state, head, size, estimate, support, count)
        for i in range(size):
            if i + ROWS_AHEAD < size:
                _fetch_row(indices, starts[i + ROWS_AHEAD], ends[i + ROWS_AHEAD])
            share = state.shares[i]
            for j in range(np.uint64(starts[i]), np.uint64(ends[i])):
                w = np.uint32(indices[j])
                # Read in any case, so that choosing takes no branch.
                found = residual[w, 0]
                before = found if tags[w, STAMP] == stamp else 0.0
                after = before + share
                residual[w, 0] = after
                tags[w, STAMP] = stamp
                threshold = unit * tags[w, DEGREE]
                # A node waits for the next round exactly while its residual is at the threshold, so crossing
                # it is what queues the node: no flag is kept. Most are below it afterwards, and that is all
                # that is asked of them.
                if after >= threshold:  # noqa: SIM102
                    if before < threshold:
                        queue[tail & ring] = w
                        tail += 1
                        prefetch(indptr, w)
                        prefetch(estimate, w)
        head += size
    return int(count)


@njit(cache=True, nogil=True)
def _next_stamp(state: PushState) -> Any:
    """Return the number of a new push."""
    if state.stamp[0] == LAST_STAMP:
        state.stamp[0] = 0
        state.tags[:, STAMP] = 0
    state.stamp[0] += 1
    return state.stamp[0]


@njit(cache=True, nogil=True)
def _begin_round(
    indptr: Int64s,
    indices: Int32s,
    alpha: float,
    state: PushState,
    head: int,
    size: int,
    estimate: Float64s,
    support: Int32s,
    count: int,
) -> int:
    """Take the residuals of a round's nodes, and note what each hands to whom; the support's new size."""
    residual, queue = state.residual, state.queue
    ring = len(queue) - 1
    for i in range(size):
        node = np.uint32(queue[(head + i) & ring])
        mass = residual[node, 0]
        residual[node, 0] = 0.0
        support[count] = node
        count += estimate[node] == 0.0
        estimate[node] += mass
        start, end = indptr[node], indptr[node + 1]
        state.starts[i], state.ends[i] = start, end
        state.shares[i] = (1 - alpha) * mass / max(end - start, 1)
        if i < ROWS_AHEAD:
            _fetch_row(indices, start, end)
    return count


@njit(cache=True, nogil=True)
def _fetch_row(indices: Int32s, start: int, end: int) -> None:
    """Ask for both ends of a row, which is all of it but for hubs."""
    prefetch(indices, start)
    prefetch(indices, end - 1)


@njit(cache=True, nogil=True)
def _values_block(indptr, indices, sources, starts, targets, alpha, scratch, values):  # type: ignore[no-untyped-def]
    state, estimate, support = scratch.state, scratch.estimate, scratch.support
    for i in range(len(sources)):
        count = push(indptr, indices, sources[i], alpha, state, estimate, support)
        for j in range(starts[i], starts[i + 1]):
            values[j] = estimate[targets[j]]
        for j in range(count):
            estimate[support[j]] = 0.0


@njit(cache=True, nogil=True)
def _rows_block(indptr: Int64s, indices: Int32s, sources: Int64s, alpha: float, scratch: Scratch) -> Block:
    state, estimate, support, room, digits = scratch
    counts = np.empty(len(sources), dtype=np.int64)
    nodes = np.empty(256 * len(sources), dtype=np.int32)
    scores = np.empty(256 * len(sources))
    filled = 0
    for i in range(len(sources)):
        prefetch(indptr, sources[min(i + 1, len(sources) - 1)])
        count = push(indptr, indices, sources[i], alpha, state, estimate, support)
        counts[i] = count
        sort_ids(support[:count], room, digits)
        # Not a function of its own: measured, that costs four percent.
        if filled + count > len(nodes):
            nodes = np.concatenate((nodes[:filled], np.empty(filled + 2 * count, dtype=np.int32)))
            scores = np.concatenate((scores[:filled], np.empty(filled + 2 * count)))
        for node in support[:count]:
            nodes[filled] = node
            scores[filled] = estimate[node]
            estimate[node] = 0.0
            filled += 1
    return counts, nodes[:filled], scores[:filled]
