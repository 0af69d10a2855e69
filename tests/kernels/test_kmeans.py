"""K-means, against scikit-learn and a plain version of its rounds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from trueedge.kernels.blocks.kmeans import kmeans, lloyd, seed_centres
from trueedge.randomness import generator


def blobs(seed: int, clusters: int, points: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, clusters, points)
    return rng.normal(size=(clusters, 3))[truth] * 4 + rng.normal(size=(points, 3)) * spread, truth


def plain_rounds(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    labels = np.full(len(points), -1)
    while True:
        nearest = ((points[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
        if (nearest == labels).all():
            return labels, centres
        labels = nearest
        centres = np.array([points[labels == k].mean(axis=0) for k in range(len(centres))])


@pytest.mark.parametrize("seed", range(3))
def test_rounds_are_those_of_lloyd(seed: int) -> None:
    points, _ = blobs(seed, 3, 40, 2.0)
    start = points[:4].copy()
    labels, centres, inertia = lloyd(points, start.T.copy(), 300)
    expected, means = plain_rounds(points, start)
    assert labels.tolist() == expected.tolist()
    assert np.allclose(centres.T, means)
    assert inertia == pytest.approx(((points - means[expected]) ** 2).sum())


@pytest.mark.parametrize("spread", [0.3, 2.0])
def test_clusters_are_as_tight_as_those_of_scikit_learn(spread: float) -> None:
    points, truth = blobs(5, 4, 80, spread)
    found = kmeans(generator(0, "kmeans"), points, 4, restarts=6)
    outside = KMeans(4, n_init=10, random_state=0).fit(points)
    assert found.inertia <= outside.inertia_ * 1.001
    assert adjusted_rand_score(found.labels, outside.labels_) > 0.95
    assert found.inertia == pytest.approx(((points - found.centres[found.labels]) ** 2).sum())
    if spread == 0.3:
        assert adjusted_rand_score(found.labels, truth) == 1.0


def test_seeds_are_points_drawn_by_their_squared_distance() -> None:
    points = np.array([[0.0], [1.0], [3.0]])
    # From 0 the squared distances are 0, 1 and 9: below a tenth is the second point, above it the third.
    assert seed_centres(points, np.array([0.1, 0.05])).tolist() == [[0.0, 1.0]]
    assert seed_centres(points, np.array([0.1, 0.15])).tolist() == [[0.0, 3.0]]
    assert seed_centres(points, np.array([0.99, 0.99])).tolist() == [[3.0, 1.0]]
    assert sorted(seed_centres(points, np.array([0.5, 0.5, 0.5]))[0].tolist()) == [0.0, 1.0, 3.0]


def test_a_seed_gives_the_same_clusters_and_another_seed_others() -> None:
    points = np.random.default_rng(0).random((60, 2))
    labels = [kmeans(generator(seed, "kmeans"), points, 7, restarts=1).labels.tolist() for seed in (0, 0, 1)]
    assert labels[0] == labels[1] != labels[2]


def test_no_cluster_stays_empty() -> None:
    points = np.array([[0.0], [0.1], [0.2], [10.0], [10.1]])
    # Two centres are far from all points: they get those farthest from the first.
    labels, centres, _ = lloyd(points, np.array([[0.0, 1e6, 1e7]]), 300)
    assert labels.tolist() == [0, 0, 0, 2, 1]
    assert np.allclose(centres, [[0.1, 10.1, 10.0]])


def test_equal_points_and_as_many_clusters_as_points_are_no_trouble() -> None:
    same = kmeans(generator(0, "kmeans"), np.ones((5, 2)), 3)
    assert same.inertia == 0
    assert np.isfinite(same.centres).all()
    points = np.arange(6.0).reshape(-1, 1)
    each = kmeans(generator(0, "kmeans"), points, 6)
    assert sorted(each.labels.tolist()) == list(range(6))
    assert each.inertia == 0
    one = kmeans(generator(0, "kmeans"), points, 1)
    assert one.labels.tolist() == [0] * 6
    assert one.centres.tolist() == [[2.5]]


def test_rounds_end_where_they_are_told_to() -> None:
    points, _ = blobs(1, 3, 40, 2.0)
    start = points[:4].T.copy()
    never = lloyd(points, start.copy(), 0)[2]
    once = lloyd(points, start.copy(), 1)[2]
    assert lloyd(points, start.copy(), 300)[2] <= once <= never
