"""Partners at two steps from each head, as many as it has positives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.graph import Graph, pair_keys
from trueedge.negatives.sampling import known_pairs
from trueedge.randomness import generator

# Two-step walks counted at a time, so that memory stays flat.
_BLOCK = 1 << 24


def two_hop(
    graph: Graph, positives: ArrayLike, known: ArrayLike | None = None, seed: int = 0
) -> NDArray[np.int32]:
    """For each head as many distinct nodes two steps away as it has positives: int32 (M, 2), M <= P.

    A head (column 0 of the positives) with fewer such nodes gets all of them, one with none gets none. The
    pairs of a head stand together, heads in the order of their first positive. A pair may occur once for
    each of its ends, as heads are ranked one by one.

    Args:
        graph: steps are taken in it, and its edges are never negatives.
        positives: int array (P, 2), never negatives.
        known: int array (m, 2) of further pairs that are never negatives.
        seed: the same seed gives the same pairs on every machine.

    Lv et al. 2021, "Are we really making much progress? Revisiting, benchmarking and refining heterogeneous
    graph neural networks", where partners are drawn with repetition.
    """
    from trueedge.kernels.sampling import words

    asked, all_known = known_pairs(graph, positives, known)
    heads, first, wanted = np.unique(asked[:, 0], return_index=True, return_counts=True)
    order = np.argsort(first)
    heads, wanted = heads[order], wanted[order]
    rng = generator(seed, "negatives", "two-hop")
    drawn = [np.empty((0, 2), dtype=np.int64)]
    for start, rows, nodes in _two_steps(graph, heads):
        pairs = np.column_stack([heads[start + rows], nodes])
        free = (pairs[:, 0] != pairs[:, 1]) & ~all_known.holds(pair_keys(pairs, graph.num_nodes))
        rows, pairs = rows[free], pairs[free]
        shuffled = np.lexsort((words(rng, len(rows)), rows))
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        drawn.append(pairs[shuffled[place < wanted[start + rows]]])
    return np.concatenate(drawn).astype(np.int32)


def _two_steps(
    graph: Graph, heads: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Blocks of heads: where the block starts, and sorted (row in the block, node at the end of two steps)."""
    adjacency = graph.adjacency()
    walks = np.cumsum((adjacency @ graph.degrees.astype(np.float64))[heads])
    start = 0
    while start < len(heads):
        before = walks[start - 1] if start else 0.0
        stop = max(start + 1, int(np.searchsorted(walks, before + _BLOCK, side="right")))
        reached = adjacency[heads[start:stop]] @ adjacency
        reached.sort_indices()
        rows = np.repeat(np.arange(stop - start), np.diff(reached.indptr))
        yield start, rows, reached.indices.astype(np.int64)
        start = stop
