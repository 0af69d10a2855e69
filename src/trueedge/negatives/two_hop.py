"""Negatives two steps away from each head, as many as it has positives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.negatives.sampling import Known, known_pairs
from trueedge.randomness import generator

# Candidates listed at a time; changing it changes the pairs of a seed.
_BLOCK = 1 << 24


def two_hop(
    graph: Graph, positives: ArrayLike, known: ArrayLike | None = None, seed: int = 0
) -> NDArray[np.int32]:
    """Draw for each head as many distinct nodes two steps away as it has positives: int32 (M, 2), M <= P.

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
    from trueedge.kernels.negatives.sampling import distinct_in_rows

    asked, all_known = known_pairs(check_graph(graph, "two_hop"), positives, known)
    heads, first, wanted = np.unique(asked[:, 0], return_index=True, return_counts=True)
    order = np.argsort(first)
    heads, wanted = heads[order], wanted[order]
    rng = generator(seed, "negatives", "two-hop")
    drawn = [np.empty((0, 2), dtype=np.int32)]
    for start, nodes, room, free in _candidates(graph, heads, all_known):
        counts = np.minimum(wanted[start : start + len(free)], free)
        numbers = distinct_in_rows(rng, free, counts)
        tails = nodes[np.repeat(room[:-1], counts) + numbers]
        drawn.append(np.column_stack([np.repeat(heads[start : start + len(free)], counts), tails]))
    return np.concatenate(drawn, dtype=np.int32, casting="same_kind")


def _candidates(
    graph: Graph, heads: NDArray[np.int64], known: Known
) -> Iterator[tuple[int, NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]]:
    """Yield blocks of heads: first position, nodes two steps away, where each head's start, their number."""
    from trueedge.kernels.neighbors.two_steps import two_step_nodes

    degrees = np.concatenate([[0], np.cumsum(graph.degrees[graph.indices])])
    walks = degrees[graph.indptr[heads + 1]] - degrees[graph.indptr[heads]]
    room = np.concatenate([[0], np.cumsum(np.minimum(walks, graph.num_nodes))])
    start = 0
    while start < len(heads):
        stop = max(start + 1, int(np.searchsorted(room, room[start] + _BLOCK, side="right")) - 1)
        block = heads[start:stop]
        rooms = room[start : stop + 1] - room[start]
        nodes, counts = two_step_nodes(graph.indptr, graph.indices, block, *known.partners(block), rooms)
        yield start, nodes, rooms, counts
        start = stop
