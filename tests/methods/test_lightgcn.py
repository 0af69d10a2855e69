"""LightGCN: vectors smoothed over the graph of users and items."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.graph.interactions import Interactions  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.recommend.models.lightgcn import LightGCNModel  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402

QUICK = {"dim": 8, "epochs": 30, "evaluate_every": 10, "batch_size": 128, "learning_rate": 0.02, "layers": 2}


def dense_scores(data, first, layers):
    """The scores of all items for all users by dense matrices."""
    users, items = data.num_users, data.num_items
    adjacency = np.zeros((users + items, users + items))
    adjacency[data.pairs[:, 0], users + data.pairs[:, 1]] = 1
    adjacency += adjacency.T
    scale = 1 / np.sqrt(np.maximum(adjacency.sum(1), 1))
    step = scale[:, None] * adjacency * scale
    states = [first]
    for _ in range(layers):
        states.append(step @ states[-1])
    mean = np.mean(states, axis=0)
    return mean[:users] @ mean[users:].T


@pytest.mark.parametrize("layers", [1, 3])
def test_all_scores_equal_those_of_dense_matrices(layers):
    data = tangled()
    inputs = RecommendInputs(data)
    torch.manual_seed(0)
    model = LightGCNModel(inputs, 6, layers, "none", None)
    with torch.no_grad():
        found = model.table(inputs, model.prepare(inputs), torch.arange(data.num_users))
    assert np.allclose(found, dense_scores(data, model.first.detach().double().numpy(), layers), atol=1e-6)


@pytest.mark.parametrize("use", ["bias", "input"])
def test_pretrained_vectors_are_a_bias_or_the_first_vectors(use):
    data = tangled()
    inputs = RecommendInputs(data)
    fixed = (torch.rand(data.num_users, 6), torch.rand(data.num_items, 6))
    torch.manual_seed(0)
    model = LightGCNModel(inputs, 6, 2, use, fixed)
    first = model.first.detach().double().numpy()
    expected = dense_scores(data, first, 2)
    if use == "bias":
        expected += (fixed[0] @ fixed[1].T).numpy()
    else:
        assert np.array_equal(first, torch.cat(fixed).double().numpy())
    with torch.no_grad():
        found = model.table(inputs, model.prepare(inputs), torch.arange(data.num_users))
    assert np.allclose(found, expected, atol=1e-5)


def test_users_without_items_and_items_without_users_have_finite_scores():
    data = Interactions.from_pairs(np.array([(0, 0), (0, 1), (2, 1)]), 4, 5)
    inputs = RecommendInputs(data)
    model = LightGCNModel(inputs, 4, 2, "none", None)
    users, items = model.vectors(inputs)
    # Nobody adds to their own vectors, which the mean over three states divides.
    assert torch.allclose(users[3], model.first[3] / 3)
    assert torch.allclose(items[4], model.first[8] / 3)


def test_what_users_like_is_learned_without_a_knowledge_graph():
    whole = planted()
    data = Interactions.from_pairs(whole.pairs, whole.num_users, whole.num_items)
    task = te.task(data, "full-ranking", seed=0)
    found = task.evaluate(create("lightgcn", QUICK).fit(task), "test", ["ndcg@10"])["ndcg@10"]
    common = task.evaluate(create("popularity").fit(task), "test", ["ndcg@10"])["ndcg@10"]
    assert found > common + 0.2


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    task = te.task(planted(users=24), "full-ranking", seed=0)
    method = create("lightgcn", {**QUICK, "epochs": 3})
    first, second, other = (method.fit(task, seed).score_candidates(np.arange(24)) for seed in (3, 3, 4))
    assert first.tobytes() == second.tobytes() != other.tobytes()
