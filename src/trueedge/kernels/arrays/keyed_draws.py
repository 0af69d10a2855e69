"""Random draws that depend on a key alone: not on the thread, nor on what was drawn before for others.

The generator is SplitMix64: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Bools, Int32s

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(cache=True, nogil=True)
def draw_key(key: np.uint64, first: int, second: int) -> np.uint64:
    """Return a key for an ordered pair of nodes; (a, b) and (b, a) get unrelated ones."""
    return np.uint64(_mix(_mix(key + np.uint64(first) * _STEP) + np.uint64(second) * _STEP))


@njit(cache=True, nogil=True)
def draw_free(key: np.uint64, taken: Bools, free: int, drawn: Int32s, room: Int32s) -> None:
    """Draw distinct nodes that are not taken, every choice equally likely; they are taken afterwards.

    Args:
        taken: bool array (n,).
        free: how many nodes are not taken, at least as many as are drawn.
        drawn: int32 array (m,), filled.
        room: int32 array (n,), overwritten.
    """
    nodes, need = len(taken), len(drawn)
    state = key
    if (free - need) * 4 >= nodes:
        # At least every fourth node stays free to the end: drawing blindly finds one soon.
        for i in range(need):
            node, state = _below(state, nodes)
            while taken[node]:
                node, state = _below(state, nodes)
            taken[node] = True
            drawn[i] = node
        return
    size = 0
    for node in range(nodes):
        if not taken[node]:
            room[size] = node
            size += 1
    for i in range(need):
        jump, state = _below(state, size - i)
        room[i], room[i + jump] = room[i + jump], room[i]
        taken[room[i]] = True
        drawn[i] = room[i]


@njit(cache=True, nogil=True)
def _below(state: np.uint64, bound: int) -> tuple[int, np.uint64]:
    """Return a number uniform on ``0..bound-1``, bound below 2^32, and the state after it.

    Lemire: Fast Random Integer Generation in an Interval, ACM TOMACS 2019.
    """
    limit = np.uint64(bound)
    unfair = (_LOW_HALF + np.uint64(1) - limit) % limit
    state += _STEP
    product = (_mix(state) >> _32) * limit
    while product & _LOW_HALF < unfair:
        state += _STEP
        product = (_mix(state) >> _32) * limit
    return int(product >> _32), state


@njit(cache=True, nogil=True)
def _mix(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    return word ^ (word >> _31)
