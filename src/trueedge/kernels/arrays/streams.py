"""Random numbers one after the other, from a state that a key starts.

The generator is SplitMix64: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(cache=True, nogil=True)
def next_below(state: np.uint64, bound: int) -> tuple[np.int64, np.uint64]:
    """Return a number from ``0..bound-1`` and the state after it.

    Numbers differ in their chances by less than ``bound / 2^32``, which is not corrected: it is for shuffles
    and samples of millions, where the correction would take longer than the number.
    """
    state += _STEP
    word = (state ^ (state >> _30)) * _MIX_1
    word = (word ^ (word >> _27)) * _MIX_2
    word ^= word >> _31
    # Without the widths the compiler would mix signed and unsigned numbers to floats.
    return np.int64(((word >> _32) * np.uint64(bound)) >> _32), state
