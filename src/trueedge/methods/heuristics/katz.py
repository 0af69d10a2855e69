"""All walks between two nodes, the longer the less they count."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, must_be
from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic, without_rounding_errors
from trueedge.methods.method import setting

# The sum over all walks gains a digit every 1 / (1 - beta λmax) steps: nearer to 1 it would take too many.
SLOWEST = 0.999


@dataclass(frozen=True)
class Katz(Heuristic):
    """Walks of every length, ``Σ_l beta^l (A^l)_uv = ((I − beta A)⁻¹ − I)_uv``, or only those up to a length.

    The sum over all lengths exists only for beta below one over the largest eigenvalue λmax of the adjacency,
    and is solved for one end of every pair, which is work for graphs of up to some ten thousand nodes; larger
    or denser ones take ``max_length``.
    """

    name: ClassVar[str] = "katz"
    title: ClassVar[str] = "Katz Index"
    citation: ClassVar[str] = "Katz, A New Status Index Derived from Sociometric Analysis, 1953"

    beta: float = setting(
        0.005,
        "what a walk loses with each step",
        low=1e-9,
        high=1.0,
        search=(0.0005, 0.001, 0.005, 0.01, 0.05),
    )
    max_length: int | None = setting(
        None, "the longest walks counted; without it, all are", low=1, high=32, optional=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_length is not None and not isinstance(self.max_length, numbers.Integral):
            raise must_be("max_length", self.name, "a whole number", self.max_length)

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        if self.max_length is not None:
            from trueedge.kernels.walks.walks import walk_sums

            lengths = self.beta ** np.arange(1.0, self.max_length + 1)
            return walk_sums(graph.indptr, graph.indices, pairs, lengths, np.ones(graph.num_nodes))
        from trueedge.kernels.walks.katz import katz_sums

        self._check_convergence(graph)
        return without_rounding_errors(katz_sums(graph.indptr, graph.indices, pairs, self.beta))

    def _check_convergence(self, graph: Graph) -> None:
        """Refuse a beta for which the sum over all walks is infinite, or as good as."""
        if self.beta * _eigenvalue_bound(graph) <= SLOWEST:
            return
        growth = self.beta * largest_eigenvalue(graph)
        if growth > SLOWEST:
            what = "diverges" if growth >= 1 else "converges too slowly"
            bound = self.beta / growth
            raise InputError(
                f"katz: with beta {self.beta:g} the sum over all walks of {graph.name} {what}, because "
                f"1 / λmax is {bound:.4g}; take beta below {SLOWEST * bound:.4g}, or set max_length"
            )


def largest_eigenvalue(graph: Graph) -> float:
    """Return the largest eigenvalue of the adjacency matrix."""
    from scipy.sparse.linalg import eigsh

    if graph.num_nodes <= 64:
        return float(np.linalg.eigvalsh(graph.adjacency().toarray())[-1])
    start = graph.degrees + 1.0  # positive, so never orthogonal to the vector looked for, and always the same
    return float(eigsh(graph.adjacency(), k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def _eigenvalue_bound(graph: Graph) -> float:
    """No eigenvalue exceeds the square root of the largest product of the degrees at an edge's ends."""
    degrees = graph.degrees.astype(np.float64)
    return float(np.sqrt((degrees[graph.edges[:, 0]] * degrees[graph.edges[:, 1]]).max(initial=0.0)))
