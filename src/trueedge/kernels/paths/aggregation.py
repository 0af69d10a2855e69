"""Messages along typed edges, computed and aggregated without being stored.

Every source (a row of states and the edges of its query) is independent of the others, so threads share
nothing. Gradients compute the messages a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks

Floats = NDArray[np.floating[Any]]
# How a state and a relation become a message.
DISTMULT, TRANSE, ROTATE = 0, 1, 2


class Messages(NamedTuple):
    """The messages of one round.

    Attributes:
        states: float (n, dim).
        relations: float (m, dim).
        source: int32 (k,), the row of ``states`` that each message comes from.
        relation: int32 (k,), the row of ``relations`` that it is combined with.
        ends: int64 (rows + 1,), where the messages of each receiving row begin and end.
        parts: int64 (levels, queries + 1), where the rows of each query begin and end in each level.
    """

    states: Floats
    relations: Floats
    source: Int32s
    relation: Int32s
    ends: Int64s
    parts: Int64s


def sum_messages(given: Messages, kind: int) -> Floats:
    """Return the sum of the messages that each row receives, float (rows, dim).

    Args:
        given: who receives from whom.
        kind: DISTMULT, TRANSE or ROTATE.
    """
    total = np.zeros((len(given.ends) - 1, given.states.shape[1]), dtype=given.states.dtype)
    _run(given, lambda query: _sum(*given, query, kind, total))
    return total


def message_statistics(given: Messages, kind: int) -> tuple[Floats, ...]:
    """Return sum, sum of squares, maximum and minimum, and how many messages attain the last two.

    All are float (rows, dim). A row without messages has a maximum of -inf and a minimum of inf.
    """
    shape, dtype = (len(given.ends) - 1, given.states.shape[1]), given.states.dtype
    first = (0, 0, -np.inf, np.inf, 0, 0)
    found = tuple(np.full(shape, value, dtype) for value in first)
    _run(given, lambda query: _statistics(*given, query, kind, *found))
    return found


def sum_gradients(given: Messages, kind: int, slope: Floats) -> tuple[Floats, Floats]:
    """Return the gradients with respect to states and relations, from that with respect to the sum."""
    by_state, by_relation = np.zeros_like(given.states), np.zeros_like(given.relations)
    _run(given, lambda query: _sum_slopes(*given, query, kind, slope, by_state, by_relation))
    return by_state, by_relation


def statistics_gradients(
    given: Messages, kind: int, slopes: Sequence[Floats], extremes: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the gradients with respect to states and relations.

    Args:
        slopes: with respect to sum, sum of squares, maximum and minimum; the last two already shared among
            the messages that attain them.
        extremes: the maximum and the minimum.
    """
    by_state, by_relation = np.zeros_like(given.states), np.zeros_like(given.relations)
    read = (*slopes, *extremes)
    _run(given, lambda query: _statistics_slopes(*given, query, kind, *read, by_state, by_relation))
    return by_state, by_relation


def _run(given: Messages, work: Callable[[int], object]) -> None:
    def block(first: int, last: int, _: None) -> None:
        for query in range(first, last):
            work(query)

    run_blocks(block, given.parts.shape[1] - 1, 1, lambda: None)


@njit(cache=True, nogil=True, inline="always")
def _message(state: Floats, relation: Floats, kind: int, out: Floats) -> None:
    dim = len(state)
    if kind == 0:
        for j in range(dim):
            out[j] = state[j] * relation[j]
    elif kind == 1:
        for j in range(dim):
            out[j] = state[j] + relation[j]
    else:
        half = dim // 2
        for j in range(half):
            out[j] = state[j] * relation[j] - state[half + j] * relation[half + j]
            out[half + j] = state[j] * relation[half + j] + state[half + j] * relation[j]


@njit(cache=True, nogil=True, inline="always")
def _spread(
    slope: Floats, state: Floats, relation: Floats, kind: int, by_state: Floats, by_relation: Floats
) -> None:
    """Add the gradients of one message."""
    dim = len(state)
    if kind == 0:
        for j in range(dim):
            by_state[j] += slope[j] * relation[j]
            by_relation[j] += slope[j] * state[j]
    elif kind == 1:
        for j in range(dim):
            by_state[j] += slope[j]
            by_relation[j] += slope[j]
    else:
        half = dim // 2
        for j in range(half):
            real, imaginary = slope[j], slope[half + j]
            by_state[j] += real * relation[j] + imaginary * relation[half + j]
            by_state[half + j] += imaginary * relation[j] - real * relation[half + j]
            by_relation[j] += real * state[j] + imaginary * state[half + j]
            by_relation[half + j] += imaginary * state[j] - real * state[half + j]


