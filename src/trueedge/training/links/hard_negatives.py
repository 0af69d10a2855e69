"""Training negatives that heuristics find likely: those that HeaRT would judge a training edge against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives import heart

# HeaRT's own number is 500 for a positive, half of them around each end.
AROUND_AN_END = 250


@dataclass(frozen=True)
class HardPartners:
    """The likeliest nodes that each node is not joined to, by resource allocation and PageRank.

    Around an end of a training edge HeaRT's candidates are all nodes that the end is not joined to: whichever
    edge it is, they are the same. So they are found once a node, not once an edge.

    Attributes:
        partners: int32 array (n, h), the hardest first; nodes without an edge have none that counts.

    Li et al.: Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023.
    """

    partners: NDArray[np.int32]

    @classmethod
    def of(cls, graph: Graph, seed: int = 0, most: int = AROUND_AN_END) -> Self:
        """Find them.

        Args:
            graph: the training graph.
            seed: for partners that no heuristic ranks, which are drawn.
            most: how many a node gets; all get fewer where one is not joined to so few.
        """
        nodes = np.flatnonzero(graph.degrees)
        left = graph.num_nodes - 1 - graph.degrees[nodes]
        half = min(most, int(left.min(initial=most)))
        if half < 1:
            node = int(nodes[left.argmin()])
            name = node if graph.labels is None else repr(graph.labels[node])
            raise InputError(
                f"{graph.name}: node {name} is joined to every other, so it has no hard negative"
            )
        edges = np.column_stack([nodes, graph.indices[graph.indptr[nodes]]])
        partners = np.zeros((graph.num_nodes, half), dtype=np.int32)
        partners[nodes] = heart(graph, edges, k=2 * half, seed=seed)[:, :half, 1]
        return cls(partners)

    def draw(self, positives: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return one of the negatives of each positive: an end is kept, the other replaced, int64 (m, 2).

        Args:
            positives: int array (m, 2), edges of the graph.
            rng: where the random numbers come from.
        """
        rows = np.arange(len(positives))
        kept = rng.integers(0, 2, size=len(positives))
        column = rng.integers(0, self.partners.shape[1], size=len(positives))
        drawn = positives.astype(np.int64)
        drawn[rows, 1 - kept] = self.partners[drawn[rows, kept], column]
        return drawn
