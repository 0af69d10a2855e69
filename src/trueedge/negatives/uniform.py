"""Negatives sampled uniformly, shared by all positives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.graph.graph import check_graph
from trueedge.negatives.between import Sides
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
    sides: ArrayLike | None = None,
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
        sides: int array (n,), 0 or 1 for the nodes of a bipartite graph: all negatives join the two sides.
    """
    from trueedge.kernels.negatives.sampling import distinct

    check_redraw(redraw, "uniform")
    asked, all_known = known_pairs(check_graph(graph, "uniform"), positives, known)
    count = how_many(ratio, asked, "uniform")
    size = graph.num_nodes
    two = Sides.check(sides, graph, "uniform")
    if two is None:
        free = size * (size - 1) // 2 - len(all_known)
    else:
        free = two.num_pairs - len(two.taken(all_known.keys))
    if count > free:
        raise InputError(
            f"uniform: {count} negatives are asked for, but {graph.name} has only {free} pairs that are"
            " not known"
        )
    check_fitting(count, "uniform")
    rng = generator(seed, "negatives", "uniform")
    keys = np.empty(0, dtype=np.int64)
    if redraw == "target":
        keys = with_sources_kept(*_random_sources(two, size, count, rng), all_known)
        all_known = all_known.and_keys(keys)
    numbers = distinct(rng, free - len(keys), count - len(keys))
    if two is None:
        pairs = free_pairs(numbers, all_known.keys, size)
    else:
        pairs = two.free_pairs(numbers, two.taken(all_known.keys))
    return like_positives(np.concatenate([np.column_stack(np.divmod(keys, size)), pairs]), asked, rng)


def _random_sources(
    two: Sides | None, size: int, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Callable[[NDArray[np.int64]], NDArray[np.int64]]]:
    """Return random sources, and what draws a random target for each source."""
    from trueedge.kernels.negatives.sampling import below

    if two is None:
        return below(rng, size, count), lambda sources: below(rng, size, len(sources))
    nodes = np.flatnonzero(two.of >= 0)
    drawn = nodes[below(rng, len(nodes), count)] if len(nodes) else nodes
    return drawn, lambda sources: two.across(sources, below(rng, two.opposite[sources], len(sources)))
