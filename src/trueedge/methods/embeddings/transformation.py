"""Spectral graph transformations: a kernel of the eigenvalues, its strength learned from hidden edges."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.embeddings.embedding import Embedding
from trueedge.methods.embeddings.spectral import (
    Vectors,
    dimension,
    flipped_pairs,
    laplacian,
    leading,
    normalized_adjacency,
    rayleigh_quotients,
    smoothest,
)
from trueedge.methods.method import setting
from trueedge.randomness import derive, generator

HIDDEN = 1 / 3
PENALTY = 0.01


@dataclass(frozen=True)
class Transformation(Embedding):
    """Eigenvectors times the root of a kernel f of their eigenvalues, so that pairs score ``(U f(Λ) Uᵀ)_uv``.

    A third of the edges outside a spanning forest is hidden. The strength α is fitted so that f of the
    eigenvalues without these edges is close to the eigenvalues with them, both divided by their largest:
    least squares plus 0.01 α². By default the vectors are those without the hidden edges, as published.

    Kunegis and Lommatzsch 2009, "Learning Spectral Graph Transformations for Link Prediction".
    """

    vectors_from: str = setting(
        "shown",
        "eigenvectors of the graph without the hidden edges, or of the whole graph",
        choices=("shown", "whole"),
    )

    @abstractmethod
    def kernel(self, values: Vectors, alpha: float) -> Vectors:
        """Return f of eigenvalues, (k,)."""

    @abstractmethod
    def strengths(self, values: Vectors) -> tuple[float, float]:
        """Return the smallest and the largest α allowed for some eigenvalues."""

    @abstractmethod
    def eigenpairs(self, graph: Graph, count: int, seed: int) -> tuple[Vectors, Vectors]:
        """Return eigenvalues (count,) and eigenvectors (n, count) of the graph's matrix."""

    @abstractmethod
    def matrix(self, graph: Graph) -> Any:
        """Return the graph's matrix, sparse (n, n)."""

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return a vector for each node, float64 (n, d)."""
        count = dimension(self.dim, graph.num_nodes)
        shown, vectors = self.eigenpairs(without_hidden_edges(graph, seed), count, seed)
        whole = rayleigh_quotients(self.matrix(graph), vectors)
        alpha = self.strength(over_largest(shown), over_largest(whole))
        if self.vectors_from == "whole":
            whole, vectors = self.eigenpairs(graph, count, derive(seed, "whole graph"))
        result: NDArray[np.float64] = vectors * np.sqrt(np.abs(self.kernel(over_largest(whole), alpha)))
        return result

    def nearest_strength(self, shown: Vectors, whole: Vectors, start: float = 0.1) -> float:
        """Return the α of the minimum that descent from a start finds."""
        from scipy.optimize import minimize

        def loss(alpha: Vectors) -> float:
            misses = self.kernel(shown, float(alpha[0])) - whole
            return float(np.mean(misses**2) + PENALTY * float(alpha[0]) ** 2)

        found = float(minimize(loss, np.array([start])).x[0])
        return found if np.isfinite(found) else start

    def strength(self, shown: Vectors, whole: Vectors) -> float:
        """Return the α that maps eigenvalues without hidden edges (k,) closest to those with them (k,)."""
        from scipy.optimize import minimize_scalar

        def loss(alpha: float) -> float:
            misses = self.kernel(shown, alpha) - whole
            return float(np.mean(misses**2) + PENALTY * alpha**2)

        low, high = self.strengths(np.concatenate([shown, whole]))
        # The loss may have several minima: a grid finds the best one, which is then refined.
        grid = np.linspace(low, high, 401)
        best = int(np.argmin([loss(alpha) for alpha in grid]))
        around = (grid[max(best - 1, 0)], grid[min(best + 1, 400)])
        return float(minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-6}).x)


@dataclass(frozen=True)
class ExponentialKernel(Transformation):
    """``f(λ) = exp(-α λ)``."""

    citation: ClassVar[str] = (
        "Kondor and Lafferty, Diffusion Kernels on Graphs and Other Discrete Input Spaces, 2002"
    )

    def kernel(self, values: Vectors, alpha: float) -> Vectors:
        """Return f of eigenvalues, (k,)."""
        result: Vectors = np.exp(-alpha * values)
        return result

    def strengths(self, values: Vectors) -> tuple[float, float]:
        """Return -10 and 10, where the penalty alone is 1."""
        del values
        return -10.0, 10.0


@dataclass(frozen=True)
class NeumannKernel(Transformation):
    """``f(λ) = 1 / (1 - α λ)``."""

    citation: ClassVar[str] = "Ito et al., Application of Kernels to Link Analysis, 2005"

    def kernel(self, values: Vectors, alpha: float) -> Vectors:
        """Return f of eigenvalues, (k,)."""
        result: Vectors = 1.0 / (1.0 - alpha * values)
        return result

    def strengths(self, values: Vectors) -> tuple[float, float]:
        """Return bounds that keep all eigenvalues away from the pole of f."""
        lowest, highest = min(values.min(), -0.1), max(values.max(), 0.1)
        return 0.999 / lowest, 0.999 / highest


@dataclass(frozen=True)
class OfLeading(Transformation):
    """A transformation of the eigenvectors with the largest absolute eigenvalues."""

    products: int = setting(
        11, "matrix products for the eigenvectors; more make the last ones more exact", low=1, high=10000
    )

    def eigenpairs(self, graph: Graph, count: int, seed: int) -> tuple[Vectors, Vectors]:
        """Return the eigenpairs of the graph's matrix that are largest in absolute value."""
        return leading(self.matrix(graph), count, seed, self.products)


