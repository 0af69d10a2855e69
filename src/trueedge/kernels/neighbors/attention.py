"""Attention over the arcs of a graph: softmax weights and weighted sums, with their gradients.

The vectors that arcs carry are read where they are and never copied. A row is computed by one thread in a
fixed order, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s, UInt8s
from trueedge.kernels.arrays.threads import run_blocks, thread_count

Floats = NDArray[np.floating[Any]]
# Blocks of rows for each thread: rows differ in length by orders of magnitude.
BLOCKS = 16
LEAST_ARCS = 4096


class ArcArrays(NamedTuple):
    """Arcs sorted by target, with their order by source.

    Attributes:
        source: int32 (a,).
        target: int32 (a,).
        kind: int32 (a,), the type of each arc.
        indptr: int64 (n + 1,), where the arcs of each target begin.
        out_indptr: int64 (n + 1,), where the arcs of each source begin in ``order``.
        order: int32 (a,), the numbers of the arcs, by source.
    """

    source: Int32s
    target: Int32s
    kind: Int32s
    indptr: Int64s
    out_indptr: Int64s
    order: Int32s


class Logits(NamedTuple):
    """What the attention of an arc is computed from: LeakyReLU(source + target + kind).

    Attributes:
        source: float (n, heads).
        target: float (n, heads).
        kind: float (kinds, heads).
        slope: of LeakyReLU for negative numbers.
    """

    source: Floats
    target: Floats
    kind: Floats
    slope: float


class Mixing(NamedTuple):
    """How the softmax s of an arc becomes its weight: ``share * kept * s + previous``.

    Attributes:
        share: float, what a kept value is multiplied by.
        kept: uint8 (a, heads), 0 where dropout removes a value; (0, heads) without dropout.
        previous: float (a, heads), what is added; (0, heads) for nothing.
        previous_share: float, what ``previous`` is multiplied by.
    """

    share: float
    kept: UInt8s
    previous: Floats
    previous_share: float


def attention_weights(arcs: ArcArrays, logits: Logits, mixing: Mixing) -> tuple[Floats, Floats]:
    """Return the softmax over the arcs of each target, and the weights, each float (a, heads)."""
    softmax = np.empty((len(arcs.source), logits.source.shape[1]), logits.source.dtype)
    weights = np.empty_like(softmax)
    _run(arcs, lambda *rows: _weights(arcs, logits, mixing, softmax, weights, *rows))
    return softmax, weights


def weighted_sums(arcs: ArcArrays, weights: Floats, values: Floats) -> Floats:
    """Return the weighted sum of the values of each target's sources, float (n, heads * dim).

    Args:
        weights: float (a, heads).
        values: float (n, heads * dim).
    """
    total = np.empty_like(values)
    _run(arcs, lambda *rows: _sums(arcs, weights, values, total, *rows))
    return total


def sum_gradients(arcs: ArcArrays, weights: Floats, values: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """Return the gradients with respect to values and weights; the second is 0 where a weight is 0.

    Args:
        slopes: with respect to the sums, float (n, heads * dim).
    """
    by_values, by_weights = np.empty_like(values), np.zeros_like(weights)
    _run(arcs, lambda *rows: _sum_slopes(arcs, weights, values, slopes, by_values, by_weights, *rows))
    return by_values, by_weights


def weight_gradients(
    arcs: ArcArrays, logits: Logits, mixing: Mixing, softmax: Floats, slopes: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the gradients with respect to the logits of sources, targets and kinds.

    Args:
        slopes: with respect to the weights, float (a, heads); overwritten.
    """
    by_source, by_target = np.zeros_like(logits.source), np.zeros_like(logits.target)
    _run(arcs, lambda *rows: _weight_slopes(arcs, logits, mixing, softmax, slopes, by_target, *rows))
    _run(arcs, lambda *rows: _sum_by_source(arcs, slopes, by_source, *rows))
    by_kind = _sum_by_kind(arcs.kind, slopes, np.zeros(logits.kind.shape))
    return by_source, by_target, by_kind.astype(logits.kind.dtype)


