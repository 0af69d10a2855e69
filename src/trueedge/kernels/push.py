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
from numpy.typing import NDArray

from trueedge.kernels.threads import run_blocks

SOURCES_PER_BLOCK = 64


class PushState(NamedTuple):
    """What a push leaves for the next one in the same thread: the residuals are zero in between.

    Attributes:
        residual: float64 array (n, 2), a node's residual beside the threshold at which it is pushed (side by
            side because the inner loop reads both, and they come in one cache line).
        queue: int32 array, a ring whose size is a power of two above 2n: this round's nodes and the next's.
        mass: float64 array (n,), what the nodes of a round had when it began.
    """

    residual: NDArray[np.float64]
    queue: NDArray[np.int32]
    mass: NDArray[np.float64]


class SparseRows(NamedTuple):
    """Rows of scores; those of row i are at ``starts[i]:starts[i + 1]``, nodes ascending.

    Attributes:
        starts: int64 array (rows + 1,).
        nodes: int32 array (entries,).
        scores: float64 array (entries,).
    """

    starts: NDArray[np.int64]
    nodes: NDArray[np.int32]
    scores: NDArray[np.float64]


def push_state(indptr: NDArray[np.int64], alpha: float, eps: float) -> PushState:
    """The scratch of one thread for pushes at one alpha and eps.

    Args:
        indptr: int64 array (n + 1,), the row starts of the adjacency.
        alpha: the probability of going back to the source, between 0 and 1.
        eps: the threshold: a node is pushed at a residual of alpha * eps * degree.
    """
    nodes = len(indptr) - 1
    residual = np.zeros((nodes, 2))
    residual[:, 1] = (alpha * eps) * np.diff(indptr)
    return PushState(
        residual, np.zeros(1 << (2 * nodes).bit_length(), dtype=np.int32), np.zeros(max(nodes, 1))
    )


def push_rows(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sources: NDArray[np.int64],
    alpha: float,
    eps: float,
) -> SparseRows:
    """The PageRank estimates of many sources, a sparse row each.

    Args:
        indptr: int64 array (n + 1,), the row starts of the adjacency.
        indices: int32 array (arcs,), ascending within a row.
        sources: int64 array (rows,).
        alpha: the probability of going back to the source.
        eps: the error bound a unit of degree.
    """
    nodes = len(indptr) - 1

    def make_scratch() -> tuple[PushState, NDArray[np.float64], NDArray[np.int32]]:
        return push_state(indptr, alpha, eps), np.zeros(nodes), np.empty(nodes, dtype=np.int32)

    def work(first: int, last: int, scratch: Any) -> tuple[Any, Any, Any]:
        counts, rows, scores = _rows_block(indptr, indices, sources[first:last], alpha, *scratch)
        return counts, rows, scores

    blocks = run_blocks(work, len(sources), SOURCES_PER_BLOCK, make_scratch)
    starts = np.zeros(len(sources) + 1, dtype=np.int64)
    if not blocks:
        return SparseRows(starts, np.empty(0, dtype=np.int32), np.empty(0))
    np.cumsum(np.concatenate([block[0] for block in blocks]), out=starts[1:])
    return SparseRows(
        starts, np.concatenate([block[1] for block in blocks]), np.concatenate([block[2] for block in blocks])
    )


def push_values(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sources: NDArray[np.int64],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    alpha: float,
    eps: float,
) -> NDArray[np.float64]:
    """The PageRank estimates of many sources at a few targets each; no row is ever stored.

    Args:
        indptr: int64 array (n + 1,), the row starts of the adjacency.
        indices: int32 array (arcs,), ascending within a row.
        sources: int64 array (s,).
        starts: int64 array (s + 1,): source i is asked at ``targets[starts[i]:starts[i + 1]]``.
        targets: int64 array (t,).
        alpha: the probability of going back to the source.
        eps: the error bound a unit of degree.

    Returns:
        float64 array (t,), in the order of the targets.
    """
    nodes = len(indptr) - 1
    values = np.empty(len(targets))

    def make_scratch() -> tuple[PushState, NDArray[np.float64], NDArray[np.int32]]:
        return push_state(indptr, alpha, eps), np.zeros(nodes), np.empty(nodes, dtype=np.int32)

    def work(first: int, last: int, scratch: Any) -> None:
        _values_block(indptr, indices, sources, starts, targets, first, last, alpha, *scratch, values)

    run_blocks(work, len(sources), SOURCES_PER_BLOCK, make_scratch)
    return values


