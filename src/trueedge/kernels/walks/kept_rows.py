"""Rows of scores from one node to all others of a small graph, kept from one call to the next.

Several parts, protocols and checks ask for the same sources on the same training graph, one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s

# A row for each node of a larger graph would take more than 98 MB.
MOST_NODES = 3_500

# Called with the adjacency (indptr, indices), the sources, a table (n, n) whose rows it fills for them, and
# the parameters of the scores.
Fill = Callable[..., None]


class KeptRows:
    """The rows of the last graph that was asked for, as far as they are known.

    Args:
        fill: computes the rows of some sources.
    """

    def __init__(self, fill: Fill) -> None:
        self._fill = fill
        self._lock = threading.Lock()
        self._key: tuple[str | float, ...] = ()
        self._rows: Float64s = np.empty((0, 0))
        self._known = np.empty(0, dtype=np.bool_)

    def values(
        self,
        graph_hash: str,
        indptr: Int64s,
        indices: Int32s,
        sources: Int64s,
        targets: Int64s,
        *parameters: float,
    ) -> Float64s:
        """Return the score of each source at its target, float64 (n,).

        Args:
            graph_hash: a hash of the adjacency.
            indptr, indices: the CSR adjacency, int64 (nodes + 1,) and int32 (arcs,).
            sources: int64 array (n,).
            targets: int64 array (n,).
            parameters: of the scores.
        """
        nodes = len(indptr) - 1
        asked = np.zeros(nodes, dtype=np.bool_)
        asked[sources] = True
        with self._lock:
            if self._key != (graph_hash, *parameters):
                # The rows are in memory once they are written.
                self._key, self._rows = (graph_hash, *parameters), np.zeros((nodes, nodes))
                self._known = np.zeros(nodes, dtype=np.bool_)
            missing = np.flatnonzero(asked & ~self._known)
            if len(missing):
                self._fill(indptr, indices, missing, self._rows, *parameters)
                self._known[missing] = True
            values: Float64s = self._rows[sources, targets]
        return values
