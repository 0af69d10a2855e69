"""The number of common neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic


@dataclass(frozen=True)
class CommonNeighbors(Heuristic):
    """The number of common neighbours, ``|N(u) ∩ N(v)|``."""

    name: ClassVar[str] = "cn"
    title: ClassVar[str] = "Common Neighbours"
    citation: ClassVar[str] = (
        "Liben-Nowell and Kleinberg, The Link Prediction Problem for Social Networks, 2003"
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_counts

        return common_neighbor_counts(graph.indptr, graph.indices, pairs)
