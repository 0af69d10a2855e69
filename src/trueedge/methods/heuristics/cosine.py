"""How alike two nodes' features are: no edge is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic


@dataclass(frozen=True)
class Cosine(Heuristic):
    """The cosine of the angle between feature rows, ``x_u·x_v / (|x_u| |x_v|)``; 0 where a row is zero."""

    name: ClassVar[str] = "cosine"
    title: ClassVar[str] = "Feature Cosine"
    citation: ClassVar[str] = "Salton and McGill, Introduction to Modern Information Retrieval, 1983"
    needs_features: ClassVar[bool] = True

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.arrays.rows import row_products

        assert graph.features is not None  # Heuristic.score refuses a graph without features
        nodes = np.arange(graph.num_nodes)
        with_itself = np.stack([nodes, nodes], axis=1)
        products = row_products(graph.features, np.concatenate([with_itself, pairs]))
        squares, products = products[: len(nodes)], products[len(nodes) :]
        # One root of the product makes the cosine of a row with itself exactly 1.
        norms = np.sqrt(squares[pairs[:, 0]] * squares[pairs[:, 1]])
        return np.divide(products, norms, out=np.zeros(len(pairs)), where=norms > 0)
