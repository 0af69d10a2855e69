"""KGAT: attention by relation, weighted sums, and the loss of triples."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.recommend.models.kgat import KGATObjective  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402
from trueedge.training.recommend.sparse import Propagation  # noqa: E402

SETTINGS = {"pretrained": "none", "dim": 6, "relation_dim": 5, "layers": 2, "dropout": 0.0}


def model_of(data):
    inputs = RecommendInputs(data)
    torch.manual_seed(0)
    return create("kgat", SETTINGS).build(None, inputs, None).eval(), inputs


def test_weighted_sums_and_their_gradients_equal_a_dense_product():
    torch.manual_seed(1)
    rows, columns = torch.randint(7, (30,)), torch.randint(7, (30,))
    weights, states = torch.rand(30), torch.randn(7, 4, requires_grad=True)
    dense = torch.zeros(7, 7).index_put((rows, columns), weights, accumulate=True)
    found = Propagation(rows, columns, 7)(weights, states)
    assert torch.allclose(found, dense @ states, atol=1e-6)
    slope = torch.randn(7, 4)
    (gradient,) = torch.autograd.grad(found, states, slope)
    assert torch.allclose(gradient, dense.T @ slope, atol=1e-6)


def test_attention_is_a_softmax_over_the_triples_of_each_head():
    model, inputs = model_of(tangled())
    model.refresh(inputs)
    heads, relations, tails = inputs.triples.T
    first, vectors, maps = (one.detach() for one in (model.first, model.relations, model.maps))
    logits = torch.stack(
        [
            (first[t] @ maps[r]) @ torch.tanh(first[h] @ maps[r] + vectors[r])
            for h, r, t in zip(heads, relations, tails, strict=True)
        ]
    )
    for head in heads.unique():
        own = heads == head
        assert torch.allclose(model.weights[own], torch.softmax(logits[own], 0), atol=1e-5)


def test_the_loss_of_triples_equals_the_formula_one_by_one():
    model, inputs = model_of(tangled())
    triples, others = inputs.triples[::3], torch.arange(len(inputs.triples[::3])) % inputs.num_nodes
    loss, penalty = model.triple_loss(triples, others)
    terms, norms = [], []
    for (head, relation, tail), other in zip(triples.tolist(), others.tolist(), strict=True):
        ends = [model.first[one] @ model.maps[relation] for one in (head, tail, other)]
        step = model.relations[relation]
        right, wrong = (((ends[0] + step - end) ** 2).sum() for end in ends[1:])
        terms.append(torch.nn.functional.softplus(right - wrong))
        norms.append(sum((one**2).sum() for one in (*ends, step)))
    assert torch.allclose(loss, torch.stack(terms).mean(), rtol=1e-5)
    assert torch.allclose(penalty, torch.stack(norms).mean() / 2, rtol=1e-5)


def test_other_tails_make_no_fact_and_both_losses_are_taken():
    model, inputs = model_of(planted())
    objective = KGATObjective(model, inputs, 64, "users", 1e-5, 200)
    steps = list(objective.steps(np.random.default_rng(0)))
    facts = {tuple(row) for row in inputs.triples.tolist()}
    drawn = [step for step in steps if len(step) == 2]
    assert drawn
    assert sum(len(triples) for triples, _ in drawn) == len(inputs.triples)
    for triples, tails in drawn:
        for (head, relation, _), tail in zip(triples.tolist(), tails.tolist(), strict=True):
            assert (head, relation, tail) not in facts
    before = model.maps.detach().clone()
    for step in (steps[0], drawn[0]):
        loss = objective.backward(model, step, np.random.default_rng(0))
        assert float(loss) > 0
    assert model.maps.grad is not None
    assert torch.equal(before, model.maps)
    without = KGATObjective(model, inputs, 64, "users", 1e-5, 0)
    assert all(len(step) == 3 for step in without.steps(np.random.default_rng(0)))


def test_it_learns_planted_tastes_and_repeats_itself():
    task = te.task(planted())
    quick = {
        **SETTINGS,
        "dim": 8,
        "epochs": 20,
        "evaluate_every": 10,
        "batch_size": 128,
        "learning_rate": 0.02,
    }
    first, second = (create("kgat", quick).fit(task, seed=3) for _ in range(2))
    found = task.evaluate(first, metrics=["ndcg@10"])["ndcg@10"]
    assert found > task.evaluate(create("popularity").fit(task), metrics=["ndcg@10"])["ndcg@10"]
    users = np.arange(5)
    assert np.array_equal(first.score_candidates(users), second.score_candidates(users))
    alone = create("kgat", {**quick, "triple_loss": False, "epochs": 1}).fit(task)
    assert np.isfinite(alone.score_candidates(users)).all()
