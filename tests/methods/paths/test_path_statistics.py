"""Counts of messages, distances and degrees, against brute force and published tables."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods.paths.statistics import distance_distribution, mean_degree, message_counts  # noqa: E402
from trueedge.randomness import generator  # noqa: E402
from trueedge.training.paths.edges import Edges  # noqa: E402
from trueedge.training.paths.steps import full_plan, pruned_plan  # noqa: E402


@pytest.fixture(scope="module")
def graph() -> te.KnowledgeGraph:
    rng = np.random.default_rng(0)
    triples = np.unique(rng.integers(0, [40, 3, 40], (60, 3)), axis=0)
    return te.KnowledgeGraph.from_triples(triples[triples[:, 0] != triples[:, 2]], 40, 3)


@pytest.mark.parametrize("delta", [0, 1, 3])
def test_counts_are_those_of_the_plans_that_training_makes(graph, delta: int) -> None:
    layers, size, edges = 4, 8, Edges.of(graph)
    found = message_counts(graph, delta, layers, None, size, seed=5)
    order = generator(5, "message counts").permutation(graph.num_triples)
    full, kept, empty = np.zeros(layers), np.zeros(layers), np.zeros(layers)
    all_empty = np.zeros(layers)
    for start in range(0, len(order), size):
        batch = torch.from_numpy(graph.triples[order[start : start + size]].astype(np.int64))
        half = (len(batch) + 1) // 2
        sources = torch.cat([batch[:half, 0], batch[half:, 2]])
        without = edges.without(batch)
        plan, whole = pruned_plan(without, sources, layers, delta), full_plan(without, sources, layers)
        distances = without.distances(sources, layers).flatten()
        for t in range(1, layers + 1):
            step, every = plan.steps[t - 1], whole.steps[t - 1]
            full[t - 1] += every.num_messages
            kept[t - 1] += step.num_messages
            empty[t - 1] += int((plan.distance[step.source.long()] >= t).sum())
            all_empty[t - 1] += int((distances[every.source.long()] >= t).sum())
    count = graph.num_triples
    assert np.allclose(found.full * count, full)
    assert np.allclose(found.kept * count, kept)
    assert np.allclose(found.kept_empty * count, empty)
    assert np.allclose(found.pruned_empty * count, all_empty - empty)
    assert np.allclose(found.pruned_redundant, found.full - found.kept - found.pruned_empty)
    assert 0 < found.reduction < 1


@pytest.mark.data("kg")
def test_the_distances_of_wn18rr_are_those_of_table_d5_and_degrees_those_of_d4(data_folder) -> None:
    task = te.task("wn18rr", "filtered")
    shares = distance_distribution(task.graph, task.parts["test"])
    # The table rounds down: 21.5 % is 21 %.
    assert np.abs(100 * shares - [35, 9, 21, 7, 9, 18]).max() <= 0.6
    assert round(mean_degree(task.graph), 1) == 2.1


@pytest.mark.data("kg")
def test_wn18rr_saves_more_than_nine_tenths_of_the_messages(data_folder) -> None:
    graph = te.task("wn18rr", "filtered").graph
    assert all(message_counts(graph, delta, queries=64).reduction > 0.9 for delta in range(6))
