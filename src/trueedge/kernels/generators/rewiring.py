"""Half-edges joined at random, and rewired until no edge is a loop, a repeat, or within one community."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s, Int64s, UInt64s
from trueedge.kernels.arrays.keyed_draws import draw_key
from trueedge.kernels.neighbors.pair_counts import EMPTY, PairCounts, count_add, count_of

# The key of all throws and how many there were.
Dice = UInt64s

# An edge that cannot stay tries so many partners before the next one has its turn.
_TRIES_A_TURN = 32
# For each edge of a group there are so many tries in all, and so many in a row that may fail. Most groups
# need less than one; where hubs must know nearly everybody, more tries place few edges more.
_TRIES, _FAILURES = 64, 4
_TRIES_AT_LEAST = 4000


def dice(key: int) -> Dice:
    """Return what :func:`throw` draws from; the same key gives the same throws.

    Args:
        key: from 0 to 2^64 - 1.
    """
    return np.array([key, 0], dtype=np.uint64)


@njit(cache=True, nogil=True)
def throw(dice: Dice, bound: int) -> int:
    """Return a number uniform on ``0..bound-1``; of 2^64 the rest modulo the bound does not matter."""
    return int(_next_word(dice) % np.uint64(bound))


@njit(cache=True, nogil=True)
def throw_unit(dice: Dice) -> float:
    """Return a number uniform on [0, 1), of 53 bits."""
    return float(_next_word(dice) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def join_half_edges(halves: Int32s, bounds: Int64s, dice: Dice) -> Int32s:
    """Join the half-edges of each group with one another, every matching equally likely: int32 (m, 2).

    Args:
        halves: int32 array (2m,), the nodes they belong to, group after group; shuffled in place.
        bounds: int64 array (groups + 1,), where each group starts; all are even.
        dice: from :func:`dice`.
    """
    for group in range(len(bounds) - 1):
        first = bounds[group]
        for last in range(bounds[group + 1] - 1, first, -1):
            other = first + throw(dice, last - first + 1)
            halves[last], halves[other] = halves[other], halves[last]
    return halves.reshape(-1, 2)


@njit(cache=True, nogil=True)
def rewire(edges: Int32s, bounds: Int64s, communities: Int32s, apart: bool, dice: Dice) -> Bools:
    """Swap ends with random edges of the same group until no edge is a loop or a repeat; degrees stay.

    A swap is made only where both new edges can stay, so the number of others falls. Work is bounded by a
    multiple of the edges; those for which no partner was found by then are returned as bool array (m,).

    Args:
        edges: int32 array (m, 2), group after group, rewired in place; no pair may be in two groups.
        bounds: int64 array (groups + 1,), where the edges of each group start.
        communities: int32 array (n,), the community of each node.
        apart: the ends of an edge must lie in two communities.
        dice: from :func:`dice`.
    """
    stuck = np.zeros(len(edges), dtype=np.bool_)
    longest = 0
    for group in range(len(bounds) - 1):
        longest = max(longest, bounds[group + 1] - bounds[group])
    keys = np.empty(_slots(longest), dtype=np.int64)
    values = np.empty(len(keys), dtype=np.int64)
    used = np.zeros(1, dtype=np.int64)
    for group in range(len(bounds) - 1):
        first, last = bounds[group], bounds[group + 1]
        # A table of the group's own size stays in the cache, and is soon emptied.
        size = _slots(last - first)
        keys[:size] = EMPTY
        values[:size] = 0
        used[0] = 0
        table = PairCounts(keys[:size], values[:size], used)
        _rewire_group(edges[first:last], communities, apart, table, dice, stuck[first:last])
    return stuck


@njit(cache=True, nogil=True)
def _rewire_group(
    edges: Int32s, communities: Int32s, apart: bool, table: PairCounts, dice: Dice, stuck: Bools
) -> None:
    for i in range(len(edges)):
        _count(table, edges[i, 0], edges[i, 1], 1)
    waiting = np.empty(len(edges), dtype=np.int64)
    many = 0
    for i in range(len(edges)):
        if _must_go(table, communities, apart, edges[i, 0], edges[i, 1]):
            waiting[many] = i
            many += 1
    tries = max(_TRIES * len(edges), _TRIES_AT_LEAST)
    patience = max(_FAILURES * len(edges), _TRIES_AT_LEAST)
    at, failures = 0, 0
    while many > 0 and tries > 0 and failures < patience:
        at %= many
        edge = waiting[at]
        settled = not _must_go(table, communities, apart, edges[edge, 0], edges[edge, 1])
        turn = 0
        while not settled and turn < _TRIES_A_TURN:
            settled = _swap(edges, edge, communities, apart, table, dice)
            turn += 1
        tries -= turn
        if settled:
            many -= 1
            waiting[at] = waiting[many]
            failures = 0
        else:
            at += 1
            failures += turn
    for i in range(many):
        u, v = edges[waiting[i], 0], edges[waiting[i], 1]
        if _must_go(table, communities, apart, u, v):
            stuck[waiting[i]] = True
            # Of an edge that occurs twice one may stay.
            _count(table, u, v, -1)


@njit(cache=True, nogil=True)
def _swap(edges: Int32s, edge: int, communities: Int32s, apart: bool, table: PairCounts, dice: Dice) -> bool:
    """Exchange ends with a random edge, if both new edges can stay."""
    place = throw(dice, 2 * len(edges))
    other, end = place // 2, place % 2
    a, b, c, d = edges[edge, 0], edges[edge, 1], edges[other, end], edges[other, 1 - end]
    if other == edge or not (
        _free(table, communities, apart, a, d) and _free(table, communities, apart, c, b)
    ):
        return False
    if a == b and c == d:
        # Of two loops would come one edge twice.
        return False
    _count(table, a, b, -1)
    _count(table, c, d, -1)
    _count(table, a, d, 1)
    _count(table, c, b, 1)
    edges[edge, 1] = d
    edges[other, end], edges[other, 1 - end] = c, b
    return True


@njit(cache=True, nogil=True)
def _must_go(table: PairCounts, communities: Int32s, apart: bool, u: int, v: int) -> bool:
    return u == v or (apart and communities[u] == communities[v]) or _occurrences(table, u, v) > 1


@njit(cache=True, nogil=True)
def _free(table: PairCounts, communities: Int32s, apart: bool, u: int, v: int) -> bool:
    return u != v and not (apart and communities[u] == communities[v]) and _occurrences(table, u, v) == 0


@njit(cache=True, nogil=True)
def _count(table: PairCounts, u: int, v: int, amount: int) -> None:
    count_add(table, np.int64(min(u, v)), np.int64(max(u, v)), amount)


@njit(cache=True, nogil=True)
def _occurrences(table: PairCounts, u: int, v: int) -> int:
    return int(count_of(table, np.int64(min(u, v)), np.int64(max(u, v))))


@njit(cache=True, nogil=True)
def _slots(pairs: int) -> int:
    size = 16
    while size < 4 * pairs:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def _next_word(dice: Dice) -> np.uint64:
    dice[1] += np.uint64(1)
    return draw_key(dice[0], dice[1], 0)  # type: ignore[no-any-return]
