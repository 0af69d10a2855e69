"""Queries, answers and negatives on the device equal what loops over the triples find."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.graph.knowledge import KnowledgeGraph  # noqa: E402
from trueedge.training.triples import AllTails, SampledTails, TripleIndex, TripleSchedule  # noqa: E402
from trueedge.training.triples.losses import cross_entropy, smooth  # noqa: E402


def random_triples(seed: int, entities: int = 20, relations: int = 3, count: int = 120) -> KnowledgeGraph:
    rng = np.random.default_rng(seed)
    rows = np.stack(
        [
            rng.integers(0, entities, count),
            rng.integers(0, relations, count),
            rng.integers(0, entities, count),
        ],
        axis=1,
    )
    return KnowledgeGraph.from_triples(rows, entities, relations, repeats="drop", name="random")


def answers(graph: KnowledgeGraph) -> dict[tuple[int, int], set[int]]:
    found: dict[tuple[int, int], set[int]] = {}
    for head, relation, tail in graph.both_directions.tolist():
        found.setdefault((head, relation), set()).add(tail)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("padded", [False, True])
def test_labels_of_all_tails_are_those_a_loop_finds(seed, padded):
    graph = random_triples(seed)
    index, known = TripleIndex(graph), answers(graph)
    objective = AllTails(index, TripleSchedule(batch_size=7))
    batch = torch.from_numpy(np.random.default_rng(seed).permutation(index.num_queries)[:7])
    if padded:
        # As on a GPU, where the number of answers is not known.
        row, triple, real = index.labels(batch, objective._most)
        labels = torch.zeros(7, graph.num_entities)
        labels[row[real], index.tails[triple[real]]] = 1.0
        assert int(real.sum()) == sum(len(known[tuple(q)]) for q in index.queries[:, batch].T.tolist())
    else:
        labels, weighted = objective.labels(batch)
        assert weighted is None
    for line, query in zip(labels, index.queries[:, batch].T.tolist(), strict=True):
        assert set(torch.nonzero(line).ravel().tolist()) == known[tuple(query)]


def test_labels_are_smoothed_like_any_others():
    index = TripleIndex(random_triples(1))
    everyone = torch.arange(index.num_queries)
    plain, _ = AllTails(index, TripleSchedule()).labels(everyone)
    found, _ = AllTails(index, TripleSchedule(label_smoothing=0.2)).labels(everyone)
    torch.testing.assert_close(found, smooth(plain, 0.2))


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("focal", [0.0, 1.0, 2.0])
def test_the_loss_weights_answers_and_nothing_else(focal, padded, monkeypatch):
    graph = random_triples(1)
    index = TripleIndex(graph)
    weights = np.arange(len(index), dtype=np.float32) / 3
    schedule = TripleSchedule(batch_size=5, label_smoothing=0.1, focal=focal, fixed_factor=focal == 1)
    objective = AllTails(index, schedule, weights)
    if padded:
        # As on a GPU, where the number of answers is not known.
        found = index.labels
        monkeypatch.setattr(index, "labels", lambda batch, _: found(batch, objective._most))
    batch = torch.arange(3, 8)
    logits = torch.randn(5, graph.num_entities, requires_grad=True)
    total, terms = objective.loss(SimpleNamespace(score_all=lambda *_: logits), None, None, batch)
    total.backward()
    slope, logits.grad = logits.grad, None
    table = torch.ones(index.num_queries, graph.num_entities)
    table[index.query, index.tails] = torch.from_numpy(weights)
    expected = cross_entropy(logits, objective.labels(batch)[0], table[batch], focal, focal == 1)
    expected.backward()
    assert terms == logits.numel()
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(slope, logits.grad)


@pytest.mark.parametrize("seed", range(4))
def test_filtered_negatives_are_never_answers_and_every_other_entity_is_drawn(seed):
    graph = random_triples(seed, entities=9, relations=2, count=60)
    index, known = TripleIndex(graph), answers(graph)
    torch.manual_seed(seed)
    drawn, exist = index.other_entities(torch.arange(index.num_queries), 2000)
    for line, some, query in zip(drawn, exist, index.queries.T.tolist(), strict=True):
        others = set(range(9)) - known[tuple(query)]
        assert bool(some) == bool(others)
        if others:
            assert set(line.tolist()) == others
            shares = torch.bincount(line, minlength=9)[sorted(others)] / 2000
            np.testing.assert_allclose(shares, 1 / len(others), atol=0.06)


def test_a_question_that_every_entity_answers_has_no_negatives_and_no_loss():
    rows = [[0, 0, tail] for tail in range(4)]
    index = TripleIndex(KnowledgeGraph.from_triples(np.array(rows), 4, 1))
    objective = SampledTails(index, TripleSchedule(objective="1-k", negatives=3))
    everyone = torch.from_numpy(np.flatnonzero(index.rows[:, 1] == 0))
    _, exist = objective.candidates(everyone)
    assert not exist.any()


def test_unfiltered_negatives_include_answers():
    index = TripleIndex(random_triples(0, entities=6, relations=1, count=30))
    objective = SampledTails(index, TripleSchedule(objective="1-k", negatives=500, filter_negatives=False))
    candidates, _ = objective.candidates(torch.arange(len(index)))
    assert all(set(line.tolist()) == set(range(6)) for line in candidates)


def test_degrees_count_the_triples_with_the_same_relation_and_tail():
    graph = random_triples(3)
    index = TripleIndex(graph)
    rows = index.rows.tolist()
    brute = [sum(r == relation and t == tail for _, r, t in rows) for _, relation, tail in rows]
    assert index.degrees.tolist() == brute
    ours = graph.tail_relation_degrees(index.rows[:, 1], index.rows[:, 2])
    assert ours.tolist() == brute


def test_every_triple_occurs_once_in_an_epoch_or_as_often_as_asked():
    index = TripleIndex(random_triples(2))
    repeats = 1 + np.arange(len(index)) % 3
    for given in (None, repeats):
        objective = SampledTails(index, TripleSchedule(objective="1-k", batch_size=16), repeats=given)
        seen = torch.cat([batch for (batch,) in objective.steps(np.random.default_rng(0))])
        counts = np.bincount(seen.numpy(), minlength=len(index))
        assert counts.tolist() == (np.ones(len(index)) if given is None else repeats).tolist()
