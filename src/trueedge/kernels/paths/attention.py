"""Messages that attention weighs, computed and summed without being stored.

A group is a query or a pair of entities. Groups share no rows, so threads share nothing; what they share, the
tables of relations, gets its gradient group by group, and the sum is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks

Floats = NDArray[np.floating[Any]]


class Attended(NamedTuple):
    """Messages of one round and what weighs them.

    The message of an edge is ``sum_b shares[kind, b] * values[source, b] + offsets[kind]``. Its weight is the
    sigmoid of ``bias + weight * relu(of_source[source] + of_target[target] + of_kind[kind] + of_group)``.

    Attributes:
        values: float (rows, bases, dim).
        shares: float (kinds, bases).
        offsets: float (kinds, dim); (0, dim): without.
        of_source: float (rows, a).
        of_target: float (rows, a); (0, a): without.
        of_kind: float (kinds, a).
        of_group: float (groups, a).
        weight: float (a,).
        bias: float (1,).
        source, kind, target: int32 (k,), of each edge: sending row, relation, receiving row.
        ends: int64 (groups + 1,), where the edges of each group begin and end.
    """

    values: Floats
    shares: Floats
    offsets: Floats
    of_source: Floats
    of_target: Floats
    of_kind: Floats
    of_group: Floats
    weight: Floats
    bias: Floats
    source: Int32s
    kind: Int32s
    target: Int32s
    ends: Int64s


def attended_sum(given: Attended) -> Floats:
    """Return the weighed sum of the messages that each row receives, float (rows, dim)."""
    rows, _, dim = given.values.shape
    total = np.zeros((rows, dim), dtype=given.values.dtype)
    _run(given, lambda group: _sum(given, group, total))
    return total


def attended_gradients(given: Attended, slope: Floats) -> tuple[Floats, ...]:
    """Return the gradients with respect to the nine tables of floats, in their order.

    Args:
        slope: float (rows, dim), with respect to the sum.
    """
    groups = len(given.ends) - 1

    def each(table: Floats) -> Floats:
        """Return zeros for a table that groups share."""
        return np.zeros((groups, *table.shape), dtype=table.dtype)

    by_value, by_source, by_target, by_group = (
        np.zeros_like(table) for table in (given.values, given.of_source, given.of_target, given.of_group)
    )
    by_share, by_offset, by_kind, by_weight, by_bias = (
        each(table) for table in (given.shares, given.offsets, given.of_kind, given.weight, given.bias)
    )
    found = (by_value, by_share, by_offset, by_source, by_target, by_kind, by_group, by_weight, by_bias)
    _run(given, lambda group: _slopes(given, group, slope, *found))
    whole = (by_share, by_offset, by_kind, by_weight, by_bias)
    return tuple(table.sum(axis=0) if any(table is one for one in whole) else table for table in found)


def _run(given: Attended, work: Callable[[int], object]) -> None:
    def block(first: int, last: int, _: None) -> None:
        for group in range(first, last):
            work(group)

    run_blocks(block, len(given.ends) - 1, 1, lambda: None)


@njit(cache=True, nogil=True)
def _sum(given: Attended, group: int, total: Floats) -> None:
    # Each array by itself: reading one from the tuple would count references to all of them.
    values, shares, offsets, of_source, of_target, of_kind, of_group, weight, bias = given[:9]
    sources, kinds, targets, ends = given[9:]
    bases, dim = values.shape[1:]
    for edge in range(ends[group], ends[group + 1]):
        source, kind, target = sources[edge], kinds[edge], targets[edge]
        share = _weight(of_source, of_target, of_kind, of_group, weight, bias, source, target, kind, group)
        for b in range(bases):
            factor = share * shares[kind, b]
            for j in range(dim):
                total[target, j] += factor * values[source, b, j]
        if len(offsets):
            for j in range(dim):
                total[target, j] += share * offsets[kind, j]


@njit(cache=True, nogil=True)
def _slopes(
    given: Attended,
    group: int,
    slope: Floats,
    by_value: Floats,
    by_share: Floats,
    by_offset: Floats,
    by_source: Floats,
    by_target: Floats,
    by_kind: Floats,
    by_group: Floats,
    by_weight: Floats,
    by_bias: Floats,
) -> None:
    values, shares, offsets, of_source, of_target, of_kind, of_group, weight, bias = given[:9]
    sources, kinds, targets, ends = given[9:]
    bases, dim = values.shape[1:]
    for edge in range(ends[group], ends[group + 1]):
        source, kind, target = sources[edge], kinds[edge], targets[edge]
        share = _weight(of_source, of_target, of_kind, of_group, weight, bias, source, target, kind, group)
        of_share = share - share
        for b in range(bases):
            part = _dot(slope, target, values[:, b], source)
            by_share[group, kind, b] += share * part
            of_share += shares[kind, b] * part
            factor = share * shares[kind, b]
            for j in range(dim):
                by_value[source, b, j] += factor * slope[target, j]
        if len(offsets):
            of_share += _dot(slope, target, offsets, kind)
            for j in range(dim):
                by_offset[group, kind, j] += share * slope[target, j]
        inner = of_share * (share - share * share)
        by_bias[group, 0] += inner
        for j in range(len(weight)):
            hidden = of_source[source, j] + of_kind[kind, j] + of_group[group, j]
            if len(of_target):
                hidden += of_target[target, j]
            if hidden > 0:
                by_weight[group, j] += inner * hidden
                step = inner * weight[j]
                by_source[source, j] += step
                by_kind[group, kind, j] += step
                by_group[group, j] += step
                if len(of_target):
                    by_target[target, j] += step


@njit(cache=True, nogil=True)
def _weight(
    of_source: Floats,
    of_target: Floats,
    of_kind: Floats,
    of_group: Floats,
    weight: Floats,
    bias: Floats,
    source: int,
    target: int,
    kind: int,
    group: int,
) -> np.floating[Any]:
    logit = bias[0]
    for j in range(len(weight)):
        hidden = of_source[source, j] + of_kind[kind, j] + of_group[group, j]
        if len(of_target):
            hidden += of_target[target, j]
        if hidden > 0:
            logit += weight[j] * hidden
    one = bias.dtype.type(1)
    share: np.floating[Any] = one / (one + np.exp(-logit))
    return share


# A sum in any order can use vector instructions; it is the same one in every run.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(one: Floats, row: int, other: Floats, other_row: int) -> np.floating[Any]:
    total = one.dtype.type(0)
    for j in range(one.shape[1]):
        total += one[row, j] * other[other_row, j]
    return total
