"""Moves of single nodes between the groups of a block model, and what they do to its description length.

The length is a sum over pairs of groups that have edges, over groups, and over the degrees found in a group,
so a move is priced from the few terms that it touches. The number of groups stays the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s, UInt32s
from trueedge.kernels.neighbors.pair_counts import PairCounts, count_add, count_of

Draws = UInt32s

LN2 = float(np.log(2.0))
# A gain below this is rounding.
SMALLEST_GAIN = 1e-9


class Terms(NamedTuple):
    """What prices are looked up in.

    Attributes:
        log_factorial: float64 array, ``ln x!`` for every count that occurs.
        log_partitions: float64 array (s, s), ``ln q(m, n)``: the partitions of m into at most n parts.
        curve: float64 array (2, c), the two functions of ``n / √m`` that give q(m, n) for a larger m, at
            equal steps of ``ln (n / √m)``.
        curve_start: the first ``ln (n / √m)``.
        curve_step: the step.
        corrected: whether degrees are the model's parameters.
    """

    log_factorial: Float64s
    log_partitions: Float64s
    curve: Float64s
    curve_start: float
    curve_step: float
    corrected: bool


class Groups(NamedTuple):
    """A partition and its counts.

    Attributes:
        of: int64 array (nodes,), the group of each node.
        sizes: int64 array (groups,).
        ends: int64 array (groups,), the sum of degrees in each group.
        edges: the edges between two groups, the smaller one first.
        degrees: the nodes of a group with a degree; empty unless the model is degree-corrected.
    """

    of: Int64s
    sizes: Int64s
    ends: Int64s
    edges: PairCounts
    degrees: PairCounts


@njit(cache=True, nogil=True)
def log_partitions(m: int, n: int, terms: Terms) -> float:
    """Return ``ln q(m, n)``, with q(m, n) the number of partitions of m into at most n parts.

    Exact for a small m; ``C(m - 1, n - 1) / n!`` for very few parts; Szekeres' asymptotic formula otherwise
    (Peixoto, Nonparametric Bayesian Inference of the Microcanonical Stochastic Block Model, 2017).
    """
    n = min(n, m)
    if n <= 1:
        return 0.0
    if m < len(terms.log_partitions):
        return float(terms.log_partitions[m, n])
    factorial = terms.log_factorial
    if n**4 < m:
        return float(factorial[m - 1] - factorial[n - 1] - factorial[m - n] - factorial[n])
    root = np.sqrt(m)
    place = (np.log(n / root) - terms.curve_start) / terms.curve_step
    place = min(max(place, 0.0), terms.curve.shape[1] - 1.000001)
    left = int(place)
    share = place - left
    front = terms.curve[0, left] * (1 - share) + terms.curve[0, left + 1] * share
    growth = terms.curve[1, left] * (1 - share) + terms.curve[1, left + 1] * share
    return float(front - np.log(m) + root * growth)


@njit(cache=True, nogil=True)
def group_term(size: int, ends: int, terms: Terms) -> float:
    """Return what a group adds by its size and its sum of degrees alone."""
    if terms.corrected:
        # ln n_r! of the degrees' prior and -ln n_r! of the partition's cancel.
        return float(terms.log_factorial[ends] + log_partitions(ends, size, terms))
    if size == 0:
        return 0.0
    return float(ends * np.log(size) - terms.log_factorial[size])


@njit(cache=True, nogil=True)
def edges_between(edges: PairCounts, r: int, s: int) -> int:
    """Return the edges between two groups; of one group with itself, those within, each once."""
    return int(count_of(edges, min(r, s), max(r, s)))


@njit(cache=True, nogil=True)
def sweep(
    indptr: Int64s,
    indices: Int32s,
    groups: Groups,
    terms: Terms,
    order: Int64s,
    draws: Draws,
    bearable: Float64s,
) -> tuple[int, float]:
    """Go through all nodes once, and move each to the best of some proposed groups.

    Proposed are groups that share a neighbouring group with the node, or any group, as in Peixoto, Efficient
    Monte Carlo and Greedy Heuristic for the Inference of Stochastic Block Models, 2014. No group is emptied.

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,).
        groups: changed in place.
        order: int64 array (nodes,), the nodes in the order they are asked.
        draws: uint32 array (nodes, proposals, 3) of random numbers.
        bearable: float64 array (nodes,), by how much each node's move may lengthen the description: zeros to
            descend, exponential numbers for Metropolis' rule.

    Returns:
        how many nodes moved, and by how much the description length fell, in nats.
    """
    starts, reached = _arcs_by_group(indptr, indices, groups)
    ties = np.zeros(len(groups.sizes), dtype=np.int64)
    touched = np.empty(min(len(groups.sizes), len(indices)) + 1, dtype=np.int64)
    moved, gain = 0, 0.0
    for node in order:
        home = groups.of[node]
        if groups.sizes[home] == 1:
            continue
        count = 0
        for w in indices[indptr[node] : indptr[node + 1]]:
            group = groups.of[w]
            if ties[group] == 0:
                touched[count] = group
                count += 1
            ties[group] += 1
        best, cheapest, left_before = -1, bearable[node] - SMALLEST_GAIN, home
        leaving = _leaving_price(groups, terms, node, indptr, ties, touched[:count])
        for p in range(draws.shape[1]):
            other = _propose(indptr, indices, groups, starts, reached, node, draws[node, p])
            if other != home and other != left_before:
                left_before = other
                price = _moving_price(groups, terms, node, other, indptr, ties, touched[:count]) + leaving
                if price < cheapest:
                    best, cheapest = other, price
        if best >= 0:
            _move(groups, terms, node, best, indptr, ties, touched[:count])
            moved += 1
            gain -= cheapest
        for t in touched[:count]:
            ties[t] = 0
    return moved, gain


@njit(cache=True, nogil=True)
def _arcs_by_group(indptr: Int64s, indices: Int32s, groups: Groups) -> tuple[Int64s, Int32s]:
    """Return the far ends of the arcs that leave each group: row starts and nodes."""
    starts = np.zeros(len(groups.sizes) + 1, dtype=np.int64)
    starts[1:] = np.cumsum(groups.ends)
    cursor = starts[:-1].copy()
    reached = np.empty(len(indices), dtype=np.int32)
    for node in range(len(groups.of)):
        group = groups.of[node]
        for w in indices[indptr[node] : indptr[node + 1]]:
            reached[cursor[group]] = w
            cursor[group] += 1
    return starts, reached


@njit(cache=True, nogil=True, inline="always")
def scaled(draw: np.uint32, bound: int) -> int:
    """Return a number on ``0..bound-1`` from 32 random bits."""
    return int((np.int64(draw) * np.int64(bound)) >> 32)


@njit(cache=True, nogil=True)
def _propose(
    indptr: Int64s, indices: Int32s, groups: Groups, starts: Int64s, reached: Int32s, node: int, draws: Draws
) -> int:
    many = len(groups.sizes)
    degree = indptr[node + 1] - indptr[node]
    if degree > 0:
        between = groups.of[indices[indptr[node] + scaled(draws[0], degree)]]
        arcs = starts[between + 1] - starts[between]
        place = scaled(draws[1], arcs + many)
        if place < arcs:
            return int(groups.of[reached[starts[between] + place]])
    return int(scaled(draws[2], many))


@njit(cache=True, nogil=True)
def _leaving_price(
    groups: Groups, terms: Terms, node: int, indptr: Int64s, ties: Int64s, touched: Int64s
) -> float:
    """Return the part of a move's price that does not depend on where the node goes."""
    home, degree, factorial = groups.of[node], indptr[node + 1] - indptr[node], terms.log_factorial
    size, ends = groups.sizes[home], groups.ends[home]
    price = group_term(size - 1, ends - degree, terms) - group_term(size, ends, terms)
    if terms.corrected:
        price += np.log(count_of(groups.degrees, home, degree))
    within = edges_between(groups.edges, home, home)
    price += factorial[within] - factorial[within - ties[home]] + ties[home] * LN2
    for t in touched:
        if t != home:
            edges = edges_between(groups.edges, home, t)
            price += factorial[edges] - factorial[edges - ties[t]]
    return float(price)


