"""KGNN-LS: labels of items that are predicted from those nearby."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.training.recommend import label_smoothness  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402
from trueedge.training.recommend.label_smoothness import LabelSmoothness  # noqa: E402

QUICK = {
    "pretrained": "none",
    "dim": 8,
    "out_dim": 6,
    "epochs": 30,
    "evaluate_every": 10,
    "batch_size": 128,
    "learning_rate": 0.02,
}


def propagated(data, labels, weights, user, item):
    """The label of an item after two steps of propagation through all entities."""
    facts = {tuple(map(int, fact)) for fact in data.knowledge.triples}
    facts |= {(tail, relation, head) for head, relation, tail in facts}
    adjacency = np.zeros((data.num_entities, data.num_entities))
    for head, relation, tail in facts:
        adjacency[head, tail] += weights[user, relation]
    known = labels[user].copy()
    known[item] = 0.5
    label = known
    for _ in range(2):
        totals = adjacency.sum(1)
        label = np.where(totals > 0, adjacency @ label / np.where(totals > 0, totals, 1), 0.5)
        label = np.where(known == 0.5, label, known)
    return label[item]


def labels_of(data, smoothness):
    """The label of every entity for every user."""
    labels = np.full((data.num_users, data.num_entities), 0.5)
    users, items = np.divmod(smoothness.keys.numpy(), data.num_items)
    labels[users, items] = (smoothness.signs.numpy() + 1) / 2
    return labels


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_predicted_labels_equal_those_of_propagation_through_all_entities(seed, monkeypatch):
    monkeypatch.setattr(label_smoothness, "BLOCK", 5)
    data = tangled(seed)
    smoothness = LabelSmoothness(RecommendInputs(data), seed)
    weights = np.random.default_rng(seed).random((data.num_users, 3)) + 0.05
    labels = labels_of(data, smoothness)
    assert {0.0, 0.5, 1.0} == set(np.unique(labels))
    owner, items = np.indices((data.num_users, data.num_items)).reshape(2, -1)
    expected = [
        propagated(data, labels, weights, user, item) for user, item in zip(owner, items, strict=True)
    ]
    given = (torch.tensor(weights).float(), torch.arange(data.num_users))
    found = smoothness.predict(*given, torch.tensor(owner), torch.tensor(items))
    assert np.allclose(found, expected, atol=1e-5)
    # The item without neighbours, and others that are not.
    assert found[8] == 0.5
    assert len(np.unique(found)) > 20


def test_labels_are_one_for_training_items_and_zero_for_as_many_others_at_most():
    data = planted()
    labels = labels_of(data, LabelSmoothness(RecommendInputs(data), 0))
    assert np.array_equal(np.argwhere(labels == 1), data.pairs)
    zeros = (labels == 0).sum(1)
    assert (zeros <= data.user_counts).all()
    assert zeros.sum() > 0.8 * len(data.pairs)


def test_a_pair_that_is_known_does_not_tell_its_own_label():
    data = tangled()
    inputs = RecommendInputs(data)
    first = LabelSmoothness(inputs, 0)
    weights, users = torch.rand(data.num_users, 3), torch.arange(data.num_users)
    for user, item in data.pairs[:6].tolist():
        asked = (weights, users, torch.tensor([user]), torch.tensor([item]))
        turned = LabelSmoothness(inputs, 0)
        kept = turned.keys != user * data.num_items + item
        changed = Labelled(turned, turned.keys[kept], turned.signs[kept])
        assert torch.allclose(first.predict(*asked), changed.predict(*asked), atol=1e-6)


class Labelled(LabelSmoothness):
    """The same with other labels."""

    def __init__(self, like, keys, signs):
        self.inputs, self.near, self.keys, self.signs = like.inputs, like.near, keys, signs
        self.count_labels()


def test_the_loss_is_the_mean_cross_entropy_and_its_gradient_moves_weights():
    data = tangled()
    smoothness = LabelSmoothness(RecommendInputs(data), 0)
    weights = (torch.rand(5, 3) + 0.1).requires_grad_()
    users = torch.tensor([4, 0, 2, 0, 5])
    items, others = torch.tensor([0, 1, 2, 3, 4]), torch.tensor([5, 6, 7, 0, 1])
    loss = smoothness.loss(weights, (users, items, others))
    owner = torch.arange(5)
    above = smoothness.predict(weights, users, owner, items).clamp(1e-6, 1 - 1e-6)
    below = smoothness.predict(weights, users, owner, others).clamp(1e-6, 1 - 1e-6)
    expected = -(above.log().mean() + (1 - below).log().mean()) / 2
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    loss.backward()
    assert torch.isfinite(weights.grad).all()
    assert weights.grad.abs().max() > 0


def test_label_smoothness_alone_learns_which_relation_tells_what_a_user_likes():
    task = te.task(planted(), "full-ranking", seed=0)
    model = create("kgnn-ls", {**QUICK, "ls_weight": 100.0}).fit(task).model
    weights = model.relation_weights(model.users).mean(0)
    assert weights[0] > 2 * weights[1]


def test_what_users_like_is_learned_from_the_knowledge_graph():
    task = te.task(planted(), "full-ranking", seed=0)
    found = task.evaluate(create("kgnn-ls", QUICK).fit(task), "test", ["ndcg@10"])["ndcg@10"]
    common = task.evaluate(create("popularity").fit(task), "test", ["ndcg@10"])["ndcg@10"]
    assert found > common + 0.2


def test_without_weight_it_is_kgcn():
    task = te.task(planted(users=24), "full-ranking", seed=0)
    quick, users = {**QUICK, "epochs": 3}, np.arange(24)
    smooth = create("kgnn-ls", {**quick, "ls_weight": 0.0}).fit(task, 5)
    assert np.allclose(
        smooth.score_candidates(users), create("kgcn", quick).fit(task, 5).score_candidates(users)
    )


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    task = te.task(planted(users=24), "full-ranking", seed=0)
    method = create("kgnn-ls", {**QUICK, "epochs": 3})
    first, second, other = (method.fit(task, seed).score_candidates(np.arange(24)) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes() != other.tobytes()
