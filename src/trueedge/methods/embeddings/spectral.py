"""Matrices of a graph and some of their eigenvectors, from sparse products alone."""

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

# Up to so many nodes all eigenvectors are computed densely: a megabyte or five, and exact.
DENSE = 800
# Extra vectors that are computed too: they take the error that the last ones would have.
SPARE = 10
# Between two products vectors lean towards the first eigenvector: after so many they are straightened out.
PRODUCTS_IN_A_ROW = 3


def dimension(dim: int, num_nodes: int) -> int:
    """How many eigenvectors a graph gets: at most five fewer than it has nodes, as in the published runs."""
    return max(1, min(dim, num_nodes - 5))


def normalized_adjacency(graph: Graph) -> csr_array[Any, Any]:
    """``D^-1/2 A D^-1/2``, zero for nodes without an edge."""
    from scipy.sparse import csr_array

    scale = inverse_root_degrees(graph)
    values = np.repeat(scale, graph.degrees) * scale[graph.indices]
    return csr_array((values, graph.indices, graph.indptr), shape=(graph.num_nodes, graph.num_nodes))


def laplacian(graph: Graph) -> csr_array[Any, Any]:
    """``D - A``."""
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(graph.degrees.astype(np.float64)) - graph.adjacency())


def inverse_root_degrees(graph: Graph) -> Vectors:
    """Return one over the square root of each degree; one for a node without an edge."""
    roots: Vectors = 1.0 / np.sqrt(np.maximum(graph.degrees, 1))
    return roots


def leading(matrix: Any, count: int, seed: int, products: int) -> tuple[Vectors, Vectors]:
    """Return the eigenpairs of a symmetric matrix that are largest in absolute value, by subspace iteration.

    The first are exact to many digits; the last ones, where eigenvalues lie close, are mixtures of
    neighbours unless ``products`` is large.

    Args:
        matrix: sparse matrix (n, n), or anything with a shape that multiplies blocks of vectors.
        count: how many, n at most.
        seed: for the first vectors.
        products: how often a block of random vectors is multiplied.

    Returns:
        values (count,), from the largest in absolute value on, and vectors (n, count).

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
    """Return the eigenpairs of the Laplacian with the smallest eigenvalues, the constant vector's among them.

    Args:
        graph: the graph.
        count: how many, n at most.
        seed: for the first vectors.
        tolerance: the norm of ``L u - λ u`` that is left of an eigenpair.

    Returns:
        values (count,), ascending, and vectors (n, count).

    Knyazev 2001, "Toward the Optimal Preconditioned Eigensolver", preconditioned with the degrees, so that
    hubs slow nothing down; it ends after thirty steps.
    """
    matrix = laplacian(graph)
    # A block of a fifth of all vectors is as dense as the matrix, and the iteration would not take it.
    if graph.num_nodes <= max(DENSE, 5 * (count + SPARE)) or graph.num_edges == 0:
        values, vectors = np.linalg.eigh(matrix.toarray())
        return values[:count], vectors[:, :count]
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import lobpcg

    block = generator(seed, "smoothest eigenvectors").standard_normal((graph.num_nodes, count + SPARE))
    with warnings.catch_warnings():
        # It warns where the extra vectors have not converged, which does not matter.
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


def multiplied(matrix: Any, block: Vectors, products: int) -> Vectors:
    """Return an orthonormal basis of what a block of vectors becomes by repeated products.

    Args:
        matrix: what multiplies blocks (n, k).
        block: float64 array (n, k).
        products: how often it is multiplied.
    """
    for product in range(products):
        if product % PRODUCTS_IN_A_ROW == 0:
            block = _straightened(block)
        block = matrix @ block
    return np.linalg.qr(block)[0]


def rayleigh_quotients(matrix: Any, vectors: Vectors) -> Vectors:
    """``uᵀ M u`` for each column, (k,)."""
    quotients: Vectors = np.einsum("ij,ij->j", vectors, matrix @ vectors)
    return quotients


def _straightened(block: Vectors) -> Vectors:
    """Return vectors of the same span that are nearly orthonormal, at a seventh of the price of a QR."""
    try:
        root = np.linalg.cholesky(block.T @ block)
    except np.linalg.LinAlgError:  # the vectors do not span as many dimensions as they are
        return np.linalg.qr(block)[0]
    straight: Vectors = block @ np.linalg.inv(root).T
    return straight


def _within(matrix: Any, basis: Vectors) -> tuple[Vectors, Vectors]:
    """Return the eigenpairs of a matrix within a subspace with an orthonormal basis, values ascending."""
    small = basis.T @ (matrix @ basis)
    values, turn = np.linalg.eigh((small + small.T) / 2)
    return values, basis @ turn