@njit(cache=True, nogil=True)
def _sum(
    states: Floats,
    relations: Floats,
    source: Int32s,
    relation: Int32s,
    ends: Int64s,
    parts: Int64s,
    query: int,
    kind: int,
    total: Floats,
) -> None:
    dim = states.shape[1]
    received = np.empty(dim, states.dtype)
    for level in range(len(parts)):
        for row in range(parts[level, query], parts[level, query + 1]):
            added = total[row]
            for k in range(ends[row], ends[row + 1]):
                _message(states[source[k]], relations[relation[k]], kind, received)
                for j in range(dim):
                    added[j] += received[j]


@njit(cache=True, nogil=True)
def _statistics(
    states: Floats,
    relations: Floats,
    source: Int32s,
    relation: Int32s,
    ends: Int64s,
    parts: Int64s,
    query: int,
    kind: int,
    total: Floats,
    square: Floats,
    most: Floats,
    least: Floats,
    at_most: Floats,
    at_least: Floats,
) -> None:
    dim = states.shape[1]
    received = np.empty(dim, states.dtype)
    for level in range(len(parts)):
        for row in range(parts[level, query], parts[level, query + 1]):
            for k in range(ends[row], ends[row + 1]):
                _message(states[source[k]], relations[relation[k]], kind, received)
                _add(received, total[row], square[row])
                _keep(received, most[row], at_most[row], least[row], at_least[row])


@njit(cache=True, nogil=True, inline="always")
def _add(received: Floats, total: Floats, square: Floats) -> None:
    for j in range(len(received)):
        total[j] += received[j]
        square[j] += received[j] * received[j]


@njit(cache=True, nogil=True, inline="always")
def _keep(received: Floats, most: Floats, at_most: Floats, least: Floats, at_least: Floats) -> None:
    one = received.dtype.type(1)
    for j in range(len(received)):
        value = received[j]
        # Selections instead of branches, so that the loop is vectorised.
        at_most[j] = one if value > most[j] else at_most[j] + (one if value == most[j] else one - one)
        most[j] = value if value > most[j] else most[j]
        at_least[j] = one if value < least[j] else at_least[j] + (one if value == least[j] else one - one)
        least[j] = value if value < least[j] else least[j]


@njit(cache=True, nogil=True)
def _sum_slopes(
    states: Floats,
    relations: Floats,
    source: Int32s,
    relation: Int32s,
    ends: Int64s,
    parts: Int64s,
    query: int,
    kind: int,
    slope: Floats,
    by_state: Floats,
    by_relation: Floats,
) -> None:
    for level in range(len(parts)):
        for row in range(parts[level, query], parts[level, query + 1]):
            for k in range(ends[row], ends[row + 1]):
                s, r = source[k], relation[k]
                _spread(slope[row], states[s], relations[r], kind, by_state[s], by_relation[r])


@njit(cache=True, nogil=True)
def _statistics_slopes(
    states: Floats,
    relations: Floats,
    source: Int32s,
    relation: Int32s,
    ends: Int64s,
    parts: Int64s,
    query: int,
    kind: int,
    by_total: Floats,
    by_square: Floats,
    by_most: Floats,
    by_least: Floats,
    most: Floats,
    least: Floats,
    by_state: Floats,
    by_relation: Floats,
) -> None:
    dim = states.shape[1]
    received, slope = np.empty(dim, states.dtype), np.empty(dim, states.dtype)
    none, two = states.dtype.type(0), states.dtype.type(2)
    for level in range(len(parts)):
        for row in range(parts[level, query], parts[level, query + 1]):
            for k in range(ends[row], ends[row + 1]):
                s, r = source[k], relation[k]
                _message(states[s], relations[r], kind, received)
                for j in range(dim):
                    slope[j] = (
                        by_total[row, j]
                        + two * received[j] * by_square[row, j]
                        + (by_most[row, j] if received[j] == most[row, j] else none)
                        + (by_least[row, j] if received[j] == least[row, j] else none)
                    )
                _spread(slope, states[s], relations[r], kind, by_state[s], by_relation[r])
