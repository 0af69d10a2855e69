"""Negatives sampled by degree, shared by all positives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph, pair_keys
from trueedge.graph.graph import check_graph
from trueedge.negatives.between import Sides
from trueedge.negatives.sampling import (
    Known,
    check_fitting,
    check_redraw,
    free_pairs,
    how_many,
    known_pairs,
    like_positives,
    with_sources_kept,
)
from trueedge.randomness import generator

# The most draws per round; changing it changes the pairs of a seed.
_ROUND = 1 << 22


def degree_corrected(
    graph: Graph,
    positives: ArrayLike,
    ratio: float = 1,
    known: ArrayLike | None = None,
    seed: int = 0,
    degrees: str = "full",
    redraw: str = "both",
    sides: ArrayLike | None = None,
) -> NDArray[np.int32]:
    """Draw both ends of each negative in proportion to degree, so that degree carries no information: (M, 2).

    Ends are drawn independently; self-loops, known pairs and duplicates are redrawn. If that takes more draws
    than there are free pairs, the rest is drawn from the list of free pairs with the same probabilities, so
    that sampling always ends. A pair gets the direction of a random positive.

    Args:
        graph, positives, ratio, known, seed: as in :func:`trueedge.negatives.uniform`.
        degrees: ``"full"`` counts positives and known pairs as edges too, ``"train"`` only the graph's.
        redraw: which end of a rejected pair is redrawn: ``"both"``, as in Algorithm 1, or only the
            ``"target"``, as in the published runs (up to 30 times).
        sides: int array (n,), 0 or 1 for the nodes of a bipartite graph: one end is drawn on either side.

    Aiyappa et al. 2025, "Implicit Degree Bias in the Link Prediction Task", Algorithm 1.
    """
    if degrees not in ("full", "train"):
        raise must_be("degrees", "degree_corrected", "'full' or 'train'", degrees)
    check_redraw(redraw, "degree_corrected")
    asked, all_known = known_pairs(check_graph(graph, "degree_corrected"), positives, known)
    count = how_many(ratio, asked, "degree_corrected")
    more = all_known.more_pairs if degrees == "full" else np.empty((0, 2), dtype=np.int64)
    degree = graph.degrees + np.bincount(more.ravel(), minlength=graph.num_nodes)
    nodes = np.flatnonzero(degree)
    # A known pair with an end that is never drawn takes nothing from the free ones.
    two = Sides.check(sides, graph, "degree_corrected")
    if two is None:
        taken = len(all_known) - int(np.count_nonzero((degree[all_known.more_pairs] == 0).any(axis=1)))
        free = len(nodes) * (len(nodes) - 1) // 2 - taken
    else:
        two = two.only(degree > 0)
        free = two.num_pairs - len(two.taken(all_known.keys))
    if count > free:
        raise InputError(
            f"degree_corrected: {count} negatives are asked for, but {graph.name} has only {free} pairs that"
            " are not known among the nodes with an edge"
        )
    check_fitting(count, "degree_corrected")
    rng = generator(seed, "negatives", "degree-corrected")
    # The list L of Algorithm 1, each node as often as it has edges, is the list of the edges' ends.
    ends = np.concatenate([graph.edges.ravel(), more.ravel().astype(np.int32)])
    keys = np.empty(0, dtype=np.int64)
    drawing = _Ends(ends, rng) if two is None else _EndsOnSides(ends, rng, two)
    if redraw == "target":
        keys = with_sources_kept(drawing.sources(count), drawing.targets, all_known)
    keys = _drawn_by_rejection(drawing, all_known, keys, count, free)
    if len(keys) < count:
        if two is None:
            pairs = nodes[free_pairs(np.arange(free), _within(all_known, nodes), len(nodes))]
        else:
            pairs = two.free_pairs(np.arange(free), two.taken(all_known.keys))
        keys = _drawn_from_list(pairs, degree, keys, count, graph.num_nodes, rng)
    return like_positives(np.column_stack(np.divmod(keys, graph.num_nodes)), asked, rng)


def _within(known: Known, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted keys of the known pairs among some nodes, in the nodes' own numbering."""
    size = known.graph.num_nodes
    place = np.full(size, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    u, v = (place[end] for end in np.divmod(known.keys, size))
    inside = (u >= 0) & (v >= 0)
    return u[inside] * len(nodes) + v[inside]


class _Ends:
    """Draws nodes in proportion to their degrees, from the list of the edges' ends."""

    def __init__(self, ends: NDArray[np.int32], rng: np.random.Generator) -> None:
        self.ends, self.rng = ends, rng

    def sources(self, count: int) -> NDArray[np.int64]:
        """Return so many nodes, int64 (count,)."""
        return _drawn(self.ends, count, self.rng)

    def targets(self, sources: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a node for each source."""
        return _drawn(self.ends, len(sources), self.rng)

    def pairs(self, count: int) -> NDArray[np.int64]:
        """Return so many pairs, int64 (count, 2)."""
        return _drawn(self.ends, 2 * count, self.rng).reshape(count, 2)


class _EndsOnSides(_Ends):
    """Draws one node on either side of a bipartite graph, in proportion to degrees."""

    def __init__(self, ends: NDArray[np.int32], rng: np.random.Generator, two: Sides) -> None:
        super().__init__(ends[two.of[ends] >= 0], rng)
        self.two, self.on = two, tuple(ends[two.of[ends] == side] for side in (0, 1))

    def targets(self, sources: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a node on the other side of each source."""
        found = np.empty(len(sources), dtype=np.int64)
        for side in (0, 1):
            rows = self.two.of[sources] == side
            found[rows] = _drawn(self.on[1 - side], int(rows.sum()), self.rng)
        return found

    def pairs(self, count: int) -> NDArray[np.int64]:
        """Return so many pairs that join the two sides."""
        return np.column_stack([_drawn(ends, count, self.rng) for ends in self.on])


def _drawn_by_rejection(
    drawing: _Ends, known: Known, keys: NDArray[np.int64], count: int, free: int
) -> NDArray[np.int64]:
    """Return keys of distinct free pairs in order; stops early once a list would be cheaper."""
    draws = 0
    while len(keys) < count and draws <= free:
        missing = count - len(keys)
        size = min(max(missing + missing // 8 + 64, draws), _ROUND)
        draws += size
        pairs = drawing.pairs(size)
        drawn = pair_keys(pairs[pairs[:, 0] != pairs[:, 1]], known.graph.num_nodes)
        distinct, first = np.unique(np.concatenate([keys, drawn]), return_index=True)
        fresh = ~known.holds(distinct)
        # The places of first occurrences give back the order of drawing.
        order = np.argsort(first[fresh])
        keys = distinct[fresh][order][:count]
    return keys


def _drawn(ends: NDArray[np.int32], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return so many nodes, each in proportion to its degree: int64 (count,)."""
    from trueedge.kernels.negatives.sampling import below

    return ends[below(rng, len(ends), count)].astype(np.int64)


def _drawn_from_list(
    pairs: NDArray[np.int64],
    degree: NDArray[np.int64],
    drawn: NDArray[np.int64],
    count: int,
    num_nodes: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return more keys, in proportion to the product of degrees among the pairs that are not yet drawn."""
    from trueedge.kernels.negatives.sampling import below, first_occurrences

    keys = pair_keys(pairs, num_nodes)
    weights = degree[pairs[:, 0]] * degree[pairs[:, 1]]
    while len(drawn) < count:
        left = ~np.isin(keys, drawn)
        keys, weights = keys[left], weights[left]
        # As many draws as pairs are left: those drawn often leave the list, so the rare ones have their turn.
        ends = np.cumsum(weights)
        at = np.searchsorted(ends, below(rng, int(ends[-1]), len(keys)), side="right")
        drawn = np.concatenate([drawn, first_occurrences(keys[at])])[:count]
    return drawn
