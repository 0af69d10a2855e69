"""Hard training negatives: those that HeaRT would choose for a training edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.negatives import heart
from trueedge.negatives.between import Sides

# HeaRT has 500 negatives per positive, half of them around each end.
AROUND_AN_END = 250


@dataclass(frozen=True)
class HardPartners:
    """The non-neighbours of each node that rank highest by resource allocation and PageRank.

    HeaRT's candidates around an end of a training edge are all non-neighbours of that end, the same for each
    of its edges. So they are found once per node.

    Attributes:
        partners: int32 array (n, h), the hardest first; meaningless for nodes without edges.

    Li et al.: Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023.
    """

    partners: NDArray[np.int32]

    @classmethod
    def of(cls, graph: Graph, seed: int = 0, most: int = AROUND_AN_END) -> Self:
        """Find the hard partners of a training graph.

        Args:
            seed: for partners that no heuristic ranks, which are sampled.
            most: partners per node; fewer for all if one node has fewer non-neighbours.
        """
        nodes = np.flatnonzero(graph.degrees)
        sides = Sides.check(graph.sides, graph, "training")
        others = np.full(graph.num_nodes, graph.num_nodes - 1) if sides is None else sides.opposite
        left = (others - graph.degrees)[nodes]
        half = min(most, int(left.min(initial=most)))
        if half < 1:
            node = int(nodes[left.argmin()])
            name = node if graph.labels is None else repr(graph.labels[node])
            raise InputError(
                f"{graph.name}: node {name} has an edge to every other node"
                f"{'' if sides is None else ' on the other side'}, so it has no hard negatives"
            )
        edges = np.column_stack([nodes, graph.indices[graph.indptr[nodes]]])
        partners = np.zeros((graph.num_nodes, half), dtype=np.int32)
        partners[nodes] = heart(graph, edges, k=2 * half, seed=seed, sides=graph.sides)[:, :half, 1]
        return cls(partners)

    def draw(self, positives: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int64]:
        """Replace a random end of each positive, int (m, 2), by a hard partner of the other: int64 (m, 2)."""
        rows = np.arange(len(positives))
        kept = rng.integers(0, 2, size=len(positives))
        column = rng.integers(0, self.partners.shape[1], size=len(positives))
        drawn = positives.astype(np.int64)
        drawn[rows, 1 - kept] = self.partners[drawn[rows, kept], column]
        return drawn
