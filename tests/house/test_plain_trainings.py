"""Trainings by hand: their metrics are OGB's, and their parts do what they say."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")

from benchmarks import plain_ddi, plain_training  # noqa: E402


def test_a_hit_is_strictly_above_the_kth_negative() -> None:
    negative = torch.cat([torch.full((20,), 0.5), torch.zeros(100)])
    positive = torch.tensor([0.5, 0.6, 0.0, -0.1])
    found = plain_ddi.measured(positive, negative)
    assert (found["hits@20"], found["hits@50"], found["hits@100"]) == (0.25, 0.5, 0.5)


def test_ties_count_half_in_the_auc() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    positive, negative = rng.integers(1, 9, 50) / 8, rng.integers(0, 8, 200) / 8
    labels = np.repeat([1, 0], [50, 200])
    expected = sklearn.roc_auc_score(labels, np.concatenate([positive, negative]))
    found = plain_ddi.measured(torch.from_numpy(positive), torch.from_numpy(negative))
    assert found["auc"] == pytest.approx(expected, abs=1e-4)


@pytest.fixture
def ring() -> torch.Tensor:
    """Thirty nodes in a ring, each linked to the next two."""
    nodes = torch.arange(30)
    return torch.cat([torch.stack([nodes, (nodes + step) % 30], 1) for step in (1, 2)])


def test_walks_bring_neighbours_closer(ring) -> None:
    torch.manual_seed(0)
    vectors = plain_ddi.walk_vectors(ring, 30, 60)
    products = vectors @ vectors.t()
    near = products[ring[:, 0], ring[:, 1]].mean()
    assert near > products[ring[:, 0], (ring[:, 1] + 13) % 30].mean() + 1.0


def test_matrix_factorisation_without_a_layer_scores_vectors_and_learns(ring) -> None:
    torch.manual_seed(0)
    model = plain_ddi.Plain(torch.randn(30, plain_ddi.DIM), True, 0, 0.0)
    assert model.encode() is model.vectors
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(30):
        model.train_epoch(ring, optimizer, 0.0)
    assert model.score(model.encode(), ring).mean() > 0.8


def test_no_gradient_reaches_the_scorer_of_the_published_auto_encoder(ring) -> None:
    torch.manual_seed(0)
    model = plain_ddi.AutoEncoder(ring, 30, "mlp", 0.0)
    before = [weight.clone() for weight in model.untrained.parameters()]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    vectors = model.vectors.clone()
    model.train_epoch(ring, optimizer, 1.0)
    assert not torch.equal(model.vectors, vectors)
    after = list(model.untrained.parameters())
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


def test_the_best_ten_by_validation_are_better_on_test_where_both_go_together() -> None:
    values = np.random.default_rng(1).standard_normal(40)
    together = [{"valid": {"mrr": value}, "test": {"mrr": value}} for value in values]
    apart = [{"valid": {"mrr": value}, "test": {"mrr": 0.5}} for value in values]
    found = [plain_training.chosen_tens(together, "mrr", tens, 300) for tens in (1, 10, 100)]
    assert found == sorted(found)
    assert found[0] == pytest.approx(values.mean(), abs=0.06)
    assert found[2] > found[0] + 0.4
    assert plain_training.chosen_tens(apart, "mrr", 10, 20) == pytest.approx(0.5)


def test_a_summary_does_not_depend_on_which_seed_ends_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_training, "TENS", (1, 3))
    rng = np.random.default_rng(0)
    runs = [
        {"seed": seed, **{part: {"mrr": rng.random()} for part in ("valid", "test")}} for seed in range(20)
    ]
    wanted = plain_training.summary(runs, ("mrr",))
    assert plain_training.summary(runs[::-1], ("mrr",)) == wanted
    assert wanted["runs"] == runs
