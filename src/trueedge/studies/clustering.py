"""Communities from node embeddings, as studies of communities find them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores
from trueedge.randomness import generator


def cluster(points: ArrayLike, clusters: int, *, restarts: int = 10, seed: int = 0) -> NDArray[np.int32]:
    """The K-means cluster of each point, int32 (n,): the best of several runs from k-means++ seeds.

    Args:
        points: float array or torch tensor (n, d), one row a node.
        clusters: how many, from 1 to n.
        restarts: how many runs, 1 or more.
        seed: the random seed.

    Aiyappa et al. 2025, "Implicit degree bias in the link prediction task", 3.3: with the number of true
    communities.
    """
    from trueedge.kernels.kmeans import kmeans

    table = np.ascontiguousarray(as_scores(points, "points"), dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise InputError(f"points must have the shape (n, d), got {table.shape}")
    for argument, value, high in (("clusters", clusters, len(table)), ("restarts", restarts, 10**6)):
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not 1 <= value <= high:
            raise must_be(argument, "cluster", f"a whole number from 1 to {high}", value)
    return kmeans(generator(seed, "kmeans"), table, int(clusters), int(restarts)).labels
