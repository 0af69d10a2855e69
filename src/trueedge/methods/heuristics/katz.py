"""The Katz index: all walks between two nodes, damped by length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic, without_rounding_errors
from trueedge.methods.method import setting

# The sum gains a digit every 1 / (1 - beta λmax) steps, so beta λmax must not be closer to 1 than this.
SLOWEST = 0.999


@dataclass(frozen=True)
class Katz(Heuristic):
    """The number of walks of each length, damped: ``Σ_l beta^l (A^l)_uv = ((I − beta A)⁻¹ − I)_uv``.

    The sum converges only for beta below 1 / λmax, with the largest eigenvalue λmax of the adjacency matrix.
    It takes one linear solve per node, which is fine for up to about ten thousand nodes; for larger or denser
    graphs, set ``max_length``.
    """

    name: ClassVar[str] = "katz"
    title: ClassVar[str] = "Katz Index"
    citation: ClassVar[str] = "Katz, A New Status Index Derived from Sociometric Analysis, 1953"

    beta: float = setting(
        0.005,
        "damping factor per step",
        low=1e-9,
        high=1.0,
        search=(0.0005, 0.001, 0.005, 0.01, 0.05),
    )
    max_length: int | None = setting(
        None, "largest walk length; None: walks of all lengths", kind=int, low=1, high=32, optional=True
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        if self.max_length is not None:
            from trueedge.kernels.walks.walks import walk_sums

            lengths = self.beta ** np.arange(1.0, self.max_length + 1)
            return walk_sums(graph.indptr, graph.indices, pairs, lengths, np.ones(graph.num_nodes))
        from trueedge.kernels.walks.katz import katz_sums, kept_rows
        from trueedge.kernels.walks.kept_rows import MOST_NODES

        self._check_convergence(graph)
        if graph.num_nodes > MOST_NODES:
            return without_rounding_errors(katz_sums(graph.indptr, graph.indices, pairs, self.beta))
        first, second = pairs.min(axis=1), pairs.max(axis=1)
        sums = kept_rows.values(graph.hash, graph.indptr, graph.indices, first, second, self.beta)
        return without_rounding_errors(sums)

    def _check_convergence(self, graph: Graph) -> None:
        """Refuse a beta for which the sum diverges or converges too slowly."""
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
    start = graph.degrees + 1.0  # fixed, and positive: never orthogonal to the leading eigenvector
    return float(eigsh(graph.adjacency(), k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def _eigenvalue_bound(graph: Graph) -> float:
    """Return an upper bound: the square root of the largest degree product over all edges."""
    degrees = graph.degrees.astype(np.float64)
    return float(np.sqrt((degrees[graph.edges[:, 0]] * degrees[graph.edges[:, 1]]).max(initial=0.0)))
