"""Common neighbours, of which the sociable ones count less."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic
from trueedge.methods.method import setting


@dataclass(frozen=True)
class AdamicAdar(Heuristic):
    """The sum of ``1 / max(ln k_w, log_floor)`` over the common neighbours w of u and v.

    With ``log_floor=0`` this is the published index, ``1 / ln k_w``, in which nodes of degree one count
    nothing. The degree-bias study used ``log_floor=1``.
    """

    name: ClassVar[str] = "aa"
    title: ClassVar[str] = "Adamic–Adar"
    citation: ClassVar[str] = "Adamic and Adar, Friends and Neighbors on the Web, 2003"

    log_floor: float = setting(
        0.0, "lower bound of a common neighbour's log degree; 0: the standard index", low=0.0, high=10.0
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_sums

        # One logarithm per possible degree, not per node.
        logs = np.log(np.maximum(np.arange(graph.degrees.max(initial=0) + 1), 1))
        logs = np.maximum(logs, self.log_floor)
        weights = np.divide(1.0, logs, out=np.zeros(len(logs)), where=logs > 0)
        return common_neighbor_sums(graph.indptr, graph.indices, pairs, weights[graph.degrees])
