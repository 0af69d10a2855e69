"""Products along the edges of a graph: dot products of their ends, softmax, and weighted sums.

Edges are grouped by one of their ends, the receiving row. Rows are independent of each other, so the number
of threads changes no bit. A dot product and a weighted sum are each other's gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks, thread_count

# Smaller blocks of rows cost more than they save; with fewer edges than this, threads do.
LEAST_ROWS = 64
LEAST_EDGES = 1 << 14
BLOCKS = 16


def dots(rows: Float32s, others: Float32s, other: Int64s, starts: Int64s) -> Float32s:
    """Return the dot products of both ends of each edge, head by head: float32 (edges, heads).

    Args:
        rows: float32 (rows, heads, size), of the receiving rows.
        others: float32 (n, heads, size), of the other ends.
        other: int64 (edges,), the other end of each edge, a row of ``others``.
        starts: int64 (rows + 1,), where the edges of each receiving row begin and end.
    """
    found = np.empty((len(other), rows.shape[1]), dtype=np.float32)
    _run(lambda first, last: _dots(rows, others, other, starts, first, last, found), starts)
    return found


def sums(weights: Float32s, others: Float32s, other: Int64s, starts: Int64s, order: Int64s) -> Float32s:
    """Return the weighted sum of the other ends of each row's edges: float32 (rows, heads, size).

    Args:
        weights: float32 (edges, heads).
        others: float32 (n, heads, size).
        other: int64 (edges,), the other end of each edge.
        starts: int64 (rows + 1,), where the edges of each receiving row begin and end.
        order: int64 (edges,), the edges grouped by their receiving row; empty if they are in that order.
    """
    found = np.zeros((len(starts) - 1, *others.shape[1:]), dtype=np.float32)
    _run(lambda first, last: _sums(weights, others, other, starts, order, first, last, found), starts)
    return found


def softmax(logits: Float32s, starts: Int64s) -> Float32s:
    """Return the softmax of the logits of each row's edges, head by head: float32 (edges, heads)."""
    found = np.empty_like(logits)
    _run(lambda first, last: _softmax(logits, starts, first, last, found), starts)
    return found


def softmax_gradient(weights: Float32s, slopes: Float32s, starts: Int64s) -> Float32s:
    """Return the gradient with respect to the logits, from that with respect to the weights."""
    found = np.empty_like(weights)
    _run(lambda first, last: _softmax_gradient(weights, slopes, starts, first, last, found), starts)
    return found


def _run(work: Callable[[int, int], None], starts: Int64s) -> None:
    rows = len(starts) - 1
    if starts[-1] < LEAST_EDGES:
        work(0, rows)
        return
    size = max(LEAST_ROWS, -(-rows // (BLOCKS * thread_count())))
    run_blocks(lambda first, last, _: work(first, last), rows, size, lambda: None)


@njit(cache=True, nogil=True)
def _dots(
    rows: Float32s,
    others: Float32s,
    other: Int64s,
    starts: Int64s,
    first: int,
    last: int,
    found: Float32s,
) -> None:
    heads, size = rows.shape[1], rows.shape[2]
    for row in range(first, last):
        for edge in range(starts[row], starts[row + 1]):
            end = other[edge]
            for head in range(heads):
                total = np.float32(0)
                for j in range(size):
                    total += rows[row, head, j] * others[end, head, j]
                found[edge, head] = total


@njit(cache=True, nogil=True)
def _sums(
    weights: Float32s,
    others: Float32s,
    other: Int64s,
    starts: Int64s,
    order: Int64s,
    first: int,
    last: int,
    found: Float32s,
) -> None:
    heads, size = others.shape[1], others.shape[2]
    ordered = len(order) == 0
    for row in range(first, last):
        for place in range(starts[row], starts[row + 1]):
            edge = place if ordered else order[place]
            end = other[edge]
            for head in range(heads):
                weight = weights[edge, head]
                for j in range(size):
                    found[row, head, j] += weight * others[end, head, j]


@njit(cache=True, nogil=True)
def _softmax(logits: Float32s, starts: Int64s, first: int, last: int, found: Float32s) -> None:
    heads = logits.shape[1]
    for row in range(first, last):
        begin, end = starts[row], starts[row + 1]
        for head in range(heads):
            most = np.float32(-np.inf)
            for edge in range(begin, end):
                most = max(most, logits[edge, head])
            total = np.float32(0)
            for edge in range(begin, end):
                found[edge, head] = np.exp(logits[edge, head] - most)
                total += found[edge, head]
            for edge in range(begin, end):
                found[edge, head] /= total


@njit(cache=True, nogil=True)
def _softmax_gradient(
    weights: Float32s, slopes: Float32s, starts: Int64s, first: int, last: int, found: Float32s
) -> None:
    heads = weights.shape[1]
    for row in range(first, last):
        begin, end = starts[row], starts[row + 1]
        for head in range(heads):
            mean = np.float32(0)
            for edge in range(begin, end):
                mean += weights[edge, head] * slopes[edge, head]
            for edge in range(begin, end):
                found[edge, head] = weights[edge, head] * (slopes[edge, head] - mean)
