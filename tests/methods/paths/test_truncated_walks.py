"""Theorem 2 of TAGNet: a pruned iteration sums the walks of length dist to dist + delta, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.training.paths.edges import Edges  # noqa: E402
from trueedge.training.paths.messages import message_statistics, sum_messages  # noqa: E402
from trueedge.training.paths.steps import Plan, full_plan, pruned_plan  # noqa: E402

ENTITIES, RELATIONS, DIM = 9, 2, 2


def random_graph(seed: int) -> tuple[np.ndarray, Edges, np.ndarray]:
    """A graph of one or more components, and a whole number for each relation and query."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, [ENTITIES, RELATIONS, ENTITIES], (rng.integers(5, 13), 3))
    triples = np.unique(drawn[drawn[:, 0] != drawn[:, 2]], axis=0)
    edges = Edges.of_triples(triples, ENTITIES, RELATIONS)
    return triples, edges, rng.integers(-2, 4, (2, 2 * RELATIONS, DIM)).astype(np.float64)


def walks(triples: np.ndarray, weights: np.ndarray, source: int, longest: int, tropical: bool) -> np.ndarray:
    """The sum over all walks of each length of the product of their weights, (longest + 1, entities, dim).

    With ``tropical``, the maximum of the sum of their weights.
    """
    leaving: dict[int, list[tuple[int, int]]] = {}
    for h, r, t in triples.tolist():
        leaving.setdefault(h, []).append((r, t))
        leaving.setdefault(t, []).append((r + RELATIONS, h))
    found = np.full((longest + 1, ENTITIES, DIM), -np.inf if tropical else 0.0)

    def walk(entity: int, length: int, value: np.ndarray) -> None:
        place = found[length, entity]
        found[length, entity] = np.maximum(place, value) if tropical else place + value
        if length < longest:
            for r, other in leaving.get(entity, []):
                walk(other, length + 1, value + weights[r] if tropical else value * weights[r])

    walk(source, 0, np.zeros(DIM) if tropical else np.ones(DIM))
    return found


def iterate(plan: Plan, weights: np.ndarray, tropical: bool) -> np.ndarray:
    """Equation 5.7 with whole numbers instead of layers, (queries, entities, dim)."""
    relations = torch.from_numpy(weights).reshape(-1, DIM)
    nothing, one = (-torch.inf, 0.0) if tropical else (0.0, 1.0)
    start = torch.full((plan.num_rows, DIM), nothing, dtype=torch.float64)
    start[plan.starts] = one
    states = start
    for step in plan.steps:
        own = start[step.first : step.last]
        if tropical:
            new = torch.maximum(message_statistics(states, relations, step, "transe")[2], own)
        else:
            new = sum_messages(states, relations, step, "distmult") + own
        states = torch.cat([states[: step.first], new, states[step.last :]])
    padded = torch.cat([states, torch.full((1, DIM), nothing, dtype=torch.float64)])
    return padded[plan.rows].numpy()


@pytest.mark.parametrize("tropical", [False, True], ids=["sum of products", "maximum of sums"])
@pytest.mark.parametrize("delta", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_pruned_iteration_aggregates_exactly_the_walks_of_the_window(
    seed: int, delta: int, tropical: bool
) -> None:
    triples, edges, weights = random_graph(seed)
    layers, sources = 5, [seed % ENTITIES, 0]
    distances = edges.distances(torch.tensor(sources), layers).numpy()
    plan = pruned_plan(edges, torch.tensor(sources), layers, delta)
    found = iterate(plan, weights, tropical)
    for query, source in enumerate(sources):
        by_length = walks(triples, weights[query], source, layers, tropical)
        for entity in range(ENTITIES):
            shortest = int(distances[query, entity])
            window = by_length[shortest : min(shortest + delta, layers) + 1, entity]
            if tropical:
                expected = window.max(0, initial=-np.inf)
            else:
                expected = window.sum(0)
            assert np.array_equal(found[query, entity], expected)


def test_the_window_leaves_longer_walks_out() -> None:
    # A test that could not fail would pass here too.
    triples, edges, weights = random_graph(0)
    every = iterate(full_plan(edges, torch.tensor([0, 0]), 5), weights, False)
    some = iterate(pruned_plan(edges, torch.tensor([0, 0]), 5, 1), weights, False)
    assert not np.array_equal(every, some)
    by_length = walks(triples, weights[0], 0, 5, False)
    assert np.array_equal(every[0], by_length.sum(0))


@pytest.mark.parametrize("delta", range(5))
@pytest.mark.parametrize("seed", range(4))
def test_the_messages_of_a_plan_are_those_of_algorithm_d1(seed: int, delta: int) -> None:
    _, edges, _ = random_graph(seed)
    layers, sources = 4, [0, 3, 3]
    gone = edges.without(torch.tensor([[int(edges.head[0]), int(edges.relation[0]), int(edges.tail[0])]]))
    for graph in (edges, gone):
        found = graph.distances(torch.tensor(sources), layers).numpy().astype(int)
        found[found > layers] = 100
        plan = pruned_plan(graph, torch.tensor(sources), layers, delta)
        kept = np.ones(len(graph), bool) if graph.kept is None else graph.kept.numpy()
        triples = np.stack([graph.head, graph.relation, graph.tail], axis=1)[kept].tolist()
        for t, step in enumerate(plan.steps, start=1):
            expected = sorted(
                (q, h, q * 2 * RELATIONS + r, v)
                for q, d in enumerate(found)
                for h, r, v in triples
                if t - delta <= d[v] <= t and d[h] < d[v] + delta
            )
            source, target = step.source.long(), step.targets() + step.first
            columns = (plan.query[source], plan.entity[source], step.relation, plan.entity[target])
            assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == expected
            assert torch.equal(plan.query[source], plan.query[target])