@njit(cache=True, nogil=True)
def _moving_price(
    groups: Groups, terms: Terms, node: int, other: int, indptr: Int64s, ties: Int64s, touched: Int64s
) -> float:
    """Return the part that does."""
    home, degree, factorial = groups.of[node], indptr[node + 1] - indptr[node], terms.log_factorial
    size, ends = groups.sizes[other], groups.ends[other]
    price = group_term(size + 1, ends + degree, terms) - group_term(size, ends, terms)
    if terms.corrected:
        price -= np.log(count_of(groups.degrees, other, degree) + 1)
    within = edges_between(groups.edges, other, other)
    price += factorial[within] - factorial[within + ties[other]] - ties[other] * LN2
    for t in touched:
        if t != home and t != other:
            edges = edges_between(groups.edges, other, t)
            price += factorial[edges] - factorial[edges + ties[t]]
    between = edges_between(groups.edges, home, other)
    # Leaving was priced as if the ties to the other group were lost: they become edges within it.
    price += factorial[between - ties[other]] - factorial[between - ties[other] + ties[home]]
    return float(price)


@njit(cache=True, nogil=True)
def _move(
    groups: Groups, terms: Terms, node: int, other: int, indptr: Int64s, ties: Int64s, touched: Int64s
) -> None:
    home, degree = groups.of[node], indptr[node + 1] - indptr[node]
    for t in touched:
        count_add(groups.edges, min(home, t), max(home, t), -ties[t])
        count_add(groups.edges, min(other, t), max(other, t), ties[t])
    groups.sizes[home] -= 1
    groups.sizes[other] += 1
    groups.ends[home] -= degree
    groups.ends[other] += degree
    if terms.corrected:
        count_add(groups.degrees, home, degree, -1)
        count_add(groups.degrees, other, degree, 1)
    groups.of[node] = other
