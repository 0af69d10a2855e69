"""Merges of two groups of a block model, and what they do to its description length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int64s
from trueedge.kernels.blocks.blockmodel import LN2, Draws, Groups, Terms, edges_between, group_term, scaled
from trueedge.kernels.neighbors.pair_counts import count_of


class BlockGraph(NamedTuple):
    """The multigraph among groups, and the degrees within each, as rows.

    Attributes:
        indptr: int64 array (groups + 1,).
        indices: int64 array (entries,), the groups a group has edges with.
        cumulated: int64 array (entries + 1,), the edges before each entry, those within a group twice.
        degree_indptr: int64 array (groups + 1,).
        degree: int64 array (entries,), the degrees that occur in a group.
    """

    indptr: Int64s
    indices: Int64s
    cumulated: Int64s
    degree_indptr: Int64s
    degree: Int64s


@njit(cache=True, nogil=True)
def find_merges(groups: Groups, terms: Terms, graph: BlockGraph, draws: Draws) -> tuple[Int64s, Float64s]:
    """Return the cheapest of some merges for each group.

    Args:
        groups: the partition.
        graph: the multigraph among its groups.
        draws: uint32 array (groups, proposals, 3) of random numbers.

    Returns:
        the partner of each group (-1 where there is no other), and what the merge adds to the description
        length beyond what every merge takes off it, since there is one group less.
    """
    many = len(groups.sizes)
    partner = np.full(many, -1, dtype=np.int64)
    price = np.full(many, np.inf)
    for r in range(many):
        left_before = r
        for p in range(draws.shape[1]):
            if p < draws.shape[1] - 1:
                s = _propose_merge(graph, r, draws[r, p])
            else:
                # Groups that only know themselves get a partner too, or merging would never end.
                s = (r + 1 + scaled(draws[r, p, 2], many - 1)) % many
            if s != r and s != left_before:
                left_before = s
                asked = merge_price(groups, terms, graph, r, s)
                if asked < price[r]:
                    partner[r], price[r] = s, asked
    return partner, price


@njit(cache=True, nogil=True)
def _propose_merge(graph: BlockGraph, r: int, draws: Draws) -> int:
    many = len(graph.indptr) - 1
    first = graph.cumulated[graph.indptr[r]]
    ends = graph.cumulated[graph.indptr[r + 1]] - first
    if ends > 0:
        between = graph.indices[
            np.searchsorted(graph.cumulated, first + scaled(draws[0], ends), side="right") - 1
        ]
        first = graph.cumulated[graph.indptr[between]]
        ends = graph.cumulated[graph.indptr[between + 1]] - first
        place = scaled(draws[1], ends + many)
        if place < ends:
            return int(graph.indices[np.searchsorted(graph.cumulated, first + place, side="right") - 1])
    return int(scaled(draws[2], many))


@njit(cache=True, nogil=True)
def merge_price(groups: Groups, terms: Terms, graph: BlockGraph, r: int, s: int) -> float:
    """Return what a merge adds to the description length, without the terms of the number of groups."""
    if graph.indptr[r + 1] - graph.indptr[r] > graph.indptr[s + 1] - graph.indptr[s]:
        r, s = s, r
    factorial = terms.log_factorial
    price = (
        group_term(groups.sizes[r] + groups.sizes[s], groups.ends[r] + groups.ends[s], terms)
        - group_term(groups.sizes[r], groups.ends[r], terms)
        - group_term(groups.sizes[s], groups.ends[s], terms)
    )
    within_r, within_s = edges_between(groups.edges, r, r), edges_between(groups.edges, s, s)
    between = edges_between(groups.edges, r, s)
    price += factorial[within_r] + factorial[within_s] + factorial[between]
    price -= factorial[within_r + within_s + between] + between * LN2
    for t in graph.indices[graph.indptr[r] : graph.indptr[r + 1]]:
        if t != r and t != s:
            one, two = edges_between(groups.edges, r, t), edges_between(groups.edges, s, t)
            price += factorial[one] + factorial[two] - factorial[one + two]
    if terms.corrected:
        if (
            graph.degree_indptr[r + 1] - graph.degree_indptr[r]
            > graph.degree_indptr[s + 1] - graph.degree_indptr[s]
        ):
            r, s = s, r
        for degree in graph.degree[graph.degree_indptr[r] : graph.degree_indptr[r + 1]]:
            one, two = count_of(groups.degrees, r, degree), count_of(groups.degrees, s, degree)
            price += factorial[one] + factorial[two] - factorial[one + two]
    return float(price)


@njit(cache=True, nogil=True)
def join(partner: Int64s, order: Int64s, wanted: int) -> Int64s:
    """Return the new group of each group when so many merges are made, in an order; numbered by first member.

    Args:
        partner: int64 array (groups,), -1 for none.
        order: int64 array (groups,), the groups by the price of their merge.
        wanted: the number of merges, fewer where the partners do not allow as many.
    """
    root = np.arange(len(partner))
    for r in order:
        if wanted == 0:
            break
        if partner[r] >= 0:
            first, second = _root_of(root, r), _root_of(root, partner[r])
            if first != second:
                root[max(first, second)] = min(first, second)
                wanted -= 1
    label = np.empty_like(root)
    count = 0
    for r in range(len(root)):
        if root[r] == r:
            label[r] = count
            count += 1
        else:
            label[r] = label[_root_of(root, r)]
    return label


@njit(cache=True, nogil=True)
def _root_of(root: Int64s, r: int) -> int:
    while root[r] != r:
        root[r] = root[root[r]]
        r = root[r]
    return r
