"""The hardest candidates around one end of one positive, from the lists of what heuristics score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s
from trueedge.kernels.ranking.score_lists import (
    ORDERED,
    SIZE,
    ScoreLists,
    move_highest,
    rank_of,
    sort_descending,
)

# The columns of Walk.places.
FIRST, LAST, RANK, SHIFT, REMOVED = 0, 1, 2, 3, 4
_NEVER = np.int64(0x7FFFFFFFFFFFFFFF)


class Walk(NamedTuple):
    """The state of going down the lists.

    Attributes:
        taken: bool array (n,), the nodes that may not be picked: no candidate, or picked already.
        places: int64 array (lists, 5): where the group of equals starts at which the walk stands in a list,
            where it ends, its rank, what the released rule takes off every rank of the list, and the bits of
            the score of the positive's other end, 0 where that is not listed.
        group_keys: int64 array (n,), of nodes of equal combined rank, the higher the better.
        group_nodes: int32 array (n,), the nodes beside them.
        picked: int32 array (wanted,).
    """

    taken: Bools
    places: Int64s
    group_keys: Int64s
    group_nodes: Int32s
    picked: Int32s


@njit(cache=True, nogil=True)
def pick_ranked(lists: ScoreLists, walk: Walk, other: int, released: bool | None) -> int:
    """Pick the best ranked candidates, who are taken afterwards; how many, which may be fewer than wanted.

    Args:
        lists: the candidates that heuristics score, at least one more than wanted in order in each list.
        walk: with everybody marked as taken who is no candidate, the positive's other end too.
        other: the positive's other end: ranks are given as if it were in no list.
        released: True to rank as the released files do, else None: that rule is not compiled then.
    """
    by_file = np.bool_(released is not None)
    for at in range(len(lists.shape)):
        place = walk.places[at]
        place[LAST] = place[SHIFT] = 0
        place[REMOVED] = lists.bits[at, other]
        _next_group(lists, at, place, other, by_file)
        if by_file and place[RANK] != _NEVER:
            place[RANK], place[SHIFT] = 1, place[RANK] - 1
    if released is not None:
        return int(_pick_released(lists, walk, other))
    return int(_go_down(lists, walk, other, by_file, _NEVER))


@njit(cache=True, nogil=True)
def _next_group(lists: ScoreLists, at: int, place: Int64s, other: int, released: bool) -> None:
    """Go on to the next group of equal scores in a list; a group of the other end alone is passed over."""
    keys, ordered = lists.keys[at], lists.shape[at, ORDERED]
    first = place[LAST]
    alone = first + 1 == ordered or (first < ordered and keys[first + 1] < keys[first])
    if alone and lists.nodes[at, first] == other:
        first += 1
    place[FIRST] = place[LAST] = first
    if first >= ordered:
        place[RANK] = _NEVER
        return
    key, last = keys[first], first + 1
    while last < ordered and keys[last] == key:
        last += 1
    place[LAST] = last
    # 1 + how many are strictly higher; the released rule counts those as high instead, and lets the top group
    # be 1 all the same by taking its size - 1 off every rank. The other end does not count.
    if released:
        place[RANK] = last - (place[REMOVED] >= key) - place[SHIFT]
    else:
        place[RANK] = first + 1 - (place[REMOVED] > key)


@njit(cache=True, nogil=True)
def _go_down(lists: ScoreLists, walk: Walk, other: int, released: bool, cap: int) -> int:
    """Pick by combined rank while it is below ``cap``; how many are picked.

    A combined rank is the smallest of a node's ranks, so going down all lists at the pace of the rank meets
    each node first at its combined rank, and nobody below the last group picked is looked at.
    """
    places = walk.places
    # Not 0, here and elsewhere: functions are compiled once more for a number that is known.
    count = np.int64(0)
    while count < len(walk.picked):
        rank = _NEVER
        for at in range(len(places)):
            rank = min(rank, places[at, RANK])
        if rank >= cap:
            break
        size = np.int64(0)
        for at in range(len(places)):
            if places[at, RANK] == rank:
                size = _collect(lists.nodes[at, places[at, FIRST] : places[at, LAST]], walk, size)
                _next_group(lists, at, places[at], other, released)
        if size > 1 and not released:
            for i in range(size):
                walk.group_keys[i] = -_sum_of_ranks(lists, walk, walk.group_nodes[i])
        count = _append_group(walk, size, count)
    return int(count)


@njit(cache=True, nogil=True)
def _collect(nodes: Int32s, walk: Walk, size: int) -> int:
    """Add a stretch of a list to the group, without who is taken already; the group's new size."""
    for node in nodes:
        if not walk.taken[node]:
            walk.taken[node] = True
            walk.group_keys[size] = 0
            walk.group_nodes[size] = node
            size += 1
    return size


@njit(cache=True, nogil=True)
def _sum_of_ranks(lists: ScoreLists, walk: Walk, node: int) -> int:
    """Return the sum of a node's ranks in all lists; where it is not listed, the number of nodes counts."""
    total = 0
    for at in range(len(lists.bits)):
        key = lists.bits[at, node]
        if key == 0:
            total += len(walk.taken)
        else:
            total += rank_of(lists, at, key) - (walk.places[at, REMOVED] > key)
    return total


@njit(cache=True, nogil=True)
def _append_group(walk: Walk, size: int, count: int) -> int:
    """Pick from the group the highest keys, and of equals the smallest ids; how many are picked now."""
    keys, nodes = walk.group_keys, walk.group_nodes
    kept = min(size, len(walk.picked) - count)
    for i in range(size):
        keys[i] = keys[i] * len(walk.taken) - nodes[i]
    move_highest(keys, nodes, size, kept)
    sort_descending(keys, nodes, np.int64(0), kept)
    for i in range(kept):
        walk.picked[count + i] = nodes[i]
    for node in nodes[kept:size]:
        walk.taken[node] = False
    return count + kept


@njit(cache=True, nogil=True)
def _pick_released(lists: ScoreLists, walk: Walk, other: int) -> int:
    """Pick as the released files do: an unscored node ranks next after a list's last; how many are picked.

    So nobody's combined rank is above that of the shortest list's unscored nodes, where all others tie,
    scored or not, and go by node id. Only where fewer than wanted are scored at all, the scored come first.
    """
    wanted, taken = len(walk.picked), walk.taken
    cap, longest = _NEVER, np.int64(0)
    for at in range(len(lists.shape)):
        size = lists.shape[at, SIZE] - (walk.places[at, REMOVED] > 0)
        longest = max(longest, size)
        cap = min(cap, size - walk.places[at, SHIFT] + 1)
    count: int = _go_down(lists, walk, other, np.bool_(1), cap)
    if count == wanted:
        return count
    size = np.int64(0)
    if longest < wanted:
        for at in range(len(lists.shape)):
            size = _collect(lists.nodes[at, : lists.shape[at, SIZE]], walk, size)
        if count + size < wanted:
            return int(_append_group(walk, size, count))
    for node in walk.group_nodes[:size]:
        taken[node] = False
    node = 0
    while count < wanted:
        if not taken[node]:
            taken[node] = True
            walk.picked[count] = node
            count += 1
        node += 1
    return count
