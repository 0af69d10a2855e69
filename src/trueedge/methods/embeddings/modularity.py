"""Eigenvectors of the modularity matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.embeddings.spectral import dimension, leading
from trueedge.methods.method import setting


@dataclass(frozen=True)
class SpectralModularity(Embedding):
    """Leading eigenvectors of ``A - d dᵀ / 2m``, times the root of their absolute eigenvalue."""

    name: ClassVar[str] = "modularity"
    title: ClassVar[str] = "Spectral Modularity"
    citation: ClassVar[str] = (
        "Nadakuditi and Newman, Graph Spectra and the Detectability of Community Structure in Networks, 2012"
    )

    products: int = setting(
        30, "matrix products for the eigenvectors; more make the last ones more exact", low=1, high=10000
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return a vector for each node, float64 (n, d)."""
        count = dimension(self.dim, graph.num_nodes)
        values, vectors = leading(ModularityMatrix(graph), count, seed, self.products)
        result: NDArray[np.float64] = vectors * np.sqrt(np.abs(values))
        return result


class ModularityMatrix:
    """The matrix ``A - d dᵀ / 2m`` as an operator; the dense matrix is never stored."""

    def __init__(self, graph: Graph) -> None:
        self.shape = (graph.num_nodes, graph.num_nodes)
        self.adjacency = graph.adjacency()
        self.degrees = graph.degrees.astype(np.float64)
        self.total = max(1.0, self.degrees.sum())

    def __matmul__(self, block: NDArray[np.float64]) -> NDArray[np.float64]:
        expected = np.outer(self.degrees, self.degrees @ block) / self.total
        product: NDArray[np.float64] = self.adjacency @ block - expected
        return product
