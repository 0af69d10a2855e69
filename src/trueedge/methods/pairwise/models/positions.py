"""Positional encodings of nodes, and principal components of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.spectral import leading, normalized_adjacency
from trueedge.methods.embeddings.walk_vectors import WalkVectors
from trueedge.randomness import generator

# Products with the matrix: what varies quickly over the graph is damped by ((1 + λ) / 2)^products.
PRODUCTS = 90
SPARE = 10
POWERS = 4


def laplacian_positions(graph: Graph, dim: int, seed: int) -> NDArray[np.float32]:
    """Return eigenvectors of the normalised Laplacian with the smallest eigenvalues, without the first.

    Rows are scaled to length 1, or zero for isolated nodes; missing columns are zero: float32 (n, dim).
    """
    from scipy.sparse import csr_array, eye_array

    nodes = graph.num_nodes
    found = np.zeros((nodes, dim), dtype=np.float32)
    # Shifted, so that the smoothest eigenvectors have the largest absolute eigenvalues.
    shifted = csr_array(normalized_adjacency(graph) + eye_array(nodes))
    _, vectors = leading(shifted, min(dim + 1, nodes), seed, PRODUCTS)
    vectors = vectors[:, 1:] * (graph.degrees > 0)[:, None]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    found[:, : vectors.shape[1]] = vectors / np.where(norms > 0, norms, 1.0)
    return found


def walk_positions(graph: Graph, dim: int, seed: int, passes: int = 1, noise: int = 0) -> NDArray[np.float32]:
    """Return vectors of nodes from random walks, float32 (n, dim).

    Args:
        graph: the graph.
        dim: the size of a vector.
        seed: for the walks and the vectors.
        passes: passes over all nodes, each with new walks.
        noise: noise nodes per pair, in addition to the tree.

    Perozzi, Al-Rfou, Skiena: DeepWalk: Online Learning of Social Representations, KDD 2014.
    """
    learner = WalkVectors(
        dim=dim, walks=10, length=80, window=5, hierarchical=True, negatives=noise, epochs=passes
    )
    return learner.of(graph, seed)


def principal_components(features: Any, dim: int, seed: int) -> NDArray[np.float32]:
    """Return the principal components of features (n, d), float32 (n, dim); all features if d or n <= dim.

    Halko, Martinsson, Tropp: Finding Structure with Randomness, SIAM Review 2011.
    """
    from scipy.sparse import csr_array

    nodes, size = features.shape
    # Kept sparse: the mean is subtracted from each product instead.
    matrix = csr_array(features, dtype=np.float64)
    if min(nodes, size) <= dim:
        return np.asarray(matrix.toarray(), dtype=np.float32)
    mean = np.asarray(matrix.sum(axis=0)).reshape(1, -1) / nodes
    count = min(dim + SPARE, nodes, size)
    block = generator(seed, "principal components").standard_normal((size, count))
    for _ in range(POWERS):
        left = np.linalg.qr(matrix @ block - mean @ block)[0]
        block = np.linalg.qr(matrix.T @ left - mean.T @ left.sum(axis=0, keepdims=True))[0]
    image = matrix @ block - mean @ block
    vectors, values, _ = np.linalg.svd(image, full_matrices=False)
    return np.asarray(vectors[:, :dim] * values[:dim], dtype=np.float32)
