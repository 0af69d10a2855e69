"""Eigenvectors of the non-backtracking matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.embeddings.spectral import DENSE, SPARE, Vectors, dimension, multiplied
from trueedge.methods.method import setting
from trueedge.randomness import generator


@dataclass(frozen=True)
class NonBacktracking(Embedding):
    """Solutions of ``λ² v - λ A v + (D - I) v = 0``, of unit length, times the root of ``|λ|``.

    They are the eigenvectors of the non-backtracking matrix, which has two rows per edge, summed at the
    nodes. A complex pair gives its real and its imaginary part.
    """

    name: ClassVar[str] = "non-backtracking"
    title: ClassVar[str] = "Non-Backtracking Embedding"
    citation: ClassVar[str] = "Krzakala et al., Spectral Redemption in Clustering Sparse Networks, 2013"

    products: int = setting(
        30, "matrix products for the eigenvectors; more make the last ones more exact", low=1, high=10000
    )

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return a vector for each node, float64 (n, d)."""
        count = dimension(self.dim, graph.num_nodes)
        values, vectors = largest(Companion(graph), count, seed, self.products)
        # Complex pairs stand side by side; the second is the conjugate of the first.
        parts = np.where(values.imag >= 0, vectors.real, vectors.imag)[graph.num_nodes :]
        lengths = np.linalg.norm(parts, axis=0)
        scale = np.sqrt(np.abs(values)) / np.where(lengths > 0, lengths, 1.0)
        result: NDArray[np.float64] = parts * scale
        return result


class Companion:
    """The matrix ``[[0, D - I], [-I, A]]`` of 2n rows as an operator."""

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.num_nodes
        self.shape = (2 * graph.num_nodes, 2 * graph.num_nodes)
        self.adjacency = graph.adjacency()
        self.further = graph.degrees[:, None] - 1.0

    def __matmul__(self, block: Vectors) -> Vectors:
        upper, lower = block[: self.nodes], block[self.nodes :]
        product: Vectors = np.concatenate([self.further * lower, self.adjacency @ lower - upper])
        return product


def largest(
    matrix: Companion, count: int, seed: int, products: int
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the eigenpairs of a nonsymmetric matrix with the largest absolute eigenvalues.

    The values (count,) are in descending order, in a complex pair the one above the real axis first; the
    vectors are (2n, count). ``products`` is as in :func:`leading`.
    """
    rows = matrix.shape[0]
    basis: Vectors = np.eye(rows)
    if rows > DENSE:
        block = generator(seed, "non-backtracking").standard_normal((rows, min(count + SPARE, rows)))
        basis = multiplied(matrix, block, products)
    values, turn = np.linalg.eig(basis.T @ (matrix @ basis))
    values, turn = values.astype(np.complex128), turn.astype(np.complex128)
    # Absolute values of a complex pair may differ in the last bit; rounded, they tie and stay together.
    order = np.lexsort((-values.imag, np.round(-np.abs(values), 9)))[:count]
    return values[order], basis @ turn[:, order]
