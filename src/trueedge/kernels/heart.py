"""Hard negatives for the ends of positives: the loops behind :func:`trueedge.negatives.heart`.

Everything that depends on an end node alone (its scores, who is a candidate, the order of each list) is done
once for that node; each of its positives then costs a short walk down the lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.grouping import group_by
from trueedge.kernels.heart_pick import Walk, pick_ranked
from trueedge.kernels.keyed_draws import draw_free, draw_key
from trueedge.kernels.push import PushState, push, push_state
from trueedge.kernels.score_lists import ScoreLists, fill_list, score_lists
from trueedge.kernels.similarity import FeatureIndex, similarity_row
from trueedge.kernels.threads import run_blocks
from trueedge.kernels.two_hop import two_hop_row

RA, CN, PPR, FEATURES = 0, 1, 2, 3
ENDS_PER_BLOCK = 32


class Problem(NamedTuple):
    """What all threads read.

    Attributes:
        indptr: int64 array (n + 1,), the adjacency the scores are read from.
        indices: int32 array (arcs,).
        known_indptr: int64 array (n + 1,), the pairs that may not be negatives.
        known_indices: int32 array (known arcs,).
        kinds: int64 array (lists,), the heuristics: RA, CN, PPR, FEATURES.
        weights: float64 array (2, n), of a common neighbour in RA and in CN.
        features: of no node where they are not asked for.
        alpha: of PPR.
        half: how many negatives an end of a positive gets.
        released: whether to rank as the released files do.
        key: what the random draws depend on beside the positive.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    known_indptr: NDArray[np.int64]
    known_indices: NDArray[np.int32]
    kinds: NDArray[np.int64]
    weights: NDArray[np.float64]
    features: FeatureIndex
    alpha: float
    half: int
    released: bool
    key: np.uint64


class Scratch(NamedTuple):
    """What one thread writes; ``rows``, ``push`` and who is taken are as they were once a node is done.

    Attributes:
        rows: float64 array (lists, n), the scores of the node at hand: zero where a node is no candidate.
        touched: int32 array (lists, n), where the rows are not zero.
        counts: int64 array (lists,), how many entries of ``touched`` hold.
        lists: over the rows.
        walk: down the lists.
        push: for PPR.
    """

    rows: NDArray[np.float64]
    touched: NDArray[np.int32]
    counts: NDArray[np.int64]
    lists: ScoreLists
    walk: Walk
    push: PushState


def hard_negatives(
    problem: Problem,
    positives: NDArray[np.int64],
    eps: float,
    progress: Callable[[int, int], object] | None = None,
) -> NDArray[np.int32]:
    """The hardest negatives of each positive, half of them around each end: int32 (P, 2 half, 2).

    Args:
        problem: the graph and what is asked of it; every end has at least ``half`` candidates.
        positives: int64 array (P, 2), no self-pair.
        eps: of PPR.
        progress: called with (end nodes done, end nodes in all) after each block.
    """
    negatives = np.empty((len(positives), 2 * problem.half, 2), dtype=np.int32)
    ends = group_by(positives.ravel(), len(problem.indptr) - 1)

    def make_scratch() -> Scratch:
        return _make_scratch(problem, eps)

    def work(first: int, last: int, scratch: Scratch) -> None:
        _block(problem, scratch, ends.keys, ends.starts, ends.order, positives, first, last, negatives)

    run_blocks(work, len(ends.keys), ENDS_PER_BLOCK, make_scratch, progress)
    return negatives


def _make_scratch(problem: Problem, eps: float) -> Scratch:
    lists, nodes = len(problem.kinds), len(problem.indptr) - 1
    rows = np.zeros((lists, nodes))
    walk = Walk(
        taken=np.zeros(nodes, dtype=np.bool_),
        places=np.zeros((lists, 5), dtype=np.int64),
        group_keys=np.empty(nodes, dtype=np.int64),
        group_nodes=np.empty(nodes, dtype=np.int32),
        picked=np.empty(problem.half, dtype=np.int32),
    )
    pushed = problem.indptr if PPR in problem.kinds else np.zeros(1, dtype=np.int64)
    return Scratch(
        rows=rows,
        touched=np.empty((lists, nodes), dtype=np.int32),
        counts=np.zeros(lists, dtype=np.int64),
        lists=score_lists(rows),
        walk=walk,
        push=push_state(pushed, problem.alpha, eps),
    )


@njit(cache=True, nogil=True)
def _block(
    problem: Problem,
    scratch: Scratch,
    ends: NDArray[np.int64],
    starts: NDArray[np.int64],
    order: NDArray[np.int64],
    positives: NDArray[np.int64],
    first: int,
    last: int,
    negatives: NDArray[np.int32],
) -> None:
    """The negatives around the end nodes ``ends[first:last]``."""
    half, lists, walk = problem.half, scratch.lists, scratch.walk
    taken, picked = walk.taken, walk.picked
    for i in range(first, last):
        end = ends[i]
        known = problem.known_indices[problem.known_indptr[end] : problem.known_indptr[end + 1]]
        for at in range(len(problem.kinds)):
            _score(problem, scratch, at, end, known)
        taken[end] = True
        for node in known:
            taken[node] = True
        for place in order[starts[i] : starts[i + 1]]:
            positive, side = place >> 1, place & 1
            other = positives[positive, 1 - side]
            was_known = taken[other]
            taken[other] = True
            count = pick_ranked(lists, walk, other, problem.released)
            if count < half:
                free = len(taken) - len(known) - (1 if was_known else 2) - count
                draw_free(draw_key(problem.key, end, other), taken, free, picked[count:], walk.group_nodes)
            for j in range(half):
                negatives[positive, side * half + j, side] = end
                negatives[positive, side * half + j, 1 - side] = picked[j]
                taken[picked[j]] = False
            taken[other] = was_known
        taken[end] = False
        for node in known:
            taken[node] = False
        for at in range(len(problem.kinds)):
            for node in scratch.touched[at, : scratch.counts[at]]:
                scratch.rows[at, node] = 0.0


@njit(cache=True, nogil=True)
def _score(problem: Problem, scratch: Scratch, at: int, end: int, known: NDArray[np.int32]) -> None:
    """List the candidates around an end node by one heuristic."""
    kind, row, touched = problem.kinds[at], scratch.rows[at], scratch.touched[at]
    indptr, indices = problem.indptr, problem.indices
    if kind == PPR:
        count = push(indptr, indices, end, problem.alpha, scratch.push, row, touched)
    elif kind == FEATURES:
        count = similarity_row(problem.features, end, row, touched, scratch.walk.taken)
    else:
        count = two_hop_row(indptr, indices, problem.weights[kind], end, row, touched)
    row[end] = 0.0
    for node in known:
        row[node] = 0.0
    scratch.counts[at] = fill_list(scratch.lists, at, touched[:count], problem.half + 1)
