"""The nodes two steps away from some heads, without those that do not count."""

from __future__ import annotations

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Int32s, Int64s
from trueedge.kernels.arrays.threads import run_blocks

# Heads a thread takes at a time.
_HEADS = 64


def two_step_nodes(
    indptr: Int64s, indices: Int32s, heads: Int64s, skip_starts: Int64s, skip: Int64s, room: Int64s
) -> tuple[Int32s, Int64s]:
    """Return the distinct nodes two steps from each head, int32 in the rooms, and their number (q,).

    A head's nodes stand in the order the steps reach them, which depends on the graph alone.

    Args:
        indptr, indices: the CSR adjacency, int64 (n + 1,) and int32 (arcs,).
        heads: int64 (q,).
        skip_starts: int64 (q + 1,), where each head's nodes that do not count start.
        skip: int64, those nodes.
        room: int64 (q + 1,), where each head's place in the answer starts; it must be large enough.
    """
    found = np.empty(room[-1], dtype=np.int32)
    counts = np.zeros(len(heads), dtype=np.int64)

    def work(first: int, last: int, stamp: Int64s) -> None:
        _walk(indptr, indices, heads, skip_starts, skip, room, first, last, stamp, found, counts)

    run_blocks(work, len(heads), _HEADS, lambda: np.full(len(indptr) - 1, -1, dtype=np.int64))
    return found, counts


@njit(cache=True, nogil=True)
def _walk(indptr, indices, heads, skip_starts, skip, room, first, last, stamp, found, counts):  # type: ignore[no-untyped-def]
    """Return some of the heads; a node was seen from a head where its stamp is the head's place."""
    for q in range(first, last):
        for at in range(skip_starts[q], skip_starts[q + 1]):
            stamp[skip[at]] = q
        end = room[q]
        for w in indices[indptr[heads[q]] : indptr[heads[q] + 1]]:
            for node in indices[indptr[w] : indptr[w + 1]]:
                if stamp[node] != q:
                    stamp[node] = q
                    found[end] = node
                    end += 1
        counts[q] = end - room[q]
