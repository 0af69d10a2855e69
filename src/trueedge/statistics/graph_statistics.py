"""Numbers that describe a graph: how its degrees vary and mix, and how often two neighbours are joined."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph import Graph


def degree_assortativity(graph: Graph) -> float:
    """Return the correlation of the degrees at both ends of an edge; 0 if all degrees are equal.

    Newman, Assortative Mixing in Networks, Physical Review Letters 2002.
    """
    ends = graph.degrees[graph.edges].astype(np.float64)
    both = np.concatenate([ends, ends[:, ::-1]])
    if not len(both) or both[:, 0].std() == 0:
        return 0.0
    return float(np.corrcoef(both.T)[0, 1])


def degree_heterogeneity(degrees: NDArray[np.int64], *, many_nodes: bool = False) -> float:
    """Return how many different degrees there are and how evenly they occur, from 0 (all equal) to 1.

    It is the root mean square of ``1 - p(k)`` over the n nodes, summed over the degrees k that occur, divided
    by its maximum, ``sqrt(1 - 3/n + (n + 2)/n³)``.

    Args:
        degrees: int64 (n,).
        many_nodes: divide by the maximum without its last term, ``sqrt(1 - 3/n)``.

    Jacob et al., Measure for Degree Heterogeneity in Complex Networks and Its Application to Recurrence
    Network Analysis, Royal Society Open Science 2017.
    """
    n = len(degrees)
    if not n:
        raise InputError("there is no node to take the degree of")
    shares = np.unique(degrees, return_counts=True)[1] / n
    if len(shares) == 1:
        return 0.0
    highest = 1 - 3 / n + (0.0 if many_nodes else (n + 2) / n**3)
    if highest <= 0:
        asked, fewest = (" with many_nodes=True", 4) if many_nodes else ("", 3)
        raise InputError(f"degree_heterogeneity{asked} of different degrees needs {fewest} nodes, got {n}")
    return math.sqrt(float(((1 - shares) ** 2).sum()) / n) / math.sqrt(highest)


def normalised_degree_variance(graph: Graph) -> float:
    """Return the variance of the degrees, normalised for the numbers of nodes n and edges m.

    That is ``(n - 1) / (n m (1 - density))`` times the variance; 0 for a graph without edges or with all.

    Smith and Escudero, Normalised Degree Variance, Applied Network Science 2020.
    """
    n, m = graph.num_nodes, len(graph.edges)
    density = 2 * m / (n * (n - 1)) if n > 1 else 1.0
    if not m or density >= 1:
        return 0.0
    return (n - 1) / (n * m * (1 - density)) * float(graph.degrees.astype(np.float64).var())


def transitivity(graph: Graph) -> float:
    """Return the share of pairs of neighbours of a node that are joined, over all nodes; 0 without pairs."""
    pairs = int((graph.degrees * (graph.degrees - 1) // 2).sum())
    return int(triangles(graph).sum()) / pairs if pairs else 0.0


def local_clustering(graph: Graph) -> float:
    """Return the mean share of joined pairs of neighbours, over nodes with two neighbours; 0 without any.

    Watts and Strogatz, Collective Dynamics of 'Small-World' Networks, Nature 1998.
    """
    there = graph.degrees >= 2
    pairs = (graph.degrees * (graph.degrees - 1) // 2)[there]
    return float((triangles(graph)[there] / pairs).mean()) if there.any() else 0.0


def triangles(graph: Graph) -> NDArray[np.int64]:
    """Return the number of triangles that each node is in, int64 (nodes,)."""
    from trueedge.kernels.neighbors.intersection import common_neighbor_counts

    pairs = graph.edges.astype(np.int64)
    counts = common_neighbor_counts(graph.indptr, graph.indices, pairs)
    sums = np.bincount(pairs.reshape(-1), weights=np.repeat(counts, 2), minlength=graph.num_nodes)
    # Each triangle of a node is counted at two of its edges.
    halved: NDArray[np.int64] = sums.astype(np.int64) // 2
    return halved
