"""PageRank rows of a small graph, kept from one call to the next.

Several parts, protocols and checks ask for the same sources on the same training graph, one after the other.
"""

from __future__ import annotations

import threading

import numpy as np

from trueedge.kernels.arrays.dtypes import Float64s, Int32s, Int64s
from trueedge.kernels.walks.push import push_rows

# A row for each node of a larger graph would take more than 72 MB.
MOST_NODES = 3_000

Key = tuple[str, float, float]


class KeptRows:
    """The PageRank rows of the last graph that was asked for, as far as they are known."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Key | None = None
        self._rows: Float64s = np.empty((0, 0))
        self._known = np.empty(0, dtype=np.bool_)

    def values(
        self, key: Key, indptr: Int64s, indices: Int32s, sources: Int64s, starts: Int64s, targets: Int64s
    ) -> Float64s:
        """Return what :func:`trueedge.kernels.walks.push.push_values` does, to the last bit.

        Args:
            key: a hash of the graph, the teleport probability and the error bound.
            indptr, indices, sources, starts, targets: as in ``push_values``.
        """
        nodes = len(indptr) - 1
        with self._lock:
            if self._key != key:
                # The rows are in memory once they are written.
                self._key, self._rows = key, np.zeros((nodes, nodes))
                self._known = np.zeros(nodes, dtype=np.bool_)
            missing = sources[~self._known[sources]]
            if len(missing):
                found = push_rows(indptr, indices, missing, key[1], key[2])
                self._rows[np.repeat(missing, np.diff(found.starts)), found.nodes] = found.scores
                self._known[missing] = True
            values: Float64s = self._rows[np.repeat(sources, np.diff(starts)), targets]
        return values


kept_rows = KeptRows()
