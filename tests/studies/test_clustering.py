"""Communities from embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.metrics.partitions import adjusted_element_centric_similarity
from trueedge.studies.clustering import cluster


def test_clusters_that_are_there_are_found_whatever_the_type() -> None:
    import torch

    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), 40)
    points = (np.eye(5)[truth] * 10 + rng.normal(size=(200, 5))).astype(np.float32)
    found = cluster(points, 5, seed=1)
    assert adjusted_element_centric_similarity(truth, found) == 1.0
    assert (cluster(torch.from_numpy(points), 5, seed=1) == found).all()
    assert (cluster(points, 5, seed=1) == found).all()
    assert found.dtype == np.int32


@pytest.mark.parametrize(
    ("points", "clusters", "options", "said"),
    [
        ([[1.0], [np.nan]], 1, {}, "1 of 2 points is NaN"),
        ([1.0, 2.0], 1, {}, r"points must have the shape \(n, d\), got \(2,\)"),
        (np.empty((0, 3)), 1, {}, "points must have the shape"),
        ([[1.0], [2.0]], 3, {}, "clusters must be a whole number from 1 to 2, got 3"),
        ([[1.0], [2.0]], 0, {}, "clusters must be a whole number from 1 to 2, got 0"),
        ([[1.0], [2.0]], True, {}, "clusters must be a whole number from 1 to 2, got True"),
        ([[1.0], [2.0]], 1, {"restarts": 0}, "restarts must be a whole number"),
        ([[1.0], [2.0]], 1, {"seed": -1}, "seed must be a whole number, 0 or more"),
    ],
)
def test_wrong_points_are_refused(points, clusters, options, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cluster(points, clusters, **options)
