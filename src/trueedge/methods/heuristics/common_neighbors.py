"""Indices of common neighbours: Adamic–Adar, their number, Jaccard, resource allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic
from trueedge.methods.method import setting


@dataclass(frozen=True)
class AdamicAdar(Heuristic):
    """The sum of ``1 / max(ln k_w, log_floor)`` over the common neighbours w of u and v.

    With ``log_floor=0`` this is the published index, ``1 / ln k_w``, in which nodes of degree one count
    nothing. The degree-bias study used ``log_floor=1``.
    """

    name: ClassVar[str] = "aa"
    title: ClassVar[str] = "Adamic–Adar"
    citation: ClassVar[str] = "Adamic and Adar, Friends and Neighbors on the Web, 2003"

    log_floor: float = setting(
        0.0, "lower bound of a common neighbour's log degree; 0: the standard index", low=0.0, high=10.0
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_sums

        # One logarithm per possible degree, not per node.
        logs = np.log(np.maximum(np.arange(graph.degrees.max(initial=0) + 1), 1))
        logs = np.maximum(logs, self.log_floor)
        weights = np.divide(1.0, logs, out=np.zeros(len(logs)), where=logs > 0)
        return common_neighbor_sums(graph.indptr, graph.indices, pairs, weights[graph.degrees])


@dataclass(frozen=True)
class CommonNeighbors(Heuristic):
    """The number of common neighbours, ``|N(u) ∩ N(v)|``."""

    name: ClassVar[str] = "cn"
    title: ClassVar[str] = "Common Neighbours"
    citation: ClassVar[str] = (
        "Liben-Nowell and Kleinberg, The Link Prediction Problem for Social Networks, 2003"
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_counts

        return common_neighbor_counts(graph.indptr, graph.indices, pairs)


@dataclass(frozen=True)
class Jaccard(Heuristic):
    """The share of common neighbours, ``|N(u) ∩ N(v)| / |N(u) ∪ N(v)|``; 0 where neither node has any."""

    name: ClassVar[str] = "jaccard"
    title: ClassVar[str] = "Jaccard Index"
    citation: ClassVar[str] = (
        "Jaccard, Étude comparative de la distribution florale dans une portion des Alpes et des Jura, 1901"
    )

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import jaccard_indices

        return jaccard_indices(graph.indptr, graph.indices, pairs)


@dataclass(frozen=True)
class ResourceAllocation(Heuristic):
    """The sum of ``1 / k_w`` over the common neighbours w of u and v."""

    name: ClassVar[str] = "ra"
    title: ClassVar[str] = "Resource Allocation"
    citation: ClassVar[str] = "Zhou, Lü and Zhang, Predicting Missing Links via Local Information, 2009"

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        from trueedge.kernels.neighbors.intersection import common_neighbor_sums

        weights = 1.0 / np.maximum(graph.degrees, 1)
        return common_neighbor_sums(graph.indptr, graph.indices, pairs, weights)
