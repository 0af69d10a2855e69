"""Pairs gathered by one of their ends, so that a kernel prepares each end once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from trueedge.kernels.arrays.dtypes import Int64s
from trueedge.kernels.arrays.threads import thread_count

# Blocks a thread gets: enough that an unlucky block does not hold up the rest, few enough that the
# scratch each one allocates costs nothing.
BLOCKS_PER_THREAD = 4


class Groups(NamedTuple):
    """Positions gathered by key.

    Attributes:
        keys: int64 array (g,), the distinct keys, ascending.
        starts: int64 array (g + 1,): group i holds ``order[starts[i]:starts[i + 1]]``.
        order: int64 array (n,), the positions, ascending within a group.
    """

    keys: Int64s
    starts: Int64s
    order: Int64s


def group_by(keys: NDArray[np.integer[Any]], num_keys: int) -> Groups:
    """Gather positions by key, in time linear in positions and keys.

    Args:
        keys: int array (n,), each in ``0..num_keys-1``.
        num_keys: how many keys there can be.
    """
    counts = np.bincount(keys, minlength=num_keys)
    ends = np.cumsum(counts)
    order = np.empty(len(keys), dtype=np.int64)
    _place(keys, ends - counts, order)
    present = np.flatnonzero(counts)
    starts = np.zeros(len(present) + 1, dtype=np.int64)
    starts[1:] = ends[present]
    return Groups(present, starts, order)


def num_blocks(num_groups: int) -> int:
    """Return into how many blocks to deal groups: block b takes groups b, b + blocks, b + 2 blocks, …

    Dealing keeps the blocks even where neighbouring groups are alike; what is computed for a group never
    depends on its block, so results do not depend on the number of threads.
    """
    return max(1, min(num_groups, BLOCKS_PER_THREAD * thread_count()))


@njit(cache=True, nogil=True)
def _place(keys: NDArray[Any], cursor: Int64s, order: Int64s) -> None:
    for position in range(len(keys)):
        key = keys[position]
        order[cursor[key]] = position
        cursor[key] += 1
