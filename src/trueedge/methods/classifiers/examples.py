"""Training examples of classifiers: pairs, with their features on a graph without these edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge import negatives
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.randomness import derive, generator

Features = Callable[[Graph, NDArray[np.int64]], NDArray[np.float64]]
SAMPLERS: dict[str, Callable[..., NDArray[np.int32]]] = {
    "uniform": negatives.uniform,
    "degree-corrected": negatives.degree_corrected,
}
# As in the paper, a validation set is a tenth of the edges.
FOLDS = 10


@dataclass(frozen=True, eq=False)
class Examples:
    """Labelled pairs with their features.

    Attributes:
        positives: int64 (p, 2), edges of the training graph.
        negatives: int64 (q, 2), sampled pairs that are not edges.
        features: float64 (p + q, d), those of the positives first.
    """

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    features: NDArray[np.float64]

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The positives, then the negatives, int64 (p + q, 2)."""
        return np.concatenate([self.positives, self.negatives])

    @property
    def labels(self) -> NDArray[np.float64]:
        """1 for each positive, 0 for each negative, float64 (p + q,)."""
        return np.repeat([1.0, 0.0], [len(self.positives), len(self.negatives)])


def folds(graph: Graph, features: Features, sampler: str, seed: int) -> list[Examples]:
    """Divide the edges of a training graph into ten folds, each with as many sampled negatives.

    The features of a fold are computed on the graph without its edges; otherwise they would reveal the edge.
    Removing one edge at a time is not enough: where degrees vary little, its ends would stand out by their
    missing neighbour. ``sampler`` is one of ``SAMPLERS``.
    """
    if graph.num_edges == 0:
        raise InputError(f"{graph.name} has no training edges")
    order = generator(seed, "classifier", "folds").permutation(graph.num_edges)
    count = min(FOLDS, graph.num_edges)
    found = []
    for number in range(count):
        hidden = np.zeros(graph.num_edges, dtype=np.bool_)
        hidden[order[number::count]] = True
        rest = graph.only_edges(graph.edges[~hidden])
        positives = graph.edges[hidden].astype(np.int64)
        drawn = SAMPLERS[sampler](
            rest, positives, known=positives, seed=derive(seed, "classifier", number), sides=graph.sides
        )
        pairs = np.concatenate([positives, drawn.astype(np.int64)])
        found.append(Examples(positives, pairs[len(positives) :], features(rest, pairs)))
    return found


def seen(graph: Graph, features: Features, sampler: str, seed: int) -> list[Examples]:
    """Return all edges with as many sampled negatives, and features on the graph that contains the edges.

    The features reveal the edges: for comparison with published values alone.
    """
    if graph.num_edges == 0:
        raise InputError(f"{graph.name} has no training edges")
    positives = graph.edges.astype(np.int64)
    drawn = SAMPLERS[sampler](
        graph, positives, known=positives, seed=derive(seed, "classifier", "seen"), sides=graph.sides
    )
    pairs = np.concatenate([positives, drawn.astype(np.int64)])
    return [Examples(positives, pairs[len(positives) :], features(graph, pairs))]


def together(parts: list[Examples]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the features and labels of several folds, float64 (n, d) and (n,)."""
    return np.concatenate([one.features for one in parts]), np.concatenate([one.labels for one in parts])


def degrees(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the product, the sum, the smaller and the larger of the two degrees, float64 (n, 4)."""
    ends = graph.degrees.astype(np.float64)[pairs]
    return np.column_stack([ends.prod(axis=1), ends.sum(axis=1), ends.min(axis=1), ends.max(axis=1)])


def topology(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Adamic–Adar (with log_floor=1), Jaccard, resource allocation, local random walk: (n, 4)."""
    from trueedge.methods.heuristics.adamic_adar import AdamicAdar
    from trueedge.methods.heuristics.jaccard import Jaccard
    from trueedge.methods.heuristics.local_random_walk import LocalRandomWalk
    from trueedge.methods.heuristics.resource_allocation import ResourceAllocation

    indices = (AdamicAdar(log_floor=1.0), Jaccard(), ResourceAllocation(), LocalRandomWalk())
    return np.column_stack([index.score(graph, pairs) for index in indices])


def topology_and_degrees(graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the four of :func:`topology`, then the product of the degrees, float64 (n, 5)."""
    return np.column_stack([topology(graph, pairs), degrees(graph, pairs)[:, 0]])
