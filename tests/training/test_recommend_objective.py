"""The loss of ranked pairs, and the batches it is computed on."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.planted_interactions import planted, tangled  # noqa: E402
from torch import nn  # noqa: E402

from trueedge.graph.interactions import Interactions  # noqa: E402
from trueedge.training.recommend.inputs import RecommendInputs  # noqa: E402
from trueedge.training.recommend.model import FactorModel  # noqa: E402
from trueedge.training.recommend.objective import SAMPLING, RankingObjective  # noqa: E402


class Vectors(FactorModel):
    """Learned vectors and nothing else."""

    def __init__(self, data: Interactions, pretrained=None) -> None:
        super().__init__(pretrained)
        torch.manual_seed(0)
        self.users = nn.Parameter(torch.randn(data.num_users, 4, dtype=torch.float64))
        self.items = nn.Parameter(torch.randn(data.num_items, 4, dtype=torch.float64))

    def vectors(self, inputs):
        return self.users, self.items


def objective(data, sampling="interactions", batch_size=16, regularization=0.1):
    return RankingObjective(RecommendInputs(data), batch_size, sampling, regularization)


def epoch(data, sampling="interactions", seed=0, **settings):
    """All triples of an epoch."""
    steps = list(objective(data, sampling, **settings).steps(np.random.default_rng(seed)))
    return np.concatenate([torch.stack(step, dim=1).numpy() for step in steps])


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize("density", [0.1, 0.9])
def test_items_are_known_and_negatives_never_are(sampling, density):
    table = np.random.default_rng(1).random((30, 12)) < density
    data = Interactions.from_pairs(np.argwhere(table), 30, 12)
    for seed in range(5):
        users, items, others = epoch(data, sampling, seed).T
        assert table[users, items].all()
        assert not table[users, others].any()


def test_an_epoch_goes_through_each_interaction_once():
    data = planted()
    triples = epoch(data)
    assert np.array_equal(np.unique(triples[:, :2], axis=0), data.pairs)
    assert len(triples) == len(data.pairs)


def test_batches_have_the_size_asked_for_and_the_last_one_the_rest():
    data = planted(users=5)
    sizes = [len(step[0]) for step in objective(data, batch_size=16).steps(np.random.default_rng(0))]
    assert sizes == [16, 16, 8]


def test_users_are_drawn_alike_whatever_they_have():
    few, many = [(0, 0)], [(1, item) for item in range(300)]
    data = Interactions.from_pairs(np.array(few + many), 2, 400)
    users = np.concatenate([epoch(data, "users", seed)[:, 0] for seed in range(30)])
    # 9,030 draws: the standard error is 0.0053.
    assert abs(np.mean(users == 0) - 0.5) < 0.025


def test_the_items_of_a_user_are_drawn_alike():
    pairs = [(user, item) for user in range(500) for item in (1, 3, 4, 8)]
    data = Interactions.from_pairs(np.array(pairs), 500, 10)
    items = np.concatenate([epoch(data, "users", seed)[:, 1] for seed in range(3)])
    shares = np.bincount(items, minlength=10) / len(items)
    # 6,000 draws: the standard error is 0.0056.
    assert np.abs(shares[[1, 3, 4, 8]] - 0.25).max() < 0.025


def test_negatives_are_drawn_alike_among_the_items_that_a_user_does_not_have():
    pairs = [(user, item) for user in range(500) for item in (0, 5)]
    data = Interactions.from_pairs(np.array(pairs), 500, 10)
    others = np.concatenate([epoch(data, seed=seed)[:, 2] for seed in range(6)])
    shares = np.bincount(others, minlength=10) / len(others)
    assert shares[[0, 5]].tolist() == [0, 0]
    assert np.abs(np.delete(shares, [0, 5]) - 0.125).max() < 0.02


@pytest.mark.parametrize("sampling", SAMPLING)
def test_the_same_seed_draws_the_same_triples_and_another_seed_others(sampling):
    data = planted()
    assert np.array_equal(epoch(data, sampling, 3), epoch(data, sampling, 3))
    assert not np.array_equal(epoch(data, sampling, 3), epoch(data, sampling, 4))


@pytest.mark.parametrize("sampling", SAMPLING)
def test_a_user_who_has_all_items_and_one_who_has_none_are_left_out(sampling):
    everything = [(0, item) for item in range(5)]
    data = Interactions.from_pairs(np.array([*everything, (2, 1), (2, 4), (3, 0)]), 4, 5)
    triples = np.concatenate([epoch(data, sampling, seed) for seed in range(20)])
    assert set(triples[:, 0].tolist()) == {2, 3}


def test_the_loss_and_its_gradient_are_those_of_the_formula():
    data = tangled()
    model, ranking = Vectors(data), objective(data)
    step = next(ranking.steps(np.random.default_rng(0)))
    loss = ranking.backward(model, step, np.random.default_rng(0))
    users, items = (one.detach().clone().requires_grad_() for one in (model.users, model.items))
    total = 0
    for user, item, other in zip(*(one.tolist() for one in step), strict=True):
        u, i, j = users[user], items[item], items[other]
        norms = u @ u + i @ i + j @ j
        total = total - torch.log(torch.sigmoid(u @ i - u @ j)) + 0.1 * norms / 2
    expected = total / len(step[0])
    expected.backward()
    assert torch.allclose(loss, expected)
    assert torch.allclose(model.users.grad, users.grad)
    assert torch.allclose(model.items.grad, items.grad)


def test_a_step_against_the_gradient_lowers_the_loss():
    data = planted()
    model, ranking = Vectors(data), objective(data)
    step = next(ranking.steps(np.random.default_rng(0)))
    before = ranking.backward(model, step, np.random.default_rng(0))
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.01 * weight.grad
    assert ranking.backward(model, step, np.random.default_rng(0)) < before


def test_pretrained_vectors_add_their_product_to_every_score_and_stay_as_they_are():
    data = tangled()
    fixed = (torch.rand(data.num_users, 3).double(), torch.rand(data.num_items, 3).double())
    with_bias, without, inputs = Vectors(data, fixed), Vectors(data), RecommendInputs(data)
    users, items = torch.arange(data.num_users), torch.arange(data.num_users)
    bias = (fixed[0] @ fixed[1].T).numpy()
    tables = [
        model.table(inputs, model.prepare(inputs), users).detach().numpy() for model in (with_bias, without)
    ]
    assert np.allclose(tables[0], tables[1] + bias)
    above, below, _ = with_bias.batch(inputs, users, items, items.flip(0))
    assert np.allclose(above.detach(), tables[0][users, items])
    assert np.allclose(below.detach(), tables[0][users, items.flip(0)])
    assert {name for name, _ in with_bias.named_parameters()} == {"users", "items"}
