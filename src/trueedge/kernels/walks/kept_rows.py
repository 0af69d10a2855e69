"""Rows of scores from one node to all others of a small graph, kept from one call to the next.

Several parts, protocols and checks ask for the same sources on the same training graph, one after the other.
Nodes are numbered anew, so that neighbours are near each other in memory, and sources that are worked on side
by side reach the same nodes; each keeps its neighbours in their order, so sums are the same to the bit.
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
        self._numbering: _Numbering | None = None
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
        with self._lock:
            if self._numbering is None or self._key != (graph_hash, *parameters):
                nodes = len(indptr) - 1
                self._numbering = _Numbering(indptr, indices)
                # The rows are in memory once they are written.
                self._key, self._rows = (graph_hash, *parameters), np.zeros((nodes, nodes))
                self._known = np.zeros(nodes, dtype=np.bool_)
            numbers = self._numbering.numbers
            asked = np.zeros(len(numbers), dtype=np.bool_)
            asked[numbers[sources]] = True
            missing = np.flatnonzero(asked & ~self._known)
            if len(missing):
                adjacency = self._numbering.indptr, self._numbering.indices
                self._fill(*adjacency, missing, self._rows, *parameters)
                self._known[missing] = True
            values: Float64s = self._rows[numbers[sources], numbers[targets]]
        return values


class _Numbering:
    """A graph whose nodes are numbered anew, near each other where they are neighbours.

    Attributes:
        numbers: int64 array (nodes,), the new number of each node.
        indptr: int64 array (nodes + 1,), the row starts of the new adjacency.
        indices: int32 array (arcs,), its columns; neighbours stay in their order.

    Cuthill, McKee: Reducing the Bandwidth of Sparse Symmetric Matrices, ACM 1969.
    """

    def __init__(self, indptr: Int64s, indices: Int32s) -> None:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        nodes, degrees = len(indptr) - 1, np.diff(indptr)
        order = np.arange(nodes)
        if len(indices):
            ones = np.ones(len(indices), dtype=np.int8)
            adjacency = csr_array((ones, indices, indptr), shape=(nodes, nodes))
            order = reverse_cuthill_mckee(adjacency, symmetric_mode=True).astype(np.int64)
        self.numbers = np.empty(nodes, dtype=np.int64)
        self.numbers[order] = np.arange(nodes)
        self.indptr = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(degrees[order], out=self.indptr[1:])
        old_place = np.repeat(indptr[order] - self.indptr[:-1], degrees[order]) + np.arange(len(indices))
        self.indices = self.numbers[indices[old_place]].astype(np.int32)
        # As those of a graph are: the loops are compiled for arrays that are not written to.
        self.indptr.flags.writeable = self.indices.flags.writeable = False
