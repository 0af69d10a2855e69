"""Personalised PageRank: the probability that a random walk with restarts from one node is at the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.heuristics.heuristic import Heuristic, without_rounding_errors
from trueedge.methods.method import setting


@dataclass(frozen=True)
class PersonalizedPageRank(Heuristic):
    """Personalised PageRank in both directions, ``π_u(v) + π_v(u)``.

    On an undirected graph ``k_u π_u(v) = k_v π_v(u)``, so one direction gives the other. It is computed from
    the end of larger degree, or as the mean of both directions where degrees are equal. The score is at most
    ``eps (k_u + k_v)`` below the exact one, and never above it.
    """

    name: ClassVar[str] = "ppr"
    title: ClassVar[str] = "Personalised PageRank"
    citation: ClassVar[str] = "Andersen, Chung, Lang, Local Graph Partitioning using PageRank Vectors, 2006"

    alpha: float = setting(0.15, "teleport probability", low=0.001, high=0.999, search=(0.05, 0.15, 0.3, 0.5))
    eps: float = setting(1e-6, "error bound per unit of degree", low=1e-15, high=0.1)

    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        degrees = graph.degrees[pairs]
        larger = (degrees[:, 1] > degrees[:, 0]).astype(np.int64)
        equal = np.flatnonzero((degrees[:, 0] == degrees[:, 1]) & (pairs[:, 0] != pairs[:, 1]))
        rows = np.arange(len(pairs))
        source = np.concatenate([pairs[rows, larger], pairs[equal, 1]])
        target = np.concatenate([pairs[rows, 1 - larger], pairs[equal, 0]])
        values = self._from_sources(graph, source, target)
        found, other_way = values[: len(pairs)], values[len(pairs) :]
        found[equal] = (found[equal] + other_way) / 2
        # A node without neighbours is reached only from itself, where both directions are equal.
        both = 1.0 + np.maximum(degrees.max(axis=1), 1) / np.maximum(degrees.min(axis=1), 1)
        return without_rounding_errors(found * both)

    def _from_sources(
        self, graph: Graph, source: NDArray[np.int64], target: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the probability of each target in the walk from its source, float64 (n,)."""
        from trueedge.kernels.arrays.grouping import group_by
        from trueedge.kernels.walks.kept_rows import MOST_NODES
        from trueedge.kernels.walks.push import push_values

        if graph.num_nodes <= MOST_NODES:
            from trueedge.kernels.walks.wide_push import kept_rows

            asked = (graph.hash, graph.indptr, graph.indices, source, target)
            return kept_rows.values(*asked, self.alpha, self.eps)
        values = np.empty(len(source))
        keys, starts, order = group_by(source, graph.num_nodes)
        values[order] = push_values(
            graph.indptr, graph.indices, keys, starts, target[order], self.alpha, self.eps
        )
        return values
