"""Negatives sampled uniformly, shared by all positives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.negatives.sampling import (
    check_fitting,
    check_redraw,
    free_pairs,
    how_many,
    known_pairs,
    like_positives,
    with_sources_kept,
)
from trueedge.randomness import generator


def uniform(
    graph: Graph,
    positives: ArrayLike,
    ratio: float = 1,
    known: ArrayLike | None = None,
    seed: int = 0,
    redraw: str = "both",
) -> NDArray[np.int32]:
    """Draw negatives uniformly without repetition from all pairs that are not known: int32 (M, 2).

    Every set of M unordered pairs is equally likely, however dense the graph is. A pair gets the direction
    (``u < v`` or ``u > v``) of a random positive, so that direction carries no information.

    Args:
        graph: its edges are never negatives.
        positives: int array (P, 2), never negatives.
        ratio: negatives for each positive; M is ``ratio * P`` to the nearest whole number.
        known: int array (m, 2) of further pairs that are never negatives.
        seed: the same seed gives the same pairs on every machine.
        redraw: ``"target"`` keeps uniformly drawn sources, as in the published runs of the degree-corrected
            benchmark: a node with few free partners is then in as many pairs as others.
    """
    from trueedge.kernels.negatives.sampling import below, distinct

    check_redraw(redraw, "uniform")
    asked, all_known = known_pairs(check_graph(graph, "uniform"), positives, known)
    count = how_many(ratio, asked, "uniform")
    size = graph.num_nodes
    free = size * (size - 1) // 2 - len(all_known)
    if count > free:
        raise InputError(
            f"uniform: {count} negatives are asked for, but {graph.name} has only {free} pairs that are"
            " not known"
        )
    check_fitting(count, "uniform")
    rng = generator(seed, "negatives", "uniform")
    keys = np.empty(0, dtype=np.int64)
    if redraw == "target":
        keys = with_sources_kept(below(rng, size, count), lambda few: below(rng, size, few), all_known)
        all_known = all_known.and_keys(keys)
    pairs = free_pairs(distinct(rng, free - len(keys), count - len(keys)), all_known.keys, size)
    return like_positives(np.concatenate([np.column_stack(np.divmod(keys, size)), pairs]), asked, rng)
