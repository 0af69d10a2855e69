"""Common neighbours, with walks of three steps to tell apart the pairs that have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic
from trueedge.methods.method import setting


@dataclass(frozen=True)
class LocalPath(Heuristic):
    """Walks of length two and, with a small weight, of length three: ``(A²)_uv + epsilon (A³)_uv``."""

    name: ClassVar[str] = "lpi"
    title: ClassVar[str] = "Local Path Index"
    citation: ClassVar[str] = (
        "Lü, Jin and Zhou, Similarity Index Based on Local Paths for Link Prediction of Complex Networks, "
        "2009"
    )

    epsilon: float = setting(
        0.001, "weight of walks of length three", low=0.0, high=1.0, search=(0.0001, 0.001, 0.01)
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.walks.walks import walk_sums

        lengths = np.array([0.0, 1.0, self.epsilon])
        return walk_sums(graph.indptr, graph.indices, pairs, lengths, np.ones(graph.num_nodes))
