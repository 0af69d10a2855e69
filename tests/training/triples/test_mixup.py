"""KG-Mixup mixes what its equations say, with partners that have the same tail."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from test_triple_index import random_triples  # noqa: E402

from trueedge.graph.knowledge import KnowledgeGraph  # noqa: E402
from trueedge.methods.kg.models.bilinear import DistMultModel  # noqa: E402
from trueedge.methods.kg.models.conve import ConvEModel  # noqa: E402
from trueedge.training import seeded  # noqa: E402
from trueedge.training.triples import (  # noqa: E402
    Mixing,
    MixupObjective,
    TripleIndex,
    TripleSchedule,
    make_objective,
    mean_embedding_distances,
)
from trueedge.training.triples.mixup import Partners  # noqa: E402


def objective(graph, kind="1-k", batch_size=16, label_smoothing=0.0, **mixing):
    schedule = TripleSchedule(
        objective=kind, negatives=4, batch_size=batch_size, label_smoothing=label_smoothing
    )
    return MixupObjective(make_objective(TripleIndex(graph), schedule), Mixing(**mixing))


@pytest.mark.parametrize("partners", ["any", "distinct"])
@pytest.mark.parametrize("seed", range(3))
def test_partners_have_the_same_tail_are_other_triples_and_differ_from_each_other(seed, partners):
    index = TripleIndex(random_triples(seed, count=80))
    drawn = Partners(index, Mixing(threshold=3, samples=4, partners=partners))
    torch.manual_seed(seed)
    rows, seen = index.rows, {triple: set() for triple in np.flatnonzero(drawn.counts).tolist()}
    candidates = {}
    for triple in range(len(index)):
        _, r, t = rows[triple]
        same = [j for j in np.flatnonzero(rows[:, 2] == t).tolist() if j != triple]
        if partners == "distinct":
            same = [j for j in same if rows[j, 1] != r]
        candidates[triple] = set(same)
        low = index.degrees[triple] < 3
        assert drawn.counts[triple] == (min(4, len(same)) if low else 0)
    for _ in range(200):
        table = drawn.draw()
        for triple, found in seen.items():
            line = table[drawn.row[triple], : drawn.counts[triple]].tolist()
            assert len(set(line)) == len(line)
            assert set(line) <= candidates[triple]
            found.update(line)
    assert all(seen[triple] == candidates[triple] for triple in seen)


def test_partners_are_drawn_uniformly():
    rows = [[head, 0, 0] for head in range(1, 7)] + [[7, 1, 0]]
    index = TripleIndex(KnowledgeGraph.from_triples(np.array(rows), 8, 2))
    drawn = Partners(index, Mixing(threshold=2, samples=3))
    triple = int(np.flatnonzero((index.rows == [7, 1, 0]).all(axis=1))[0])
    torch.manual_seed(0)
    table = torch.cat([drawn.draw()[drawn.row[triple]] for _ in range(4000)])
    heads, counts = np.unique(index.rows[table.numpy(), 0], return_counts=True)
    assert heads.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(counts / 4000, 0.5, atol=0.03)


@pytest.mark.parametrize("kind", ["1-k", "1-n"])
def test_a_batch_is_mixed_as_equation_4_6_says(kind):
    graph = random_triples(1)
    goal = objective(graph, kind, threshold=3, samples=2, weight=0.5)
    index = goal.index
    with seeded(0):
        model = DistMultModel(20, 6, 8, 0.0)
        steps = list(goal.steps(np.random.default_rng(0)))
    tables = model.encode()
    entities, relations = (table.detach().double().numpy() for table in tables)
    total = 0
    for batch, mixed in steps:
        triples, which, weights = mixed
        total += len(triples)
        assert (weights == 1).all()
        heads_of_batch = batch if kind == "1-k" else torch.isin(index.query, batch).nonzero().ravel()
        low = [i for i in heads_of_batch.tolist() if index.degrees[i] < 3]
        assert set(triples.tolist()) == {i for i in low if goal.partners.counts[i]}
        heads, relation_vectors = goal.mix(triples, which, tables)
        for place, (triple, column) in enumerate(zip(triples.tolist(), which.tolist(), strict=True)):
            row = goal.partners.row[triple]
            other, share = int(goal._drawn[row, column]), float(goal._shares[row, column])
            (h1, r1, t1), (h2, r2, t2) = index.rows[triple], index.rows[other]
            assert t1 == t2
            assert 0 <= share <= 1
            mixed_head = share * entities[h1] + (1 - share) * entities[h2]
            mixed_relation = share * relations[r1] + (1 - share) * relations[r2]
            np.testing.assert_allclose(heads[place].detach(), mixed_head, atol=1e-6)
            np.testing.assert_allclose(relation_vectors[place].detach(), mixed_relation, atol=1e-6)
    assert total == goal.partners.counts.sum()


def test_the_loss_is_that_of_the_triples_plus_beta_times_that_of_the_mixes():
    graph = random_triples(2)
    with seeded(0):
        model = DistMultModel(20, 6, 8, 0.0)
    model.eval()

    def loss(weight):
        goal = objective(graph, "1-n", threshold=4, samples=3, weight=weight)
        torch.manual_seed(3)
        step = next(iter(goal.steps(np.random.default_rng(0))))
        return goal, step, float(goal.backward(model, step, np.random.default_rng(0)))

    (goal, (batch, mixed), plain), (_, _, added) = loss(0.0), loss(0.5)
    heads, relations = goal.mix(mixed[0], mixed[1], model.encode())
    scores = (heads * relations * model.entities[goal.index.tails[mixed[0]]]).sum(dim=1).detach().double()
    synthetic = -np.log(1 / (1 + np.exp(-scores.numpy()))).sum()
    assert added == pytest.approx(plain + 0.5 * synthetic / (len(batch) * 20), rel=1e-5)


@pytest.mark.parametrize("biased", [True, False])
def test_the_tail_bias_of_synthetic_triples_can_be_left_out(biased):
    graph = random_triples(0)
    goal = objective(graph, threshold=10, tail_bias=biased)
    with seeded(0):
        model = ConvEModel(20, 6, 12, 3, 2, (0.0, 0.0, 0.0))
    with torch.no_grad():
        model.bias += 1
    model.eval()
    query = torch.randn(3, 12)
    tails = torch.tensor([[1], [2], [3]])
    with_bias, without = (model.score_some(query, tails, model.encode(), bias=on) for on in (True, False))
    torch.testing.assert_close(with_bias, without + 1)
    step = next(iter(goal.steps(np.random.default_rng(0))))
    model.zero_grad()
    model.score_some = _watched(model.score_some, seen := [])
    goal.backward(model, step, np.random.default_rng(0))
    assert seen == [True, biased]


def _watched(call, seen):
    def watched(query, tails, tables, bias=True):
        seen.append(bias)
        return call(query, tails, tables, bias)

    return watched


@pytest.mark.parametrize("kind", ["1-k", "1-n"])
def test_a_batch_with_nothing_to_mix_is_trained_without(kind):
    rows = np.array([[head, 0, tail] for head in range(6) for tail in range(6, 12)])
    goal = objective(KnowledgeGraph.from_triples(rows, 12, 1), kind, threshold=3)
    with seeded(0):
        model = DistMultModel(12, 2, 4, 0.0)
    for step in goal.steps(np.random.default_rng(0)):
        assert step[1].shape == (3, 0)
        assert torch.isfinite(goal.backward(model, step, np.random.default_rng(0)))


def test_shares_follow_a_beta_distribution():
    goal = objective(random_triples(4, count=400), threshold=100, samples=5, alpha=0.3)
    torch.manual_seed(0)
    goal.draw()
    shares = goal._shares.numpy().ravel()
    assert np.mean(shares) == pytest.approx(0.5, abs=0.03)
    # The variance of Beta(a, a) is 1 / (4 (2a + 1)).
    assert np.var(shares) == pytest.approx(1 / (4 * 1.6), abs=0.01)


def test_batch_norms_never_see_mixes_among_the_queries():
    graph = random_triples(1)
    goal = objective(graph, threshold=10, weight=0.5)
    with seeded(0):
        model = ConvEModel(20, 6, 12, 3, 2, (0.0, 0.0, 0.0))
    step = next(iter(goal.steps(np.random.default_rng(0))))
    assert step[1].shape[1] > len(step[0])
    goal.backward(model, step, np.random.default_rng(0))
    norm = model.convolutional.input_norm
    heads, relations = goal.index.queries[:, goal.queries(step[0])]
    images = torch.cat([model.entities[heads], model.relations[relations]]).detach()
    assert float(norm.running_mean) == pytest.approx(0.1 * float(images.mean()), rel=1e-4)
    assert norm.momentum == 0.1
    goal.recompute_statistics(model)
    queries = torch.cat([model.entities[goal.index.heads], model.relations[goal.index.relations]]).detach()
    assert float(norm.running_mean) == pytest.approx(float(queries.mean()), abs=0.01)


def test_a_single_mix_is_filled_up_to_two_for_a_batch_norm():
    rows = np.array([[head, 0, 0] for head in range(1, 8)] + [[1, 1, 0]])
    goal = objective(KnowledgeGraph.from_triples(rows, 8, 2), batch_size=4, threshold=2, samples=1)
    with seeded(0):
        model = ConvEModel(8, 4, 12, 3, 2, (0.0, 0.0, 0.0))
    sizes = set()
    for seed in range(5):
        for step in goal.steps(np.random.default_rng(seed)):
            sizes.add(step[1].shape[1])
            assert step[1][2].sum() >= min(1, step[1].shape[1])
            assert torch.isfinite(goal.backward(model, step, np.random.default_rng(0)))
    assert 1 not in sizes
    assert 2 in sizes


@pytest.mark.parametrize("kind", ["1-n", "1-k"])
def test_labels_of_mixes_are_smoothed_as_those_of_answers(kind):
    goal = objective(random_triples(1), kind, threshold=10, label_smoothing=0.2)
    with seeded(0):
        model = DistMultModel(20, 6, 8, 0.0)
    _, mixed = next(iter(goal.steps(np.random.default_rng(0))))
    tables = model.encode()
    heads, relations = goal.mix(mixed[0], mixed[1], tables)
    scores = (heads * relations * model.entities[goal.index.tails[mixed[0]]]).sum(dim=1)
    likely = torch.sigmoid(scores)
    expected = -(0.8 * likely.log() + 0.2 * (1 - likely).log()).sum()
    torch.testing.assert_close(goal.synthetic_loss(model, tables, mixed), expected)


def test_batches_that_are_filled_up_give_the_same_loss():
    graph = random_triples(1)
    with seeded(0):
        model = DistMultModel(20, 6, 8, 0.0)
    losses = []
    for padded in (False, True):
        goal = objective(graph, "1-n", threshold=3)
        if padded:
            goal.padding = 64
        torch.manual_seed(0)
        step = next(iter(goal.steps(np.random.default_rng(0))))
        assert not padded or step[1].shape[1] % 64 == 0
        losses.append(float(goal.backward(model, step, np.random.default_rng(0))))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_partners_with_the_same_head_do_not_count_if_they_must_be_distinct():
    rows = np.array([[0, 0, 1], [0, 1, 1], [2, 2, 1]])
    goal = objective(KnowledgeGraph.from_triples(rows, 3, 3), threshold=5, partners="distinct")
    torch.manual_seed(0)
    for batch, mixed in goal.steps(np.random.default_rng(0)):
        assert len(batch)
        counted = goal.counted(mixed)
        other, _ = goal._look_up(mixed[0], mixed[1])
        differ = goal.index.rows[other.numpy(), :2] != goal.index.rows[mixed[0].numpy(), :2]
        assert (counted.numpy() == differ.all(axis=1)).all()
        assert 0 < counted.sum() < len(counted)


@pytest.mark.parametrize("threshold", [2, 4, 100])
def test_embedding_distances_equal_a_loop_over_triples(threshold):
    graph = random_triples(5, count=70)
    rng = np.random.default_rng(0)
    entities, relations = rng.normal(size=(20, 5)), rng.normal(size=(6, 3))
    rows = graph.both_directions.tolist()
    heads, others = [], []
    for h, r, t in rows:
        if sum(r == r2 and t == t2 for _, r2, t2 in rows) >= threshold:
            continue
        near = sorted({h2 for h2, _, t2 in rows if t2 == t})
        kinds = sorted({r2 for _, r2, t2 in rows if t2 == t})
        heads.append(np.mean([np.linalg.norm(entities[h] - entities[h2]) for h2 in near]))
        others.append(np.mean([np.linalg.norm(relations[r] - relations[r2]) for r2 in kinds]))
    found = mean_embedding_distances(graph, entities, torch.from_numpy(relations), threshold)
    assert found.head == pytest.approx(np.mean(heads), rel=1e-12)
    assert found.relation == pytest.approx(np.mean(others), rel=1e-12)


def test_no_more_partners_are_drawn_than_there_are() -> None:
    index = TripleIndex(random_triples(4, count=40))
    drawn = Partners(index, Mixing(threshold=100, samples=1000))
    assert drawn.samples == drawn.counts.max() < 100
    assert drawn.draw().shape == ((drawn.counts > 0).sum(), drawn.samples)
