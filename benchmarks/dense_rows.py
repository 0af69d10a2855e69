"""Hard negatives the straightforward way: whole rows of scores for every positive, all nodes ranked.

This is the published procedure as it is described, without a thought on cost, for comparison: a dense row of
resource allocation and one of PageRank for each end of each positive, ranked over all nodes. Equal scores get
the worst of their places less the size of the top group - 1, a node without a score ranks next after the
last, one that may not be chosen after that; the smaller of the two ranks counts, and equals go by node id.
PageRank is pushed from a stack that is searched from end to end before a node is put on it.

There are two ways of ranking, which give the same ranks. :func:`rank_whole_row` hands the dense row to
scipy's ``rankdata``, as one writes it down first. :func:`rank_scored` sorts only the nodes that have a score,
as one does after looking at where the time goes.

Both are charged for less than the published pipeline does: that computes resource allocation and PageRank of
every node of the graph, here only the ends of positives are asked for.

Li et al.: Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New Benchmarking,
NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import rankdata

from trueedge.graph import Graph

Row = NDArray[np.float64]
# Ranks a row of scores, given who may not be chosen.
Ranker = Callable[[Row, NDArray[np.int64]], NDArray[np.int64]]


def hard_negatives(
    graph: Graph, positives: NDArray[np.int64], k: int, pagerank: Callable[[int], Row], rank: Ranker
) -> NDArray[np.int32]:
    """The negatives of each positive, hardest first, half of them around each end: int32 (P, k, 2).

    Args:
        graph: the training graph.
        positives: int64 array (P, 2).
        k: how many a positive gets.
        pagerank: gives the dense row of estimates of a node.
        rank: :func:`rank_whole_row` or :func:`rank_scored`.
    """
    adjacency = graph.adjacency()
    shared = (adjacency * (1.0 / np.maximum(graph.degrees, 1))[:, None]).tocsr()
    half = k // 2
    negatives = np.empty((len(positives), k, 2), dtype=np.int32)
    for p, ends in enumerate(positives):
        for side in (0, 1):
            end, other = int(ends[side]), int(ends[1 - side])
            rows = [resource_allocation(adjacency, shared, end), pagerank(end).copy()]
            barred = np.append(graph.neighbors(end), [end, other])
            chosen = highest(rows, barred, half, rank)
            negatives[p, side * half : (side + 1) * half, side] = end
            negatives[p, side * half : (side + 1) * half, 1 - side] = chosen
    return negatives


def resource_allocation(adjacency: csr_array, shared: csr_array, node: int) -> Row:
    """A dense row of the product of the adjacency and the adjacency whose rows are divided by degree."""
    dense: Row = (adjacency[[node]] @ shared).toarray()[0]
    return dense


def highest(rows: list[Row], barred: NDArray[np.int64], count: int, rank: Ranker) -> NDArray[np.int64]:
    """The nodes of the smallest combined rank; refuses to invent some where too few are scored."""
    for row in rows:
        round_off(row)
        row[barred] = 0.0
    combined = np.min([rank(row, barred) for row in rows], axis=0)
    scored = np.any([row > 0 for row in rows], axis=0)
    assert np.count_nonzero(scored) >= count, "fewer are scored than wanted"
    return np.argsort(combined, kind="stable")[:count]


def round_off(row: Row) -> None:
    """Keep 41 binary digits of each score, as ours does: what differs by less is a rounding error."""
    bits = row.view(np.int64)
    bits[:] = ((bits + 2048) >> 12) << 12


def rank_whole_row(row: Row, barred: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of every node in a row of scores, int64 (n,), by ranking the whole row at once."""
    masked = row.copy()
    masked[barred] = -1.0
    # Among equals the worst place: how many are at least as high.
    places = rankdata(-masked, method="max").astype(np.int64)
    scored = masked > 0
    places -= places.min() - 1
    last = places[scored].max() if scored.any() else 0
    ranks = np.where(scored, places, last + 1)
    ranks[barred] = last + 2
    return ranks


def rank_scored(row: Row, barred: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same ranks, by sorting only the nodes that have a score."""
    scored = np.flatnonzero(row > 0)
    ranks = np.empty(len(row), dtype=np.int64)
    if len(scored) == 0:
        ranks[:] = 1
    else:
        ascending = np.sort(row[scored])
        top = len(ascending) - np.searchsorted(ascending, ascending[-1], side="left")
        places = len(ascending) - np.searchsorted(ascending, row[scored], side="left") - (top - 1)
        ranks[:] = places.max() + 1
        ranks[scored] = places
    ranks[barred] = ranks.max() + 1
    return ranks


def stack_pagerank(graph: Graph, alpha: float, eps: float) -> Callable[[int], Row]:
    """A function that gives a node's dense row, pushed anew each time."""

    def row(node: int) -> Row:
        pushed: Row = _push_from_stack(graph.indptr, graph.indices, node, alpha, eps)
        return pushed

    return row


@njit(cache=True)
def _push_from_stack(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], source: int, alpha: float, eps: float
) -> Row:
    nodes = len(indptr) - 1
    estimate, residual = np.zeros(nodes), np.zeros(nodes)
    stack = np.empty(nodes, dtype=np.int32)
    stack[0] = source
    height = 1
    residual[source] = alpha
    while height > 0:
        height -= 1
        node = stack[height]
        mass = residual[node]
        residual[node] = 0.0
        estimate[node] += mass
        degree = indptr[node + 1] - indptr[node]
        for w in indices[indptr[node] : indptr[node + 1]]:
            residual[w] += (1 - alpha) * mass / degree
            if residual[w] >= alpha * eps * (indptr[w + 1] - indptr[w]) and not _holds(stack, height, w):
                stack[height] = w
                height += 1
    return estimate


@njit(cache=True)
def _holds(stack: NDArray[np.int32], height: int, node: int) -> bool:
    # numba has no any() of a generator.
    for i in range(height):  # noqa: SIM110
        if stack[i] == node:
            return True
    return False
