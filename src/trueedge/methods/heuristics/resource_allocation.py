"""Common neighbours, each of which shares one unit among all its own neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic


@dataclass(frozen=True)
class ResourceAllocation(Heuristic):
    """The sum of ``1 / k_w`` over the common neighbours w of u and v."""

    name: ClassVar[str] = "ra"
    title: ClassVar[str] = "Resource Allocation"
    citation: ClassVar[str] = "Zhou, Lü and Zhang, Predicting Missing Links via Local Information, 2009"

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_sums

        weights = 1.0 / np.maximum(graph.degrees, 1)
        return common_neighbor_sums(graph.indptr, graph.indices, pairs, weights)
