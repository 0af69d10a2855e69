"""Laplacian eigenmaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.embeddings.spectral import (
    dimension,
    inverse_root_degrees,
    leading,
    normalized_adjacency,
)
from trueedge.methods.method import setting


@dataclass(frozen=True)
class EigenMap(Embedding):
    """Eigenvectors of ``D^-1/2 A D^-1/2`` without the first, times the root of their absolute eigenvalue.

    Dividing a node's vector by the root of its degree makes them eigenvectors of the random walk.
    """

    name: ClassVar[str] = "eigenmap"
    title: ClassVar[str] = "Laplacian EigenMap"
    citation: ClassVar[str] = (
        "Belkin and Niyogi, Laplacian Eigenmaps for Dimensionality Reduction and Data Representation, 2003"
    )

    products: int = setting(
        11, "matrix products for the eigenvectors; more make the last ones more exact", low=1, high=10000
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return a vector for each node, float64 (n, d)."""
        count = min(dimension(self.dim, graph.num_nodes) + 1, graph.num_nodes)
        values, vectors = leading(normalized_adjacency(graph), count, seed, self.products)
        # The first is trivial: its entries are the roots of the degrees.
        order = np.argsort(-values, kind="stable")[1:]
        scale = inverse_root_degrees(graph)[:, None]
        result: NDArray[np.float64] = scale * vectors[:, order] * np.sqrt(np.abs(values[order]))
        return result
