"""Losses of candidates equal their formulas written out."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.training.triples.losses import cross_entropy, self_adversarial, smooth  # noqa: E402

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(5, 7)) * 3
LABELS = (RNG.random((5, 7)) < 0.4).astype(float)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("focal", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_is_weighted_and_focused_as_its_formula(focal, weighted):
    weights = RNG.random((5, 7)) if weighted else np.ones((5, 7))
    right = np.where(LABELS == 1, sigmoid(LOGITS), sigmoid(-LOGITS))
    expected = (weights * (1 - right) ** focal * -np.log(right)).sum()
    given = torch.tensor(weights) if weighted else None
    found = cross_entropy(torch.tensor(LOGITS), torch.tensor(LABELS), given, focal)
    assert float(found) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("temperature", [0.0, 1.0, 3.0])
def test_self_adversarial_weights_are_a_softmax_of_the_negatives(temperature):
    negatives = LOGITS[:, 1:]
    weights = np.exp(temperature * negatives)
    weights /= weights.sum(axis=1, keepdims=True)
    expected = -np.log(sigmoid(LOGITS[:, 0])) - (weights * np.log(sigmoid(-negatives))).sum(axis=1)
    np.testing.assert_allclose(self_adversarial(torch.tensor(LOGITS), temperature), expected / 2, rtol=1e-9)


def test_no_gradient_flows_through_self_adversarial_weights():
    logits = torch.tensor(LOGITS, requires_grad=True)
    self_adversarial(logits, 1.0).sum().backward()
    weights = torch.softmax(logits[:, 1:].detach(), dim=1)
    torch.testing.assert_close(logits.grad[:, 1:], weights * torch.sigmoid(logits[:, 1:].detach()) / 2)


def test_smoothing_keeps_the_share_that_it_spreads():
    labels = torch.tensor([[1.0, 0.0, 0.0, 1.0]])
    torch.testing.assert_close(smooth(labels, 0.2), torch.tensor([[0.85, 0.05, 0.05, 0.85]]))
    assert smooth(labels, 0.0) is labels


def test_the_focal_gradient_is_finite_where_the_model_is_certain():
    logits = torch.tensor([80.0, -80.0], requires_grad=True)
    cross_entropy(logits, torch.tensor([1.0, 0.0]), focal=0.5).backward()
    assert torch.isfinite(logits.grad).all()


def test_a_focal_factor_that_is_held_fixed_is_a_weight():
    logits = torch.tensor(LOGITS, requires_grad=True)
    labels = torch.tensor(LABELS)
    cross_entropy(logits, labels, focal=1.0, fixed_factor=True).backward()
    probability = torch.sigmoid(torch.tensor(LOGITS))
    factor = torch.where(labels == 1, 1 - probability, probability)
    torch.testing.assert_close(logits.grad, factor * (probability - labels))


def test_the_focal_factor_of_a_smoothed_label_is_that_of_the_label():
    logits = torch.tensor(LOGITS)
    labels = torch.tensor(LABELS)
    smoothed = smooth(labels, 0.2)
    probability = torch.sigmoid(logits)
    factor = torch.where(labels == 1, 1 - probability, probability)
    plain = torch.nn.functional.binary_cross_entropy_with_logits(logits, smoothed, reduction="none")
    assert float(cross_entropy(logits, smoothed, focal=1.0)) == pytest.approx(float((plain * factor).sum()))
