"""Katz sums over walks of every length, as the least fixed point of one step."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.grouping import Groups, group_by, num_blocks
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.kept_rows import KeptRows
from trueedge.kernels.walks.side_by_side import LANES, rise_step


def katz_sums(indptr: Int64s, indices: Int32s, pairs: Int64s, beta: float) -> Float64s:
    """Return the sum over all lengths l >= 1 of ``beta^l (A^l)_uv`` for each pair, float64 (n,).

    The column of ``(I - beta A)^-1`` that belongs to a source is the least solution x of x = e + beta A x.
    Setting ``x[v] = e[v] + beta * (sum of x over the neighbours of v)`` again and again, from x = 0, adds
    numbers that are not negative, and rounding is monotone: x rises until no bit changes, and to the same
    bits in whatever order nodes are taken, so an answer does not depend on the other pairs. Every entry is
    accurate relative to itself, and one that no walk reaches stays zero. The source is the smaller id.

    Args:
        indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,).
        pairs: int64 array (n, 2).
        beta: below 1 over the largest eigenvalue of the adjacency; above it the sweeps never end.
    """
    sums = np.zeros(len(pairs))
    if len(pairs) == 0:
        return sums
    groups = group_by(pairs.min(axis=1), len(indptr) - 1)
    blocks = num_blocks(-(-len(groups.keys) // LANES))
    target = pairs.max(axis=1)
    run_blocks(
        lambda block, _, __: _block(indptr, indices, beta, groups, target, block, blocks, sums),
        blocks,
        1,
        lambda: None,
    )
    return sums


def fill_katz_rows(indptr: Int64s, indices: Int32s, sources: Int64s, rows: Float64s, beta: float) -> None:
    """Write what :func:`katz_sums` returns for some sources and all other nodes into a table.

    Args:
        indptr, indices, beta: as there.
        sources: int64 array (k,), distinct.
        rows: float64 array (nodes, nodes), whose rows of the sources are written.
    """
    bundles = -(-len(sources) // LANES)
    blocks = num_blocks(bundles)
    run_blocks(
        lambda block, _, __: _fill_block(indptr, indices, beta, sources, block, blocks, rows),
        blocks,
        1,
        lambda: None,
    )


kept_rows = KeptRows(fill_katz_rows)


@njit(cache=True, nogil=True)
def _fill_block(
    indptr: Int64s, indices: Int32s, beta: float, sources: Int64s, block: int, blocks: int, rows: Float64s
) -> None:
    """The rows of some bundles of sources."""
    table = np.empty((len(indptr) - 1) * LANES)
    for bundle in range(block, -(-len(sources) // LANES), blocks):
        first = bundle * LANES
        chosen = sources[first : first + LANES]
        _solve(indptr, indices, beta, chosen, table)
        for target in range(len(indptr) - 1):
            for lane in range(len(chosen)):
                rows[chosen[lane], target] = _walks_to(indptr, indices, beta, table, target, lane)


@njit(cache=True, nogil=True)
def _block(
    indptr: Int64s,
    indices: Int32s,
    beta: float,
    groups: Groups,
    target: Int64s,
    block: int,
    blocks: int,
    sums: Float64s,
) -> None:
    """The pairs of some bundles of sources."""
    sources, starts, order = groups
    table = np.empty((len(indptr) - 1) * LANES)
    for bundle in range(block, -(-len(sources) // LANES), blocks):
        first = bundle * LANES
        chosen = sources[first : first + LANES]
        _solve(indptr, indices, beta, chosen, table)
        for lane in range(len(chosen)):
            for p in order[starts[first + lane] : starts[first + lane + 1]]:
                sums[p] = _walks_to(indptr, indices, beta, table, target[p], lane)


@njit(cache=True, nogil=True)
def _solve(indptr: Int64s, indices: Int32s, beta: float, sources: Int64s, table: Float64s) -> None:
    """Sweep until no bit changes; a node is looked at again only when a neighbour has changed.

    Args:
        indptr, indices, beta: as in :func:`katz_sums`.
        sources: int64 array (k,), distinct, at most LANES.
        table: float64 array (nodes * LANES,), filled with the columns of the sources side by side.
    """
    nodes = len(indptr) - 1
    # Row 0 is of the nodes that are no source, and the others have a one where theirs is.
    added, kinds = np.zeros((LANES + 1) * LANES), np.zeros(nodes, dtype=np.int8)
    stale = np.zeros(nodes, dtype=np.bool_)
    table[:] = 0.0
    for lane in range(len(sources)):
        source = sources[lane]
        kinds[source] = lane + 1
        added[LANES * (lane + 1) + lane] = 1.0
        table[LANES * source + lane] = 1.0
        _mark(indptr, indices, source, stale)
    moving = True
    while moving:
        moving = False
        for v in range(nodes):
            if stale[v]:
                stale[v] = False
                if rise_step(indices, indptr[v], indptr[v + 1], table, v, beta, added, kinds[v]):
                    moving = True
                    _mark(indptr, indices, v, stale)


@njit(cache=True, nogil=True)
def _mark(indptr: Int64s, indices: Int32s, node: int, stale: Bools) -> None:
    for place in range(indptr[node], indptr[node + 1]):
        stale[indices[place]] = True


@njit(cache=True, nogil=True)
def _walks_to(indptr: Int64s, indices: Int32s, beta: float, table: Float64s, target: int, lane: int) -> float:
    """The damped number of walks of length one or more from a source to a node."""
    total = 0.0
    for place in range(indptr[target], indptr[target + 1]):
        total += table[LANES * indices[place] + lane]
    return beta * total