@njit(cache=True, nogil=True)
def push(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    source: int,
    alpha: float,
    state: PushState,
    estimate: NDArray[np.float64],
    support: NDArray[np.int32],
) -> int:
    """Push from one source until no residual is at its threshold; the number of nodes with an estimate.

    Args:
        indptr: int64 array (n + 1,).
        indices: int32 array (arcs,), ascending within a row.
        source: the node the walk goes back to.
        alpha: the probability of going back.
        state: from :func:`push_state`, with the same alpha; given back as it came.
        estimate: float64 array (n,), all zero; filled with p, which the caller clears on the support.
        support: int32 array (n,), filled with the nodes where p is above zero, as they are first pushed.
    """
    residual, queue, masses = state.residual, state.queue, state.mass
    ring = len(queue) - 1
    head, tail, count = 0, 1, 0
    queue[0] = source
    residual[source, 0] = alpha
    while head != tail:
        size = tail - head
        for i in range(size):
            node = queue[(head + i) & ring]
            masses[i] = residual[node, 0]
            residual[node, 0] = 0.0
        for i in range(size):
            node, mass = queue[(head + i) & ring], masses[i]
            if estimate[node] == 0.0:
                support[count] = node
                count += 1
            estimate[node] += mass
            degree = indptr[node + 1] - indptr[node]
            if degree == 0:
                continue
            share = (1 - alpha) * mass / degree
            for neighbor in indices[indptr[node] : indptr[node + 1]]:
                w = np.uint32(neighbor)
                before = residual[w, 0]
                after = before + share
                residual[w, 0] = after
                threshold = residual[w, 1]
                # A node waits for the next round exactly while its residual is at the threshold, so crossing
                # it is what queues the node: no flag is kept. Writing first spares an unforeseeable branch.
                queue[tail & ring] = neighbor
                tail += (before < threshold) & (after >= threshold)
        head += size
    for i in range(count):
        node = support[i]
        for neighbor in indices[indptr[node] : indptr[node + 1]]:
            residual[neighbor, 0] = 0.0
    return count


@njit(cache=True, nogil=True)
def _values_block(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sources: NDArray[np.int64],
    starts: NDArray[np.int64],
    targets: NDArray[np.int64],
    first: int,
    last: int,
    alpha: float,
    state: PushState,
    estimate: NDArray[np.float64],
    support: NDArray[np.int32],
    values: NDArray[np.float64],
) -> None:
    for i in range(first, last):
        count = push(indptr, indices, sources[i], alpha, state, estimate, support)
        for j in range(starts[i], starts[i + 1]):
            values[j] = estimate[targets[j]]
        for j in range(count):
            estimate[support[j]] = 0.0


@njit(cache=True, nogil=True)
def _rows_block(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sources: NDArray[np.int64],
    alpha: float,
    state: PushState,
    estimate: NDArray[np.float64],
    support: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    counts = np.empty(len(sources), dtype=np.int64)
    nodes = np.empty(1024, dtype=np.int32)
    scores = np.empty(1024)
    filled = 0
    for i in range(len(sources)):
        count = push(indptr, indices, sources[i], alpha, state, estimate, support)
        counts[i] = count
        support[:count].sort()
        if filled + count > len(nodes):
            nodes = np.concatenate((nodes[:filled], np.empty(filled + 2 * count, dtype=np.int32)))
            scores = np.concatenate((scores[:filled], np.empty(filled + 2 * count)))
        for node in support[:count]:
            nodes[filled] = node
            scores[filled] = estimate[node]
            estimate[node] = 0.0
            filled += 1
    return counts, nodes[:filled].copy(), scores[:filled].copy()
