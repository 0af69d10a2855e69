"""All candidates of nodes, for recommendation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.graph import Graph, as_nodes
from trueedge.graph.graph import check_graph
from trueedge.negatives.between import Sides
from trueedge.negatives.sampling import known_pairs

# Cells marked at a time, to bound the memory.
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of some nodes, in rows of different length.

    Attributes:
        nodes: int32 (q,), the nodes.
        indptr: int64 (q + 1,), where the candidates of each start.
        candidates: int32, ascending for each node.
    """

    nodes: NDArray[np.int32]
    indptr: NDArray[np.int64]
    candidates: NDArray[np.int32]

    def of(self, row: int) -> NDArray[np.int32]:
        """Return the candidates of the row-th node that is asked."""
        return self.candidates[self.indptr[row] : self.indptr[row + 1]]


def full(
    graph: Graph, nodes: ArrayLike, known: ArrayLike | None = None, sides: ArrayLike | None = None
) -> Candidates:
    """Return for each node all other nodes except its known neighbours.

    The result has about q times n entries: process a large graph in blocks.

    Args:
        graph: its edges are excluded.
        nodes: int array (q,), in any order.
        known: int array (m, 2), further pairs to exclude.
        sides: int array (n,), 0 or 1 for the nodes of a bipartite graph: candidates are on the other side.
    """
    check_graph(graph, "full")
    asked = as_nodes(nodes, graph.num_nodes)
    indptr, partners = known_pairs(graph, [], known)[1].partners(asked)
    size = graph.num_nodes
    two = Sides.check(sides, graph, "full")
    counts = size - np.diff(indptr)
    if two is not None:
        lists = np.repeat(np.arange(len(asked)), np.diff(indptr))
        over = two.joined(np.column_stack([asked[lists], partners]))
        counts = two.opposite[asked] - np.bincount(lists[over], minlength=len(asked))
    starts = np.zeros(len(asked) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    candidates = np.empty(starts[-1], dtype=np.int32)
    step = max(1, _BLOCK // size)
    for start in range(0, len(asked), step):
        stop = min(start + step, len(asked))
        free = np.ones((stop - start, size), dtype=np.bool_)
        lists = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
        free[lists, partners[indptr[start] : indptr[stop]]] = False
        if two is not None:
            own = two.of[asked[start:stop]]
            free &= (two.of[None, :] == 1 - own[:, None]) & (own >= 0)[:, None]
        candidates[starts[start] : starts[stop]] = np.nonzero(free)[1]
    return Candidates(asked.astype(np.int32), starts, candidates)
