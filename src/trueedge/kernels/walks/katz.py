"""Katz sums over walks of every length, as the least fixed point of one step."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.arrays.grouping import Groups, group_by, num_blocks
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.kept_rows import KeptRows

# Sources solved side by side: one cache line of float64, so that a neighbour is fetched once for all.
LANES = 4


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
    columns = np.empty((len(indptr) - 1, LANES))
    chosen = np.empty(LANES, dtype=np.int64)
    for bundle in range(block, -(-len(sources) // LANES), blocks):
        first = bundle * LANES
        lanes = min(LANES, len(sources) - first)
        chosen[:] = -1
        chosen[:lanes] = sources[first : first + lanes]
        _solve(indptr, indices, beta, chosen, lanes, columns)
        for target in range(len(columns)):
            sums = _neighbor_sums(indptr, indices, columns, target)
            for lane in range(lanes):
                rows[chosen[lane], target] = beta * sums[lane]


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
    columns = np.empty((len(indptr) - 1, LANES))
    chosen = np.empty(LANES, dtype=np.int64)
    for bundle in range(block, -(-len(sources) // LANES), blocks):
        first = bundle * LANES
        lanes = min(LANES, len(sources) - first)
        chosen[:] = -1
        chosen[:lanes] = sources[first : first + lanes]
        _solve(indptr, indices, beta, chosen, lanes, columns)
        for lane in range(lanes):
            for p in order[starts[first + lane] : starts[first + lane + 1]]:
                sums[p] = beta * _neighbor_sums(indptr, indices, columns, target[p])[lane]


@njit(cache=True, nogil=True)
def _solve(
    indptr: Int64s, indices: Int32s, beta: float, sources: Int64s, lanes: int, columns: Float64s
) -> None:
    """Sweep until no bit changes; a node is looked at again only when a neighbour has changed."""
    columns[:] = 0.0
    stale = np.zeros(len(indptr) - 1, dtype=np.bool_)
    for lane in range(lanes):
        columns[sources[lane], lane] = 1.0
        for w in indices[indptr[sources[lane]] : indptr[sources[lane] + 1]]:
            stale[w] = True
    moving = True
    while moving:
        moving = False
        for v in range(len(stale)):
            if stale[v]:
                stale[v] = False
                if _renew(indptr, indices, beta, sources, columns, v):
                    moving = True
                    for w in indices[indptr[v] : indptr[v + 1]]:
                        stale[w] = True


@njit(cache=True, nogil=True, inline="always")
def _renew(
    indptr: Int64s, indices: Int32s, beta: float, sources: Int64s, columns: Float64s, node: int
) -> bool:
    """Compute a node's entries from its neighbours', and say whether one of them rose."""
    a, b, c, d = _neighbor_sums(indptr, indices, columns, node)
    a = beta * a + (sources[0] == node)
    b = beta * b + (sources[1] == node)
    c = beta * c + (sources[2] == node)
    d = beta * d + (sources[3] == node)
    rose: bool = (
        (a > columns[node, 0]) | (b > columns[node, 1]) | (c > columns[node, 2]) | (d > columns[node, 3])
    )
    if rose:
        columns[node, 0] = a
        columns[node, 1] = b
        columns[node, 2] = c
        columns[node, 3] = d
    return rose


@njit(cache=True, nogil=True, inline="always")
def _neighbor_sums(
    indptr: Int64s, indices: Int32s, columns: Float64s, node: int
) -> tuple[float, float, float, float]:
    """The sum over a node's neighbours in each lane; a name for each, since only names stay in registers."""
    a = b = c = d = 0.0
    for place in range(indptr[node], indptr[node + 1]):
        w = indices[place]
        a += columns[w, 0]
        b += columns[w, 1]
        c += columns[w, 2]
        d += columns[w, 3]
    return a, b, c, d
