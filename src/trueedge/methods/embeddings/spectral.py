"""Matrices of a graph, and some of their eigenvectors by sparse products."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.randomness import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vectors = NDArray[np.float64]

# Up to this many nodes, all eigenvectors are computed densely and exactly, in a few megabytes.
DENSE = 800
# Extra vectors that make the last wanted ones more exact.
SPARE = 10
# Products turn all vectors towards the first eigenvector: after this many they are orthogonalised.
PRODUCTS_IN_A_ROW = 3
# Power iterations of the published SVD of the flipped Laplacian.
FLIPPED_ITERATIONS = 7


def dimension(dim: int, num_nodes: int) -> int:
    """Return the number of eigenvectors: at most five fewer than nodes, as in the published runs."""
    return max(1, min(dim, num_nodes - 5))


def normalized_adjacency(graph: Graph) -> csr_array[Any, Any]:
    """Return ``D^-1/2 A D^-1/2``, zero for nodes without edges."""
    from scipy.sparse import csr_array

    scale = inverse_root_degrees(graph)
    values = np.repeat(scale, graph.degrees) * scale[graph.indices]
    return csr_array((values, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))


def laplacian(graph: Graph) -> csr_array[Any, Any]:
    """Return ``D - A``."""
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(graph.degrees.astype(np.float64)) - graph.adjacency())


def inverse_root_degrees(graph: Graph) -> Vectors:
    """Return 1 over the square root of each degree; 1 for a node without edges."""
    roots: Vectors = 1.0 / np.sqrt(np.maximum(graph.degrees, 1))
    return roots


def leading(matrix: Any, count: int, seed: int, products: int) -> tuple[Vectors, Vectors]:
    """Return the eigenpairs of a symmetric matrix that are largest in absolute value, by subspace iteration.

    The first ones are exact to many digits. The last ones, where eigenvalues are close, are mixtures of
    neighbouring eigenvectors unless ``products``, the number of matrix products, is large. The matrix (n, n)
    may be anything with a shape and a product. Returns values (count,), in descending absolute value, and
    vectors (n, count).

    Halko, Martinsson and Tropp 2011, "Finding Structure with Randomness", algorithm 4.4 with a Rayleigh-Ritz
    step, which, unlike singular vectors, keeps an eigenvalue and its negative apart.
    """
    nodes = matrix.shape[0]
    if nodes <= DENSE:
        values, vectors = np.linalg.eigh(matrix @ np.eye(nodes))
    else:
        block = generator(seed, "leading eigenvectors").standard_normal((nodes, min(count + SPARE, nodes)))
        values, vectors = _within(matrix, multiplied(matrix, block, products))
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return values[order], vectors[:, order]


def smoothest(graph: Graph, count: int, seed: int, tolerance: float) -> tuple[Vectors, Vectors]:
    """Return the eigenpairs of the Laplacian with the smallest eigenvalues, including the constant vector.

    The values (count,) ascend; the vectors are (n, count). It stops after thirty steps, or where the norm of
    ``L u - λ u`` is at most ``tolerance``.

    Knyazev 2001, "Toward the Optimal Preconditioned Eigensolver", preconditioned with the degrees.
    """
    matrix = laplacian(graph)
    # The iteration does not accept a block of more than a fifth of all vectors.
    if graph.num_nodes <= max(DENSE, 5 * (count + SPARE)) or graph.num_edges == 0:
        values, vectors = np.linalg.eigh(matrix.toarray())
        return values[:count], vectors[:, :count]
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lobpcg

    block = generator(seed, "smoothest eigenvectors").standard_normal((graph.num_nodes, count + SPARE))
    with warnings.catch_warnings():
        # It warns if the extra vectors have not converged, which does not matter.
        warnings.simplefilter("ignore", UserWarning)
        _, found = lobpcg(
            matrix,
            block,
            M=diags_array(1.0 / np.maximum(graph.degrees, 1)),
            largest=False,
            tol=tolerance,
            maxiter=30,
        )
    values, vectors = _within(matrix, np.linalg.qr(np.asarray(found, dtype=np.float64))[0])
    return values[:count], vectors[:, :count]


def flipped_pairs(graph: Graph, count: int, seed: int) -> tuple[Vectors, Vectors]:
    """Return singular values (count,) and vectors (n, count) of ``λ I - L``, without the first pair.

    λ is the largest eigenvalue of the Laplacian L, so that its smoothest vectors come first. A randomised SVD
    with seven power iterations and ten spare vectors, as in a public version of the published code: far from
    converged where many eigenvalues are close to zero.

    Halko, Martinsson and Tropp 2011, "Finding Structure with Randomness", algorithm 4.4.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import eigsh

    matrix, nodes = laplacian(graph), graph.num_nodes
    largest = float(
        eigsh(matrix, k=1, which="LA", return_eigenvectors=False, v0=np.ones(nodes) + _ramp(nodes))[0]
    )
    flipped = diags_array(np.full(nodes, largest)) - matrix
    wide = min(count + 1 + SPARE, nodes)
    block = flipped @ generator(seed, "flipped pairs").standard_normal((nodes, wide))
    for _ in range(FLIPPED_ITERATIONS):
        block = flipped @ (flipped @ np.linalg.qr(block)[0])
    basis = np.linalg.qr(block)[0]
    _, values, vectors = np.linalg.svd((flipped @ basis).T, full_matrices=False)
    return values[1 : count + 1], vectors[1 : count + 1].T


def _ramp(nodes: int) -> Vectors:
    return np.linspace(-1.0, 1.0, nodes)


def multiplied(matrix: Any, block: Vectors, products: int) -> Vectors:
    """Multiply a block of vectors (n, k) repeatedly, and return an orthonormal basis of the result."""
    for product in range(products):
        if product % PRODUCTS_IN_A_ROW == 0:
            block = _straightened(block)
        block = matrix @ block
    return np.linalg.qr(block)[0]


def rayleigh_quotients(matrix: Any, vectors: Vectors) -> Vectors:
    """Return ``uᵀ M u`` for each column u, float64 (k,)."""
    quotients: Vectors = np.einsum("ij,ij->j", vectors, matrix @ vectors)
    return quotients


def _straightened(block: Vectors) -> Vectors:
    """Return nearly orthonormal vectors of the same span, seven times faster than a QR."""
    try:
        root = np.linalg.cholesky(block.T @ block)
    except np.linalg.LinAlgError:  # the vectors are linearly dependent
        return np.linalg.qr(block)[0]
    straight: Vectors = block @ np.linalg.inv(root).T
    return straight


def _within(matrix: Any, basis: Vectors) -> tuple[Vectors, Vectors]:
    """Return the eigenpairs of a matrix in the subspace of an orthonormal basis, values ascending."""
    small = basis.T @ (matrix @ basis)
    values, turn = np.linalg.eigh((small + small.T) / 2)
    return values, basis @ turn
