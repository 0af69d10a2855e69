"""Hard negatives for the ends of positives: the loops behind :func:`trueedge.negatives.heart`.

Everything that depends on an end node alone (its scores, who is a candidate, the order of each list) is done once
for that node; each of its positives then costs a short walk down the lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.grouping import group_by
from trueedge.kernels.keyed_draws import draw_free, draw_key
from trueedge.kernels.push import PushState, push, push_state
from trueedge.kernels.score_order import MAX_BUCKETS, ScoreOrder, fill_order, rank_of
from trueedge.kernels.similarity import FeatureIndex, similarity_row
from trueedge.kernels.threads import run_blocks
from trueedge.kernels.two_hop import two_hop_row

RA, CN, PPR, FEATURES = 0, 1, 2, 3
ENDS_PER_BLOCK = 32
_NEVER = np.int64(0x7FFFFFFFFFFFFFFF)


class Problem(NamedTuple):
    """What all threads read.

    Attributes:
        indptr: int64 array (n + 1,), the adjacency the scores are read from.
        indices: int32 array (arcs,).
        known_indptr: int64 array (n + 1,), the pairs that may not be negatives.
        known_indices: int32 array (known arcs,).
        kinds: int64 array (h,), the heuristics: RA, CN, PPR, FEATURES.
        weights: float64 array (2, n), of a common neighbour in RA and in CN.
        index: the features; of no node where they are not asked for.
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
    index: FeatureIndex
    alpha: float
    half: int
    released: bool
    key: np.uint64


class Scratch(NamedTuple):
    """What one thread writes; every array is as it was once a node is done.

    Attributes:
        rows: float64 array (h, n), the scores of the node at hand: zero where a node is no candidate.
        touched: int32 array (h, n), where the rows may not be zero.
        counts: int64 array (h,), how many entries of ``touched`` hold.
        taken: bool array (n,), the nodes that may not be picked: no candidate, or picked already.
        keys, nodes, starts, sorted, shapes: the lists of the heuristics, as in ScoreOrder, (h, …).
        push: for PPR.
        places: int64 array (h, 4): where the walk down a list stands, where the group of equals there ends, the
            group's rank, and what the released rule takes off every rank of the list.
        removed: int64 array (h,), the bits of the score of the positive's other end; 0 where it is not listed.
        group: int64 array (n,), nodes of equal combined rank, or their sort keys.
        picked: int64 array (half,).
    """

    rows: NDArray[np.float64]
    touched: NDArray[np.int32]
    counts: NDArray[np.int64]
    taken: NDArray[np.bool_]
    keys: NDArray[np.int64]
    nodes: NDArray[np.int32]
    starts: NDArray[np.int64]
    sorted: NDArray[np.bool_]
    shapes: NDArray[np.int64]
    push: PushState
    places: NDArray[np.int64]
    removed: NDArray[np.int64]
    group: NDArray[np.int64]
    picked: NDArray[np.int64]


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
    nodes = len(problem.indptr) - 1
    negatives = np.empty((len(positives), 2 * problem.half, 2), dtype=np.int32)
    ends = group_by(positives.ravel(), nodes)

    def make_scratch() -> Scratch:
        return _scratch(problem, nodes, eps)

    def work(first: int, last: int, scratch: Scratch) -> None:
        _block(problem, scratch, ends.keys, ends.starts, ends.order, positives, first, last, negatives)

    run_blocks(work, len(ends.keys), ENDS_PER_BLOCK, make_scratch, progress)
    return negatives


