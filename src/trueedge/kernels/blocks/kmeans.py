"""K-means: points in clusters around their means.

Distances and means are summed in a fixed order and not by BLAS, so that equal points and random words give
equal clusters on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from trueedge.kernels.arrays.dtypes import Float64s, Int32s
from trueedge.kernels.negatives.sampling import words


class Clusters(NamedTuple):
    """Points in clusters.

    Attributes:
        labels: int32 array (n,), the cluster of each point.
        centres: float64 array (k, d), their means.
        inertia: the sum of squared distances of the points to their centres.
    """

    labels: Int32s
    centres: Float64s
    inertia: float


def kmeans(
    rng: np.random.Generator, points: Float64s, clusters: int, restarts: int = 10, rounds: int = 300
) -> Clusters:
    """The best of several runs of Lloyd's algorithm from k-means++ seeds.

    Args:
        rng: where the random words come from.
        points: float64 array (n, d), finite.
        clusters: how many, from 1 to n.
        restarts: how many runs, 1 or more; of equal ones the first counts.
        rounds: a run ends after so many rounds if points still move.

    Arthur and Vassilvitskii 2007, "k-means++: the advantages of careful seeding"; Lloyd 1982, "Least squares
    quantization in PCM".
    """
    best = None
    for _ in range(restarts):
        units = (words(rng, clusters) >> np.uint64(11)) * 2.0**-53
        labels, centres, inertia = lloyd(points, seed_centres(points, units), rounds)
        if best is None or inertia < best.inertia:
            best = Clusters(labels, np.ascontiguousarray(centres.T), float(inertia))
    assert best is not None
    return best


@njit(cache=True, nogil=True)
def seed_centres(points: Float64s, units: Float64s) -> Float64s:
    """Centres far apart: each new one is a point drawn by its squared distance to the nearest before it.

    Args:
        points: float64 array (n, d).
        units: float64 array (k,), uniform in [0, 1), one for each centre.

    Returns:
        float64 array (d, k), a centre a column.
    """
    centres = np.empty((points.shape[1], len(units)))
    nearest = np.full(len(points), np.inf)
    weights = np.ones(len(points))
    for k in range(len(units)):
        chosen = _draw(weights, units[k])
        for j in range(points.shape[1]):
            centres[j, k] = points[chosen, j]
        for i in range(len(points)):
            distance = 0.0
            for j in range(points.shape[1]):
                distance += (points[i, j] - points[chosen, j]) ** 2
            nearest[i] = min(nearest[i], distance)
            weights[i] = nearest[i]
    return centres


@njit(cache=True, nogil=True)
def lloyd(points: Float64s, centres: Float64s, rounds: int) -> tuple[Int32s, Float64s, float]:
    """Put points to their nearest centre and centres to the mean of their points, until nothing moves.

    Args:
        points: float64 array (n, d).
        centres: float64 array (d, k), a centre a column; moved in place.
        rounds: how often at most.

    Returns:
        the cluster of each point, int32 (n,); the centres; the sum of squared distances.
    """
    labels = np.full(len(points), -1, dtype=np.int32)
    distances = np.empty(len(points))
    moved = _label(points, centres, labels, distances)
    # Where no point is away from its centre, filling an empty cluster would only move equal points about.
    while moved and rounds > 0 and distances.max() > 0.0:
        _fill_empty(labels, distances, centres.shape[1])
        _centre(points, labels, centres)
        moved = _label(points, centres, labels, distances)
        rounds -= 1
    inertia = 0.0
    for distance in distances:
        inertia += distance
    return labels, centres, inertia


@njit(cache=True, nogil=True)
def _label(points: Float64s, centres: Float64s, labels: Int32s, distances: Float64s) -> bool:
    """The nearest centre of each point, of equally near ones the first; whether any point changed."""
    changed = False
    sums = np.empty(centres.shape[1])
    for i in range(len(points)):
        sums[:] = 0.0
        # All centres at once: their sums do not wait for one another, and each keeps its order.
        for j in range(points.shape[1]):
            value = points[i, j]
            for k in range(len(sums)):
                sums[k] += (value - centres[j, k]) ** 2
        nearest = 0
        for k in range(1, len(sums)):
            if sums[k] < sums[nearest]:
                nearest = k
        changed = changed or labels[i] != nearest
        labels[i] = nearest
        distances[i] = sums[nearest]
    return changed


@njit(cache=True, nogil=True)
def _fill_empty(labels: Int32s, distances: Float64s, clusters: int) -> None:
    """Give a cluster without points the one that is farthest from its centre."""
    counts = np.zeros(clusters, dtype=np.int64)
    for label in labels:
        counts[label] += 1
    for k in range(clusters):
        if counts[k] == 0:
            farthest = -1
            for i in range(len(labels)):
                if counts[labels[i]] > 1 and (farthest < 0 or distances[i] > distances[farthest]):
                    farthest = i
            counts[labels[farthest]] -= 1
            counts[k] = 1
            labels[farthest] = k
            distances[farthest] = 0.0


@njit(cache=True, nogil=True)
def _centre(points: Float64s, labels: Int32s, centres: Float64s) -> None:
    counts = np.zeros(centres.shape[1])
    centres[:] = 0.0
    for i in range(len(points)):
        counts[labels[i]] += 1.0
        for j in range(points.shape[1]):
            centres[j, labels[i]] += points[i, j]
    for j in range(len(centres)):
        for k in range(len(counts)):
            centres[j, k] /= counts[k]


@njit(cache=True, nogil=True)
def _draw(weights: Float64s, unit: float) -> int:
    """A place in proportion to its weight; the first where all are zero."""
    total = 0.0
    for weight in weights:
        total += weight
    place = unit * total
    last = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            last = i
            if place < weights[i]:
                return i
            place -= weights[i]
    return last