@dataclass(frozen=True)
class OfAdjacency(OfLeading):
    """A transformation of the adjacency matrix."""

    def matrix(self, graph: Graph) -> Any:
        """Return ``A``."""
        return graph.adjacency()


@dataclass(frozen=True)
class OfNormalized(OfLeading):
    """A transformation of the normalised adjacency, which shares its eigenvectors with the Laplacian."""

    def matrix(self, graph: Graph) -> Any:
        """Return ``D^-1/2 A D^-1/2``."""
        return normalized_adjacency(graph)


@dataclass(frozen=True)
class OfLaplacian(Transformation):
    """A transformation of the Laplacian, with the eigenvectors of its smallest eigenvalues."""

    tolerance: float = setting(0.003, "largest norm of the residual of an eigenpair", low=1e-12, high=1.0)
    variant: str = setting(
        "smoothest",
        "eigenvectors of the smallest eigenvalues, or a truncated SVD as in a version of the published code",
        choices=("smoothest", "published"),
    )

    def matrix(self, graph: Graph) -> Any:
        """Return ``D - A``."""
        return laplacian(graph)

    def eigenpairs(self, graph: Graph, count: int, seed: int) -> tuple[Vectors, Vectors]:
        """Return the eigenpairs with the smallest eigenvalues."""
        return smoothest(graph, count, seed, self.tolerance)

    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.float64]:
        """Return a vector for each node, float64 (n, d)."""
        if self.variant != "published":
            return super().vectors(graph, seed)
        count = dimension(self.dim, graph.num_nodes)
        flipped, vectors = flipped_pairs(without_hidden_edges(graph, seed, tree="minimum"), count, seed)
        whole = over_largest(rayleigh_quotients(self.matrix(graph), vectors))
        # As published: the kernel is fitted from flipped values to unflipped ones, downhill from 0.1.
        alpha = self.nearest_strength(over_largest(flipped), whole)
        result: NDArray[np.float64] = vectors * np.sqrt(np.abs(self.kernel(whole, alpha)))
        return result


@dataclass(frozen=True)
class ExponentialAdjacency(ExponentialKernel, OfAdjacency):
    """The exponential kernel of the adjacency matrix."""

    name: ClassVar[str] = "exp-a"
    title: ClassVar[str] = "Exponential Kernel on the Adjacency"


@dataclass(frozen=True)
class ExponentialLaplacian(ExponentialKernel, OfLaplacian):
    """The exponential kernel of the Laplacian: diffusion."""

    name: ClassVar[str] = "exp-l"
    title: ClassVar[str] = "Exponential Kernel on the Laplacian"


@dataclass(frozen=True)
class ExponentialNormalized(ExponentialKernel, OfNormalized):
    """The exponential kernel of the normalised Laplacian, in terms of the normalised adjacency."""

    name: ClassVar[str] = "exp-nl"
    title: ClassVar[str] = "Exponential Kernel on the Normalised Laplacian"


@dataclass(frozen=True)
class NeumannAdjacency(NeumannKernel, OfAdjacency):
    """The von Neumann kernel of the adjacency matrix: walks of all lengths."""

    name: ClassVar[str] = "vn-a"
    title: ClassVar[str] = "Von Neumann Kernel on the Adjacency"


@dataclass(frozen=True)
class NeumannLaplacian(NeumannKernel, OfLaplacian):
    """The von Neumann kernel of the Laplacian."""

    name: ClassVar[str] = "vn-l"
    title: ClassVar[str] = "Von Neumann Kernel on the Laplacian"


@dataclass(frozen=True)
class NeumannNormalized(NeumannKernel, OfNormalized):
    """The von Neumann kernel of the normalised Laplacian, in terms of the normalised adjacency."""

    name: ClassVar[str] = "vn-nl"
    title: ClassVar[str] = "Von Neumann Kernel on the Normalised Laplacian"


def without_hidden_edges(graph: Graph, seed: int, tree: str = "random") -> Graph:
    """Return the graph without a random third of the edges outside a spanning forest, random or minimum.

    Where these are less than a third of all edges, half of their share is hidden instead.
    """
    from trueedge.kernels.negatives.sampling import distinct
    from trueedge.kernels.neighbors.spanning import spanning_forest

    rng = generator(seed, "spectral transformation", "hidden edges")
    count = graph.num_edges
    order = np.arange(count) if tree == "minimum" else distinct(rng, count, count)
    spare = np.flatnonzero(~spanning_forest(graph.edges, order, graph.num_nodes))
    share = len(spare) / max(1, graph.num_edges)
    hidden = int((HIDDEN if share >= HIDDEN else share / 2) * len(spare))
    keep = np.ones(graph.num_edges, dtype=np.bool_)
    keep[spare[distinct(rng, len(spare), hidden)]] = False
    return graph.only_edges(graph.edges[keep])


def over_largest(values: Vectors) -> Vectors:
    """Divide values by the largest absolute value."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values