def _scratch(problem: Problem, nodes: int, eps: float) -> Scratch:
    lists = len(problem.kinds)
    with_push = PPR in problem.kinds
    return Scratch(
        rows=np.zeros((lists, nodes)),
        touched=np.empty((lists, nodes), dtype=np.int32),
        counts=np.zeros(lists, dtype=np.int64),
        taken=np.zeros(nodes, dtype=np.bool_),
        keys=np.empty((lists, nodes), dtype=np.int64),
        nodes=np.empty((lists, nodes), dtype=np.int32),
        starts=np.zeros((lists, MAX_BUCKETS + 1), dtype=np.int64),
        sorted=np.zeros((lists, MAX_BUCKETS), dtype=np.bool_),
        shapes=np.zeros((lists, 4), dtype=np.int64),
        push=push_state(problem.indptr if with_push else np.zeros(1, dtype=np.int64), problem.alpha, eps),
        places=np.zeros((lists, 4), dtype=np.int64),
        removed=np.zeros(lists, dtype=np.int64),
        group=np.empty(nodes, dtype=np.int64),
        picked=np.empty(problem.half, dtype=np.int64),
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
    half = problem.half
    for i in range(first, last):
        end = ends[i]
        _score(problem, scratch, end)
        for at in order[starts[i] : starts[i + 1]]:
            positive, side = at >> 1, at & 1
            _pick(problem, scratch, end, positives[positive, 1 - side])
            for j in range(half):
                negatives[positive, side * half + j, side] = end
                negatives[positive, side * half + j, 1 - side] = scratch.picked[j]
        _forget(problem, scratch, end)


@njit(cache=True, nogil=True)
def _score(problem: Problem, scratch: Scratch, end: int) -> None:
    """Mark who is no candidate around an end node, and list the others by each heuristic."""
    known = problem.known_indices[problem.known_indptr[end] : problem.known_indptr[end + 1]]
    for h in range(len(problem.kinds)):
        row, touched = scratch.rows[h], scratch.touched[h]
        count = _score_one(problem, scratch, problem.kinds[h], end, row, touched)
        row[end] = 0.0
        for node in known:
            row[node] = 0.0
        scratch.counts[h] = fill_order(_list(scratch, h), row, touched[:count], problem.half + 1)
    scratch.taken[end] = True
    for node in known:
        scratch.taken[node] = True


@njit(cache=True, nogil=True)
def _score_one(
    problem: Problem,
    scratch: Scratch,
    kind: int,
    end: int,
    row: NDArray[np.float64],
    touched: NDArray[np.int32],
) -> int:
    if kind == PPR:
        return push(problem.indptr, problem.indices, end, problem.alpha, scratch.push, row, touched)
    if kind == FEATURES:
        return similarity_row(problem.index, end, row, touched, scratch.taken)
    return two_hop_row(problem.indptr, problem.indices, problem.weights[kind], end, row, touched)


@njit(cache=True, nogil=True)
def _list(scratch: Scratch, h: int) -> ScoreOrder:
    return ScoreOrder(
        scratch.keys[h], scratch.nodes[h], scratch.starts[h], scratch.sorted[h], scratch.shapes[h]
    )


@njit(cache=True, nogil=True)
def _forget(problem: Problem, scratch: Scratch, end: int) -> None:
    for h in range(len(problem.kinds)):
        for node in scratch.touched[h, : scratch.counts[h]]:
            scratch.rows[h, node] = 0.0
    scratch.taken[end] = False
    for node in problem.known_indices[problem.known_indptr[end] : problem.known_indptr[end + 1]]:
        scratch.taken[node] = False


@njit(cache=True, nogil=True)
def _pick(problem: Problem, scratch: Scratch, end: int, other: int) -> None:
    """Fill ``scratch.picked`` for one end of one positive."""
    taken, picked, half = scratch.taken, scratch.picked, problem.half
    was_known = taken[other]
    taken[other] = True
    _start_lists(problem, scratch, other)
    count = (
        _pick_released(problem, scratch, other)
        if problem.released
        else _walk(problem, scratch, other, _NEVER)
    )
    if count < half:
        known = problem.known_indptr[end + 1] - problem.known_indptr[end]
        free = len(taken) - known - (1 if was_known else 2) - count
        draw_free(draw_key(problem.key, end, other), taken, free, picked[count:], scratch.group)
    for node in picked:
        taken[node] = False
    taken[other] = was_known


@njit(cache=True, nogil=True)
def _start_lists(problem: Problem, scratch: Scratch, other: int) -> None:
    """Put the walk at the head of each list, with the positive's other end out of it."""
    for h in range(len(problem.kinds)):
        place = scratch.places[h]
        place[1] = place[3] = 0
        scratch.removed[h] = scratch.rows[h].view(np.int64)[other]
        _next_group(_list(scratch, h), place, scratch.removed[h], other, problem.released)
        if problem.released and place[2] != _NEVER:
            place[2], place[3] = 1, place[2] - 1


@njit(cache=True, nogil=True)
def _next_group(
    order: ScoreOrder, place: NDArray[np.int64], removed: int, other: int, released: bool
) -> None:
    """Go on to the next group of equal scores in a list; a group of the removed node alone is passed over."""
    keys, ordered = order.keys, order.shape[3]
    first = place[1]
    if (
        first < ordered
        and order.nodes[first] == other
        and (first + 1 == ordered or keys[first + 1] < keys[first])
    ):
        first += 1
    place[0] = place[1] = first
    if first >= ordered:
        place[2] = _NEVER
        return
    key, last = keys[first], first + 1
    while last < ordered and keys[last] == key:
        last += 1
    place[1] = last
    # 1 + how many are strictly higher; the released rule counts those as high instead, and lets the top group
    # be 1 all the same by taking its size - 1 off every rank. The removed node does not count.
    place[2] = last - (removed >= key) - place[3] if released else first + 1 - (removed > key)


@njit(cache=True, nogil=True)
def _walk(problem: Problem, scratch: Scratch, other: int, cap: int) -> int:
    """Pick by combined rank while it is below ``cap``; how many were picked.

    A combined rank is the smallest of a node's ranks, so going down all lists at the pace of the rank meets each
    node first at its combined rank, and nobody below the last group picked need be looked at.
    """
    lists, half, places = len(problem.kinds), problem.half, scratch.places
    count = 0
    while count < half:
        rank = _NEVER
        for h in range(lists):
            rank = min(rank, places[h, 2])
        if rank >= cap:
            break
        size = 0
        for h in range(lists):
            if places[h, 2] == rank:
                size = _collect(scratch, h, places[h, 0], places[h, 1], size)
                _next_group(_list(scratch, h), places[h], scratch.removed[h], other, problem.released)
        count = _append_group(problem, scratch, size, count)
    return count


@njit(cache=True, nogil=True)
def _collect(scratch: Scratch, h: int, first: int, last: int, size: int) -> int:
    """Add a stretch of a list to the group, without who is taken already; the group's new size."""
    for node in scratch.nodes[h, first:last]:
        if not scratch.taken[node]:
            scratch.taken[node] = True
            scratch.group[size] = node
            size += 1
    return size


@njit(cache=True, nogil=True)
def _append_group(problem: Problem, scratch: Scratch, size: int, count: int) -> int:
    """Pick from a group of equal combined rank, by the sum of ranks and then by id; how many are picked now."""
    group, nodes = scratch.group, len(scratch.taken)
    if size > 1 and not problem.released:
        for i in range(size):
            group[i] += _sum_of_ranks(scratch, group[i]) * nodes
    if size > 1:
        group[:size].sort()
    for i in range(size):
        node = group[i] % nodes
        if count < problem.half:
            scratch.picked[count] = node
            count += 1
        else:
            scratch.taken[node] = False
    return count


@njit(cache=True, nogil=True)
def _sum_of_ranks(scratch: Scratch, node: int) -> int:
    """The sum of a node's ranks in all lists; where it is not listed the number of nodes counts."""
    total = 0
    for h in range(len(scratch.counts)):
        key = scratch.rows[h].view(np.int64)[node]
        if key == 0:
            total += len(scratch.taken)
        else:
            total += rank_of(_list(scratch, h), key) - (scratch.removed[h] > key)
    return total


@njit(cache=True, nogil=True)
def _pick_released(problem: Problem, scratch: Scratch, other: int) -> int:
    """Pick as the released files do: an unscored node ranks next after a list's last; how many were picked.

    So nobody's combined rank is above that of the shortest list's unscored nodes, and there, scored or not, all
    others tie; the tie goes by node id. Only where fewer than ``half`` nodes are scored at all are the scored
    ones taken first.
    """
    lists, half, taken = len(problem.kinds), problem.half, scratch.taken
    cap, longest = _NEVER, np.int64(0)
    for h in range(lists):
        size = scratch.shapes[h, 0] - (scratch.removed[h] > 0)
        longest = max(longest, size)
        cap = min(cap, size - scratch.places[h, 3] + 1)
    count = _walk(problem, scratch, other, cap)
    if count == half:
        return count
    size = 0
    if longest < half:
        for h in range(lists):
            size = _collect(scratch, h, 0, scratch.shapes[h, 0], size)
    if longest >= half or count + size >= half:
        for node in scratch.group[:size]:
            taken[node] = False
        node = 0
        while count < half:
            if not taken[node]:
                taken[node] = True
                scratch.picked[count] = node
                count += 1
            node += 1
        return count
    return _append_group(problem, scratch, size, count)
