"""Fast random projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.embeddings.spectral import dimension
from trueedge.methods.method import setting
from trueedge.randomness import generator

# Up to this many nodes, principal components come from the (nodes x nodes) matrix, else from the columns.
FEW_ROWS = 100


@dataclass(frozen=True)
class FastRP(Embedding):
    """Random vectors, averaged over random walks of up to ``window`` steps.

    ``inner`` random columns are averaged and reduced to their ``dim`` principal components, which takes
    ``4 inner`` bytes per node. With ``inner=0``, ``dim`` random columns are averaged and kept.
    """

    name: ClassVar[str] = "fastrp"
    title: ClassVar[str] = "FastRP"
    citation: ClassVar[str] = (
        "Chen et al., Fast and Accurate Network Embeddings via Very Sparse Random Projection, 2019"
    )

    window: int = setting(5, "largest walk length", low=1, high=100, search=(3, 5, 10))
    beta: float = setting(-1.0, "power of the degree that scales the initial vectors", low=-5.0, high=5.0)
    inner: int = setting(
        2048, "random columns before principal components; 0: no principal components", low=0, high=65536
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float32]:
        """Return a vector for each node, float32 (n, d)."""
        count = dimension(self.dim, graph.num_nodes)
        columns = max(self.inner, count) if self.inner else self.dim
        drawn = generator(seed, "fastrp").standard_normal((graph.num_nodes, columns), dtype=np.float32)
        projected = self.project(graph, drawn)
        return principal_components(projected, count) if self.inner else projected

    def project(self, graph: Graph, drawn: NDArray[np.float32]) -> NDArray[np.float32]:
        """Average initial vectors, float32 (n, c), over walks of 0 to ``window`` steps."""
        from scipy.sparse import csr_array

        degrees = np.maximum(graph.degrees, 1).astype(np.float32)
        steps = (1.0 / np.repeat(degrees, graph.degrees)).astype(np.float32)
        walk = csr_array((steps, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))
        start = walk @ (drawn * (degrees**self.beta)[:, None])
        states = drawn
        for _ in range(self.window):
            states = walk @ states
            states += start
        states /= self.window + 1
        result: NDArray[np.float32] = states
        return result


def principal_components(rows: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Return the first principal components of rows (n, c), float32 (n, count)."""
    from scipy.linalg import eigh

    centred = rows - rows.mean(axis=0)
    if len(rows) <= FEW_ROWS:
        # The same coordinates from the small matrix of the rows' inner products.
        exact = centred.astype(np.float64)
        values, vectors = np.linalg.eigh(exact @ exact.T)
        few: NDArray[np.float64] = vectors * np.sqrt(np.maximum(values, 0.0))
        return few[:, ::-1][:, :count].astype(np.float32)
    last = centred.shape[1] - 1
    covariance = (centred.T @ centred).astype(np.float64)
    _, directions = eigh(covariance, subset_by_index=[max(0, last - count + 1), last])
    coordinates: NDArray[np.float32] = centred @ directions[:, ::-1].astype(np.float32)
    return coordinates
