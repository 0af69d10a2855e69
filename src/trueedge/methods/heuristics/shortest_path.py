"""How near two nodes are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic

ITSELF = 2.0


@dataclass(frozen=True)
class ShortestPath(Heuristic):
    """One over the distance, ``1 / d(u, v)``; 0 where no path joins the nodes, 2 for a node and itself."""

    name: ClassVar[str] = "shortest-path"
    title: ClassVar[str] = "Shortest Path"
    citation: ClassVar[str] = (
        "Liben-Nowell and Kleinberg, The Link Prediction Problem for Social Networks, 2003"
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.bfs import distances

        steps = distances(graph.indptr, graph.indices, pairs)
        scores = np.divide(1.0, steps, out=np.zeros(len(pairs)), where=steps > 0)
        scores[steps == 0] = ITSELF
        return scores
