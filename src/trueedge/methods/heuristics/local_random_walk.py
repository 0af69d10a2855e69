"""How likely a short random walk leads from one node to the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic, without_rounding_errors
from trueedge.methods.method import setting


@dataclass(frozen=True)
class LocalRandomWalk(Heuristic):
    """Visits of a random walk within a few steps, ``(k_u / 2m) Σ_{t=1..steps} (P^t)_uv`` with ``P = D⁻¹A``.

    It is symmetric: a walk from u to v counts 1 over the product of the degrees of its inner nodes, and the
    sum is divided by 2m.
    """

    name: ClassVar[str] = "lrw"
    title: ClassVar[str] = "Local Random Walk"
    citation: ClassVar[str] = "Liu and Lü, Link Prediction Based on Local Random Walk, 2010"

    steps: int = setting(3, "number of steps", low=1, high=100, search=(2, 3, 4, 5))

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.walks.walks import walk_sums

        weights = 1.0 / np.maximum(graph.degrees, 1)
        walks = walk_sums(graph.indptr, graph.indices, pairs, np.ones(self.steps), weights)
        return without_rounding_errors(walks / max(2 * graph.num_edges, 1))
