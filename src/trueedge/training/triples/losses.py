"""Binary cross-entropy of many candidates, with weights and the focal exponent."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812


def cross_entropy(
    logits: torch.Tensor,
    labels: torch.Tensor,
    weights: torch.Tensor | None = None,
    focal: float = 0.0,
    fixed_factor: bool = False,
) -> torch.Tensor:
    """Return the sum of the binary cross-entropies, float ().

    Args:
        logits: float, of any shape.
        labels: numbers from 0 to 1, of the same shape.
        weights: the weight of each term, of a shape that broadcasts; None: all 1.
        focal: the exponent gamma. A term whose label has probability p is multiplied by (1 - p)^gamma: Lin et
            al., Focal Loss for Dense Object Detection, ICCV 2017, Eq. 4. A smoothed label counts as 0 or 1.
        fixed_factor: whether this factor is a constant in the gradient.
    """
    if focal and fixed_factor:
        # A constant factor is a weight, and a weighted sum takes one pass.
        factor = _focal_factor(torch.sigmoid(logits.detach()), labels, focal)
        weights = factor if weights is None else factor * weights
    if not focal or fixed_factor:
        return F.binary_cross_entropy_with_logits(logits, labels, weights, reduction="sum")
    terms = F.binary_cross_entropy_with_logits(logits, labels, weights, reduction="none")
    return (terms * _focal_factor(torch.sigmoid(logits), labels, focal)).sum()


def self_adversarial(
    logits: torch.Tensor, temperature: float, focal: float = 0.0, fixed_factor: bool = False
) -> torch.Tensor:
    """Return the loss of each row of an answer's logit and those of its negatives, float (b,).

    Sun et al., RotatE, ICLR 2019, Eq. 5, where a logit is the margin minus the distance. ``focal`` and
    ``fixed_factor`` are those of :func:`cross_entropy`.
    """
    labels = torch.zeros_like(logits)
    labels[:, 0] = 1.0
    terms = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    if focal:
        factor = _focal_factor(torch.sigmoid(logits), labels, focal)
        terms = terms * (factor.detach() if fixed_factor else factor)
    weights = torch.softmax(temperature * logits[:, 1:].detach(), dim=1)
    return (terms[:, 0] + (weights * terms[:, 1:]).sum(dim=1)) / 2


def smooth(labels: torch.Tensor, share: float) -> torch.Tensor:
    """Spread a share of each row of labels, float (b, n), evenly over its n candidates."""
    return labels if not share else (1 - share) * labels + share / labels.shape[1]


def _focal_factor(probability: torch.Tensor, labels: torch.Tensor, focal: float) -> torch.Tensor:
    # The distance from the label is 1 - p; the bound keeps the gradient finite at 0.
    distance = torch.where(labels > 0.5, 1 - probability, probability).clamp(min=1e-8)
    return distance if focal == 1 else distance**focal
