"""Hard negatives for the ends of positives: the loops behind :func:`trueedge.negatives.heart`.

Everything that depends on an end node alone (its scores, who is a candidate, the order of each list) is done
once for that node; each of its positives then costs a short walk down the lists.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Float64s, Int8s, Int32s, Int64s
from trueedge.kernels.arrays.grouping import Groups, group_by
from trueedge.kernels.arrays.keyed_draws import draw_free, draw_key
from trueedge.kernels.arrays.threads import Scratches, Steps, run_blocks
from trueedge.kernels.negatives.ranked_picks import Walk, pick_ranked
from trueedge.kernels.neighbors.similarity import FeatureIndex, similarity_row
from trueedge.kernels.neighbors.two_hop import two_hop_row
from trueedge.kernels.ranking.score_lists import SIZE, ScoreLists, fill_list, score_lists
from trueedge.kernels.walks.push import PushState, push, push_state
from trueedge.kernels.walks.small_push import SmallState

RA, CN, PPR, FEATURES = 0, 1, 2, 3
ENDS_PER_BLOCK = 16


class Problem(NamedTuple):
    """What all threads read.

    Attributes:
        indptr: int64 array (n + 1,), the adjacency the scores are read from.
        indices: int32 array (arcs,).
        known_indptr: int64 array (n + 1,), further pairs that may not be negatives, in both directions.
        known_indices: int32 array (known arcs,).
        keep_known: whether the pairs above, and edges, may be negatives after all.
        kinds: int64 array (lists,), the heuristics: RA, CN, PPR, FEATURES.
        weights: float64 array (2, n), of a common neighbour in RA and in CN.
        features: of no node where they are not asked for.
        alpha: of PPR.
        half: how many negatives an end of a positive gets.
        released: whether to rank as the released files do.
        key: what the random draws depend on beside the positive.
        sides: int8 array (n,), the side of each node of a bipartite graph; of no node in other graphs.
    """

    indptr: Int64s
    indices: Int32s
    known_indptr: Int64s
    known_indices: Int32s
    keep_known: bool
    kinds: Int64s
    weights: Float64s
    features: FeatureIndex
    alpha: float
    half: int
    released: bool
    key: np.uint64
    sides: Int8s


class Scratch(NamedTuple):
    """What one thread writes; ``rows``, ``push`` and who is taken are as they were once a node is done.

    Attributes:
        rows: float64 array (lists, n), the scores of the node at hand: zero where a node is no candidate.
        touched: int32 array (n + 1,), where a row may not be zero while its list is made.
        lists: over the rows.
        walk: down the lists; it shares memory with what is used only while lists are made.
        push: for PPR.
        seen: bool array (n,) for features, all false between rows; of no node where they are not asked for.
    """

    rows: Float64s
    touched: Int32s
    lists: ScoreLists
    walk: Walk
    push: PushState | SmallState
    seen: Bools


def hard_negatives(problem: Problem, positives: Int64s, eps: float, progress: Steps | None = None) -> Int32s:
    """Return the hardest negatives of each positive, half of them around each end: int32 (P, 2 half, 2).

    Args:
        problem: the graph and what is asked of it; every end has at least ``half`` candidates.
        positives: int64 array (P, 2), no self-pair.
        eps: of PPR.
        progress: called with (end nodes done, end nodes in all) after each block.
    """
    negatives = np.empty((len(positives), 2 * problem.half, 2), dtype=np.int32)
    ends = group_by(positives.ravel(), len(problem.indptr) - 1)

    def work(first: int, last: int, scratch: Scratch) -> None:
        places = ends.order[ends.starts[first] : ends.starts[last]]
        corrupted = np.empty((len(places), problem.half), dtype=np.int32)
        _block(problem, scratch, ends, positives, first, last, corrupted)
        _write_pairs(corrupted, places, positives, negatives)

    run_blocks(work, len(ends.keys), ENDS_PER_BLOCK, heart_scratches(problem, eps), progress)
    return negatives


def corrupted_ends(
    problem: Problem,
    ends: Groups,
    positives: Int64s,
    first: int,
    last: int,
    scratches: Scratches[Scratch],
    progress: Steps | None = None,
) -> Int32s:
    """Return what takes the place of the other end, hardest first, around a stretch of the end nodes.

    Args:
        problem: as for :func:`hard_negatives`.
        ends: the places of all positives, raveled, by the node that is there.
        positives: int64 array (P, 2), no self-pair.
        first: the first end node, by its number among ``ends``.
        last: the one after the last.
        scratches: from :func:`heart_scratches`.
        progress: called with (end nodes done, end nodes of the stretch) after each block.

    Returns:
        int32 array (m, half), a row for each of the places ``ends.order[starts[first] : starts[last]]``.
    """
    start = ends.starts[first]
    corrupted = np.empty((ends.starts[last] - start, problem.half), dtype=np.int32)

    def work(low: int, high: int, scratch: Scratch) -> None:
        low, high = first + low, first + high
        rows = corrupted[ends.starts[low] - start : ends.starts[high] - start]
        _block(problem, scratch, ends, positives, low, high, rows)

    run_blocks(work, last - first, ENDS_PER_BLOCK, scratches, progress)
    return corrupted


def heart_scratches(problem: Problem, eps: float) -> Scratches[Scratch]:
    """Return the scratch of all threads: with RA and PPR some 90 bytes a node and thread."""

    def make() -> Scratch:
        count, nodes = len(problem.kinds), len(problem.indptr) - 1
        rows = np.zeros((count, nodes))
        lists = score_lists(rows)
        touched = np.empty(nodes + 1, dtype=np.int32)
        walk = Walk(
            taken=np.zeros(nodes, dtype=np.bool_),
            places=np.zeros((count, 5), dtype=np.int64),
            group_keys=lists.room,
            group_nodes=touched,
            picked=np.empty(problem.half, dtype=np.int32),
        )
        pushed = problem.indptr if PPR in problem.kinds else np.zeros(1, dtype=np.int64)
        seen = np.zeros(nodes if FEATURES in problem.kinds else 0, dtype=np.bool_)
        return Scratch(rows, touched, lists, walk, push_state(pushed, problem.alpha, eps), seen)

    return Scratches(make)


def _block(
    problem: Problem,
    scratch: Scratch,
    ends: Groups,
    positives: Int64s,
    first: int,
    last: int,
    corrupted: Int32s,
) -> None:
    """The nodes that take the other end's place around the end nodes ``first..last-1``.

    Not compiled: a function that calls others is compiled with all of them once more.
    """
    # Not False: the compiler leaves out what is never asked for.
    released = True if problem.released else None
    taken = scratch.walk.taken
    if not len(problem.sides):
        _ends(problem, scratch, ends, positives, first, last, corrupted, -1, 0, released)
        return
    # In a bipartite graph, everybody who is not on the other side is marked once for all ends of a side.
    for side in range(2):
        out = _mark_but(problem.sides, 1 - side, taken, True)
        _ends(problem, scratch, ends, positives, first, last, corrupted, side, out, released)
        _mark_but(problem.sides, 1 - side, taken, False)


@njit(cache=True, nogil=True)
def _mark_but(sides: Int8s, side: int, taken: Bools, mark: bool) -> int:
    """Mark everybody who is not on a side; how many that are."""
    count = 0
    for node in range(len(sides)):
        if sides[node] != side:
            taken[node] = mark
            count += 1
    return count


@njit(cache=True, nogil=True)
def _ends(
    problem: Problem,
    scratch: Scratch,
    ends: Groups,
    positives: Int64s,
    first: int,
    last: int,
    corrupted: Int32s,
    side: int,
    marked: int,
    released: bool | None,
) -> None:
    """The same for the end nodes on one side, with everybody marked who is not on the other; -1 for all."""
    lists, walk, taken, picked = scratch.lists, scratch.walk, scratch.walk.taken, scratch.walk.picked
    for i in range(first, last):
        end = ends.keys[i]
        if side >= 0 and problem.sides[end] != side:
            continue
        row = ends.starts[i] - ends.starts[first]
        for at in range(len(problem.kinds)):
            _score(problem, scratch, at, end)
        mark = np.bool_(1)
        out = marked + _mark(problem, taken, end, mark)
        for place in ends.order[ends.starts[i] : ends.starts[i + 1]]:
            other = positives[place >> 1, 1 - (place & 1)]
            was_out = taken[other]
            taken[other] = True
            count = pick_ranked(lists, walk, other, released)
            if count < problem.half:
                free = len(taken) - out - (0 if was_out else 1) - count
                draw_free(draw_key(problem.key, end, other), taken, free, picked[count:], walk.group_nodes)
            for rank in range(len(picked)):
                corrupted[row, rank] = picked[rank]
                taken[picked[rank]] = False
            row += 1
            taken[other] = was_out
        _mark(problem, taken, end, not mark)
        for at in range(len(problem.kinds)):
            for node in lists.nodes[at, : lists.shape[at, SIZE]]:
                scratch.rows[at, node] = 0.0


@njit(cache=True, nogil=True)
def _mark(problem: Problem, taken: Bools, end: int, mark: bool) -> int:
    """Mark everybody who is no candidate around an end node, itself included; how many that changed.

    In a bipartite graph, those on the other side alone: the others are marked already.
    """
    two = len(problem.sides) > 0
    count = 0
    if not two:
        count = 1
        taken[end] = mark
    if problem.keep_known:
        return count
    for node in problem.indices[problem.indptr[end] : problem.indptr[end + 1]]:
        taken[node] = mark
        count += 1
    for node in problem.known_indices[problem.known_indptr[end] : problem.known_indptr[end + 1]]:
        if two and problem.sides[node] != 1 - problem.sides[end]:
            continue
        count += taken[node] != mark
        taken[node] = mark
    return count


@njit(cache=True, nogil=True)
def _score(problem: Problem, scratch: Scratch, at: int, end: int) -> None:
    """List the candidates around an end node by one heuristic."""
    kind, row, touched = problem.kinds[at], scratch.rows[at], scratch.touched
    indptr, indices = problem.indptr, problem.indices
    if kind == PPR:
        count = push(indptr, indices, end, problem.alpha, scratch.push, row, touched)
    elif kind == FEATURES:
        count = similarity_row(problem.features, end, row, touched, scratch.seen)
    else:
        count = two_hop_row(indptr, indices, problem.weights[kind], end, row, touched)
    row[end] = 0.0
    if len(problem.sides):
        for node in touched[:count]:
            if problem.sides[node] != 1 - problem.sides[end]:
                row[node] = 0.0
    if not problem.keep_known:
        for node in indices[indptr[end] : indptr[end + 1]]:
            row[node] = 0.0
        for node in problem.known_indices[problem.known_indptr[end] : problem.known_indptr[end + 1]]:
            row[node] = 0.0
    fill_list(scratch.lists, at, touched[:count], problem.half + 1)


@njit(cache=True, nogil=True)
def _write_pairs(corrupted: Int32s, places: Int64s, positives: Int64s, negatives: Int32s) -> None:
    half = corrupted.shape[1]
    for i in range(len(places)):
        positive, side = places[i] >> 1, places[i] & 1
        for j in range(half):
            negatives[positive, side * half + j, side] = positives[positive, side]
            negatives[positive, side * half + j, 1 - side] = corrupted[i, j]
