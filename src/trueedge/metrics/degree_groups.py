"""Comparisons of an AUC between groups of degree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def in_upper_half(positive: Floats, negative: Floats) -> tuple[Floats, Floats]:
    """Return how much of each positive (p,) and negative (m,) is in the upper half of all, from 0 to 1.

    Ties at the median are divided. All positives together weigh as much as all negatives.
    """
    values = np.concatenate([positive, negative])
    weights = np.repeat([0.5 / len(positive), 0.5 / len(negative)], [len(positive), len(negative)])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    median = values[order][min(int(np.searchsorted(reached, 0.5 - 1e-12)), len(order) - 1)]
    above, tied = float(weights[values > median].sum()), float(weights[values == median].sum())
    split = np.clip((0.5 - above) / tied, 0.0, 1.0)
    upper = np.where(values > median, 1.0, np.where(values == median, split, 0.0))
    return upper[: len(positive)], upper[len(positive) :]


def weighted_wins(positive: Floats, negative: Floats, pos_weights: Floats, neg_weights: Floats) -> float:
    """Return the weight of the comparisons that positives win, ties counting half, without normalisation."""
    order = np.argsort(negative, kind="stable")
    ordered = negative[order]
    before = np.concatenate([[0.0], np.cumsum(neg_weights[order])])
    lower = before[np.searchsorted(ordered, positive, side="left")]
    upto = before[np.searchsorted(ordered, positive, side="right")]
    return float(pos_weights @ (lower + upto) / 2)


def entropy(cells: Floats) -> float:
    """Return the entropy of shares, from 0 (all in one) to 1 (all equal)."""
    there = cells[cells > 0]
    return float(-(there * np.log(there)).sum() / np.log(cells.size))
