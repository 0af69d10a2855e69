"""The push of :mod:`trueedge.kernels.walks.push` from eight sources side by side, for whole rows.

From each source, the same nodes are pushed in the same rounds. But a node collects what its neighbours hand
on, where there a node hands on to its neighbours: sums are taken in another order, so estimates may differ in
their last bits. On Cora's 2,708 nodes this takes four tenths of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int32s, Int64s
from trueedge.kernels.arrays.kept_scratch import KeptScratch
from trueedge.kernels.arrays.threads import run_blocks
from trueedge.kernels.walks.kept_rows import KeptRows
from trueedge.kernels.walks.side_by_side import LANES, push_step

# If the pushed nodes have fewer of the arcs than this, those around them are marked, and only they collect.
FEW_ARCS = 0.25
BUNDLES_IN_A_BLOCK = 8


class WideState(NamedTuple):
    """What bundles of sources in the same thread share.

    Attributes:
        residual: float64 array (8 n,).
        estimate: float64 array (8 n,).
        shares: float64 array (2, 8 n), what each node hands on in this round and in the next.
        threshold: float64 array (n,), from which residual on a node is pushed; a node without neighbours
            never is.
        degrees: float64 array (n,), at least 1.
        pushed: int32 array (2, n + 1), the nodes that hand on in this round and in the next.
        marked: bool array (n,), all false between rounds.
    """

    residual: Float64s
    estimate: Float64s
    shares: Float64s
    threshold: Float64s
    degrees: Float64s
    pushed: Int32s
    marked: Bools


def fill_push_rows(
    indptr: Int64s, indices: Int32s, sources: Int64s, rows: Float64s, alpha: float, eps: float
) -> None:
    """Write the PageRank estimates of some sources into a table.

    Args:
        indptr, indices, alpha, eps: as in :func:`trueedge.kernels.walks.push.push_rows`.
        sources: int64 array (k,), distinct.
        rows: float64 array (n, n), whose rows of the sources are written.
    """

    def work(first: int, last: int, state: WideState) -> None:
        for at in range(first, last):
            bundle = sources[at * LANES : (at + 1) * LANES]
            _push_bundle(indptr, indices, bundle, alpha, state, rows)

    bundles = -(-len(sources) // LANES)
    run_blocks(work, bundles, BUNDLES_IN_A_BLOCK, _kept_scratch.of(indptr, alpha, eps))


def _make_scratch(indptr: Int64s, alpha: float, eps: float) -> WideState:
    degrees = np.diff(indptr)
    nodes = len(degrees)
    return WideState(
        np.empty(LANES * nodes),
        np.empty(LANES * nodes),
        np.empty((2, LANES * nodes)),
        np.where(degrees > 0, alpha * eps * degrees, np.inf),
        np.maximum(degrees, 1.0),
        np.empty((2, nodes + 1), dtype=np.int32),
        np.zeros(nodes, dtype=np.bool_),
    )


_kept_scratch = KeptScratch(_make_scratch)
kept_rows = KeptRows(fill_push_rows)


@njit(cache=True, nogil=True)
def _push_bundle(
    indptr: Int64s, indices: Int32s, sources: Int64s, alpha: float, state: WideState, rows: Float64s
) -> None:
    """Push from up to eight sources until no residual is at its threshold, and write their rows."""
    _start(sources, alpha, state)
    pushed, shares = state.pushed, state.shares
    size, now = len(sources), 0
    # Not 0: functions are compiled once more for a number that is known.
    before = int(np.int64(0))
    while size:
        arcs = 0
        for place in range(size):
            arcs += indptr[pushed[now, place] + 1] - indptr[pushed[now, place]]
        few = arcs < FEW_ARCS * len(indices)
        if few:
            # The next round's shares lie where those of the last round were.
            _clear(shares[1 - now], pushed[1 - now], before)
            _mark_neighbors(indptr, indices, pushed[now], size, state.marked)
        before = size
        size = _round(indptr, indices, 1 - alpha, state, shares[now], shares[1 - now], pushed[1 - now], few)
        now = 1 - now
    for lane in range(len(sources)):
        for node in range(len(indptr) - 1):
            rows[sources[lane], node] = state.estimate[LANES * node + lane]


@njit(cache=True, nogil=True)
def _start(sources: Int64s, alpha: float, state: WideState) -> None:
    """Push each source, once."""
    for place in range(len(state.residual)):
        state.residual[place] = 0.0
        state.estimate[place] = 0.0
        state.shares[0, place] = 0.0
        state.shares[1, place] = 0.0
    for lane in range(len(sources)):
        node = sources[lane]
        state.pushed[0, lane] = node
        state.estimate[LANES * node + lane] = alpha
        state.shares[0, LANES * node + lane] = (1 - alpha) * alpha / state.degrees[node]


@njit(cache=True, nogil=True)
def _round(
    indptr: Int64s,
    indices: Int32s,
    kept: float,
    state: WideState,
    shares: Float64s,
    following: Float64s,
    pushed: Int32s,
    few: bool,
) -> int:
    """Let nodes collect what their neighbours hand on, and list those that hand on next; how many these are.

    Args:
        indptr, indices: the CSR adjacency.
        kept: the part of a residual that is handed on.
        state: of the bundle.
        shares: float64 array (8 n,), what each node hands on now.
        following: float64 array (8 n,), filled with what each hands on next.
        pushed: int32 array (n + 1,), filled with the nodes of the next round.
        few: whether only marked nodes collect.
    """
    residual, estimate, threshold, degrees = state.residual, state.estimate, state.threshold, state.degrees
    count = 0
    for node in range(len(threshold)):
        if few and not state.marked[node]:
            continue
        state.marked[node] = False
        # Written first, and kept if the node is pushed.
        pushed[count] = node
        count += push_step(
            indices,
            indptr[node],
            indptr[node + 1],
            shares,
            node,
            residual,
            estimate,
            following,
            threshold[node],
            kept,
            degrees[node],
        )
    return count


@njit(cache=True, nogil=True)
def _clear(shares: Float64s, nodes: Int32s, size: int) -> None:
    for place in range(size):
        for lane in range(LANES):
            shares[LANES * nodes[place] + lane] = 0.0


@njit(cache=True, nogil=True)
def _mark_neighbors(indptr: Int64s, indices: Int32s, nodes: Int32s, size: int, marked: Bools) -> None:
    for place in range(size):
        for at in range(indptr[nodes[place]], indptr[nodes[place] + 1]):
            marked[indices[at]] = True
