"""The variance of a mean over edges that share nodes.

Two test edges at one node have something in common: a node whose neighbours are hard to find is so for all
its edges. An ordinary standard error takes edges as independent, and is too small. Here edges may be
correlated if they share a node, and are independent otherwise:

    V = sum over edges i, j that share a node of e_i e_j / n²        e: values minus their mean
      = (sum over nodes of (sum of e at the node)² - sum over pairs of nodes of (sum of e of the pair)²) / n²

since edges that join the same two nodes are counted at both. It is about new edges between new nodes of the
same kind. V is unbiased but for the mean, and may come out too small by chance: it is never less than that of
independent edges. Its degrees of freedom are those of a sum of squares, one for each node (Satterthwaite): a
hub with many test edges is a single observation of its own effect.

Aronow, Samii and Assenova, Cluster-Robust Variance Estimation for Dyadic Data, Political Analysis 2015.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def variance_over_nodes(values: Array, ends: NDArray[np.integer[Any]]) -> tuple[float, float]:
    """Return the variance of the mean of edges that share nodes, and its degrees of freedom.

    Args:
        values: float64 (n,), at least two.
        ends: int (n, 2), from :func:`shared_ends`.
    """
    count, most = len(values), int(ends.max()) + 1
    errors = values - values.mean()
    nodes = np.bincount(ends.ravel(), weights=np.repeat(errors, 2), minlength=most)[1:]
    # Ends that are the only ones at their node.
    single = (errors[:, None] * (ends == 0)).ravel()
    low, high = ends.min(axis=1), ends.max(axis=1)
    keys = np.where(low > 0, low * most + high, -1 - np.arange(count))
    _, place = np.unique(keys, return_inverse=True)
    pairs = np.bincount(place.reshape(-1), weights=errors)
    alone = float(errors @ errors)
    total = float(nodes @ nodes + single @ single - pairs @ pairs)
    scale = 1.0 / (count * (count - 1.0))
    if total <= alone:
        return alone * scale, count - 1.0
    parts = np.concatenate([nodes, single]) ** 2
    fourth = float(parts @ parts)
    degrees = float(parts.sum()) ** 2 / fourth - 1.0 if fourth > 0 else count - 1.0
    return total * scale, float(np.clip(degrees, 1.0, count - 1.0))


def shared_ends(edges: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return a number for each end of edges (n, 2): from 1 for nodes of several edges, 0 for all others."""
    _, place, counts = np.unique(edges, return_inverse=True, return_counts=True)
    several = counts > 1
    numbers = np.where(several, np.cumsum(several), 0)
    found: NDArray[np.int64] = numbers[place.reshape(-1)].reshape(edges.shape)
    # An edge from a node to itself is at that node once.
    found[edges[:, 0] == edges[:, 1], 1] = 0
    return found


def independent_edges(ends: NDArray[np.integer[Any]]) -> int:
    """Return the number of groups of edges between which no node is shared; ``ends`` as above."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, most = len(ends), int(ends.max())
    rows, columns = np.nonzero(ends)
    graph = coo_array(
        (np.ones(len(rows)), (rows, count + ends[rows, columns] - 1)), shape=(count + most, count + most)
    )
    return int(connected_components(graph, directed=False)[0])