def _run(arcs: ArcArrays, work: Callable[[int, int], object]) -> None:
    count = len(arcs.indptr) - 1
    # A block with few arcs costs more than it saves.
    blocks = min(BLOCKS * thread_count(), 1 + len(arcs.source) // LEAST_ARCS)
    size = max(1, -(-count // blocks))
    run_blocks(lambda first, last, _: work(first, last), count, size, lambda: None)


@njit(cache=True, nogil=True)
def _weights(
    arcs: ArcArrays, logits: Logits, mixing: Mixing, softmax: Floats, weights: Floats, first: int, last: int
) -> None:
    heads = softmax.shape[1]
    drops, mixes = len(mixing.kept) > 0, len(mixing.previous) > 0
    # In the type of the arrays, so that nothing is computed in double precision.
    number = softmax.dtype.type
    slope, share, earlier = number(logits.slope), number(mixing.share), number(mixing.previous_share)
    none = number(0)
    top, total = np.empty(heads, softmax.dtype), np.empty(heads, softmax.dtype)
    for row in range(first, last):
        begin, end = arcs.indptr[row], arcs.indptr[row + 1]
        top[:] = -np.inf
        total[:] = 0
        for k in range(begin, end):
            source, kind = arcs.source[k], arcs.kind[k]
            for h in range(heads):
                x = logits.source[source, h] + logits.target[row, h] + logits.kind[kind, h]
                x = x if x > none else slope * x
                softmax[k, h] = x
                top[h] = max(top[h], x)
        for k in range(begin, end):
            for h in range(heads):
                x = np.exp(softmax[k, h] - top[h])
                softmax[k, h] = x
                total[h] += x
        for k in range(begin, end):
            for h in range(heads):
                x = softmax[k, h] / total[h]
                softmax[k, h] = x
                x *= share
                if drops and mixing.kept[k, h] == 0:
                    x = none
                if mixes:
                    x += earlier * mixing.previous[k, h]
                weights[k, h] = x


@njit(cache=True, nogil=True)
def _sums(arcs: ArcArrays, weights: Floats, values: Floats, total: Floats, first: int, last: int) -> None:
    heads = weights.shape[1]
    # An own row, and indices that cannot be negative: otherwise loops are not vectorised.
    added, dim = np.empty_like(values[0]), np.uint64(values.shape[1] // heads)
    for row in range(first, last):
        added[:] = 0
        for k in range(arcs.indptr[row], arcs.indptr[row + 1]):
            sent = values[arcs.source[k]]
            for h in range(heads):
                weight = weights[k, h]
                # Dropout removes about half.
                if weight != 0:
                    start = np.uint64(h) * dim
                    for j in range(dim):
                        added[start + j] += weight * sent[start + j]
        total[row] = added


@njit(cache=True, nogil=True)
def _sum_slopes(
    arcs: ArcArrays,
    weights: Floats,
    values: Floats,
    slopes: Floats,
    by_values: Floats,
    by_weights: Floats,
    first: int,
    last: int,
) -> None:
    """Read the gradient of each arc's target once, for both gradients."""
    heads = weights.shape[1]
    added, dim = np.empty_like(values[0]), np.uint64(values.shape[1] // heads)
    for source in range(first, last):
        added[:] = 0
        for place in range(arcs.out_indptr[source], arcs.out_indptr[source + 1]):
            k = arcs.order[place]
            slope = slopes[arcs.target[k]]
            for h in range(heads):
                weight = weights[k, h]
                if weight != 0:
                    start = np.uint64(h) * dim
                    by_weights[k, h] = _dot(slope, values[source], start, dim)
                    for j in range(dim):
                        added[start + j] += weight * slope[start + j]
        by_values[source] = added


@njit(cache=True, nogil=True)
def _weight_slopes(
    arcs: ArcArrays,
    logits: Logits,
    mixing: Mixing,
    softmax: Floats,
    slopes: Floats,
    by_target: Floats,
    first: int,
    last: int,
) -> None:
    """Replace the gradients of weights by those of the sums of logits."""
    heads = softmax.shape[1]
    drops = len(mixing.kept) > 0
    number = softmax.dtype.type
    negative, share, none = number(logits.slope), number(mixing.share), number(0)
    mean = np.empty(heads, softmax.dtype)
    for row in range(first, last):
        begin, end = arcs.indptr[row], arcs.indptr[row + 1]
        mean[:] = 0
        for k in range(begin, end):
            for h in range(heads):
                x = slopes[k, h] * share
                if drops and mixing.kept[k, h] == 0:
                    x = none
                slopes[k, h] = x
                mean[h] += softmax[k, h] * x
        for k in range(begin, end):
            source, kind = arcs.source[k], arcs.kind[k]
            for h in range(heads):
                x = softmax[k, h] * (slopes[k, h] - mean[h])
                if logits.source[source, h] + logits.target[row, h] + logits.kind[kind, h] <= none:
                    x *= negative
                slopes[k, h] = x
                by_target[row, h] += x


@njit(cache=True, nogil=True)
def _sum_by_source(arcs: ArcArrays, slopes: Floats, by_source: Floats, first: int, last: int) -> None:
    for source in range(first, last):
        for place in range(arcs.out_indptr[source], arcs.out_indptr[source + 1]):
            k = arcs.order[place]
            for h in range(slopes.shape[1]):
                by_source[source, h] += slopes[k, h]


@njit(cache=True, nogil=True)
def _sum_by_kind(kinds: Int32s, slopes: Floats, total: NDArray[np.float64]) -> NDArray[np.float64]:
    # In double precision: a kind has up to all arcs.
    for k in range(len(kinds)):
        for h in range(slopes.shape[1]):
            total[kinds[k], h] += slopes[k, h]
    return total


# A sum in any order can use vector instructions; it is the same one in every run.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(one: Floats, other: Floats, start: int, dim: int) -> np.floating[Any]:
    total = one.dtype.type(0)
    for j in range(dim):
        total += one[start + j] * other[start + j]
    return total
