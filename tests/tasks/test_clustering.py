"""Communities from embeddings."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.methods.embeddings.embedding import VectorScorer
from trueedge.metrics.partitions import adjusted_element_centric_similarity
from trueedge.tasks.communities import CommunityTask, cluster


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


def test_clustering_without_scikit_learn_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(InputError, match="pip install 'scikit-learn"):
        cluster([[1.0], [2.0]], 1)


def test_directions_alone_count_where_lengths_shall_not() -> None:
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 3
    lengths = 10.0 ** rng.uniform(-2, 2, size=(90, 1))
    points = lengths * (np.eye(3)[truth] + 0.05 * rng.normal(size=(90, 3)))
    assert adjusted_element_centric_similarity(truth, cluster(points, 3, directions=True)) == 1.0
    assert adjusted_element_centric_similarity(truth, cluster(points, 3)) < 0.9
    points[0] = 0.0
    assert len(np.unique(cluster(points, 3, directions=True))) == 3


@pytest.fixture
def task() -> CommunityTask:
    graph = te.Graph.from_edges(np.array([[0, 1], [1, 2], [3, 4], [4, 5]]), 6, name="two paths")
    return CommunityTask.of(graph, np.array([5, 5, 5, 2, 2, 2]))


def test_vectors_of_every_kind_are_judged_alike(task) -> None:
    import torch

    points = np.repeat([[0.0, 1.0], [1.0, 0.0]], 3, axis=0)
    method = te.methods.create("eigenmap", {"dim": 2})
    wanted = {"element-centric": 1.0, "nmi": 1.0, "element-centric-directions": 1.0, "nmi-directions": 1.0}
    for scorer in (points, torch.from_numpy(points), VectorScorer("mine", points)):
        assert task.evaluate(scorer) == pytest.approx(wanted)
    assert set(task.evaluate(method.fit(task))) == set(wanted)
    assert task.evaluate(points, metrics=["nmi"]) == pytest.approx({"nmi": 1.0})


def test_vectors_that_say_nothing_are_worth_nothing(task) -> None:
    values = task.evaluate(np.ones((6, 4)))
    assert values == dict.fromkeys(values, 0.0)


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        (lambda pairs: pairs[:, 0], "scores pairs: it has no vectors"),
        (np.ones((5, 2)), r"vectors of shape \(5, 2\) for 6 nodes"),
        (np.ones(6), "vectors of shape"),
        (np.full((6, 2), np.nan), "12 vectors are NaN"),
    ],
)
def test_what_has_no_vectors_is_refused(task, scorer, said: str) -> None:
    with pytest.raises(InputError, match=said):
        task.evaluate(scorer)


def test_what_a_task_of_communities_has_not_is_named(task) -> None:
    with pytest.raises(InputError, match="has no valid part"):
        task.evaluate(np.ones((6, 2)), "valid")
    with pytest.raises(InputError, match="did you mean 'nmi'"):
        task.evaluate(np.ones((6, 2)), metrics=["nmii"])
    for wrong in (np.zeros(5, dtype=int), np.zeros(6), np.zeros((6, 1), dtype=int)):
        with pytest.raises(InputError, match="communities must be a whole number for each of the 6 nodes"):
            CommunityTask.of(task.graph, wrong)


def test_a_task_of_communities_is_told_apart_by_graph_communities_and_clustering(task) -> None:
    graph, labels = task.graph, task.communities
    same = CommunityTask.of(graph, labels + 3)
    others = [
        CommunityTask.of(graph, np.arange(6) % 2),
        CommunityTask.of(graph, labels, seed=1),
        CommunityTask.of(graph, labels, restarts=3),
        CommunityTask.of(te.Graph.from_edges(graph.edges[1:], 6), labels),
    ]
    assert same.hash == task.hash
    assert len({task.hash, *(other.hash for other in others)}) == 5


def test_a_sample_of_nodes_is_drawn_without_repetition(task) -> None:
    nodes = task.sample("test", 4, seed=1)
    assert len(np.unique(nodes)) == 4
    assert (task.sample("test", 4, seed=1) == nodes).all()
    assert sorted(task.sample("test", 10)) == list(range(6))
