"""What share of two nodes' neighbours is common to both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic


@dataclass(frozen=True)
class Jaccard(Heuristic):
    """The share of common neighbours, ``|N(u) ∩ N(v)| / |N(u) ∪ N(v)|``; 0 where neither node has any."""

    name: ClassVar[str] = "jaccard"
    title: ClassVar[str] = "Jaccard Index"
    citation: ClassVar[str] = (
        "Jaccard, Étude comparative de la distribution florale dans une portion des Alpes et des Jura, 1901"
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import jaccard_indices

        return jaccard_indices(graph.indptr, graph.indices, pairs)
