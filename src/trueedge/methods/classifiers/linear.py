"""Logistic regression on degree, and on indices with degree projected out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.classifiers.classifier import Classifier, Decision
from trueedge.methods.classifiers.examples import (
    Examples,
    Features,
    seen,
    together,
    topology_and_degrees,
)
from trueedge.methods.method import setting
from trueedge.scorers.learned import learned

if TYPE_CHECKING:
    from trueedge.tasks import Task

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Linear(Classifier):
    """Logistic regression on PA, and on RA, JI, LRW and AA with PA projected out (A.2.1).

    Each of the four is regressed on PA by least squares with an intercept, and replaced by its residual. The
    paper then names scikit-learn's ridge regression with its default parameter; we take that as an L2 penalty
    of strength 1: the sum of log losses plus half the squared norm of the weights, without the intercept.
    Since PA and LRW are ten orders of magnitude apart, features are standardised first, which the paper does
    not mention; ``standardise=False`` turns that off.

    ``variant="published"`` is a reading of the published runs: features are computed with the training edge
    in the graph, PA is projected out and every feature divided by its L2 norm, both over the pairs that are
    scored together, so that a score depends on the other pairs. It is closer to the published AUC under
    uniform negatives, and not under degree-corrected ones (docs/misses.md).
    """

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear Classifier"
    uses_device: ClassVar[bool] = False
    features: ClassVar[Features] = staticmethod(topology_and_degrees)

    strength: float = setting(1.0, "weight of the L2 penalty", low=0.0, high=1e12, search=(0.1, 1.0, 10.0))
    standardise: bool = setting(True, "scale every feature to a standard deviation of 1")
    variant: str = setting(
        "unseen",
        "features of a training edge without it in the graph, or a reading of the published runs",
        choices=("unseen", "published"),
    )

    def numbers(self) -> Features:
        """Return the features of pairs; as published, these depend on all pairs of a call."""
        return freed_and_normalized if self.variant == "published" else type(self).features

    def examples(self, graph: Graph, numbers: Features, seed: int) -> Callable[[], list[Examples]]:
        """Return a function that makes the training examples."""
        if self.variant == "published":
            return partial(seen, graph, numbers, self.negatives, seed)
        return super().examples(graph, numbers, seed)

    def learn(
        self, parts: Callable[[], list[Examples]], size: int, task: Task, seed: int, device: str
    ) -> Decision:
        """Fit one weight per feature, and an intercept."""
        del task, seed, device
        found = learned(lambda: self._regress(parts()), weights=(size,), constant=())
        weights, constant = np.asarray(found["weights"]), float(found["constant"])
        return lambda features: _in_order(features, weights, constant)

    def _regress(self, parts: list[Examples]) -> dict[str, Floats]:
        rows, labels = together(parts)
        if self.variant == "published":
            weights, constant = logistic_regression(rows, labels, np.full(rows.shape[1], self.strength))
            return {"weights": weights, "constant": np.array(constant)}
        freed, slopes, constants = orthogonal_to_last(rows)
        std = freed.std(axis=0)
        unit = np.where(std > 0, std, 1.0)
        mean = freed.mean(axis=0)
        penalty = np.full(len(unit), self.strength) if self.standardise else self.strength / unit**2
        weights, constant = logistic_regression((freed - mean) / unit, labels, penalty)
        weights = weights / unit
        constant -= float(weights @ (mean + constants))
        # The slopes become part of PA's weight, so that scores are one linear map of the raw features.
        weights[-1] -= weights[:-1] @ slopes
        return {"weights": weights, "constant": np.array(constant)}


def freed_and_normalized(graph: Graph, pairs: NDArray[np.int64]) -> Floats:
    """Return the features with PA projected out, each divided by its norm over all pairs, float64 (n, 5)."""
    rows = topology_and_degrees(graph, pairs)
    if not len(rows):
        return rows
    freed, _, _ = orthogonal_to_last(rows)
    norms = np.sqrt((freed**2).sum(axis=0))
    return np.asarray(freed / np.where(norms > 0, norms, 1.0))


def orthogonal_to_last(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Project the last column out of the others; return rows (n, d), slopes (d - 1,), constants (d,)."""
    base = rows[:, -1] - rows[:, -1].mean()
    spread = float(base @ base)
    others = rows[:, :-1]
    slopes = base @ (others - others.mean(axis=0)) / spread if spread > 0 else np.zeros(others.shape[1])
    constants = np.append(others.mean(axis=0) - slopes * rows[:, -1].mean(), 0.0)
    freed = rows - constants
    freed[:, :-1] -= rows[:, -1:] * slopes
    return freed, slopes, constants


def logistic_regression(rows: Floats, labels: Floats, penalty: Floats) -> tuple[Floats, float]:
    """Fit a penalised logistic regression by Newton's method; return weights (d,) and the intercept.

    Args:
        rows: float64 (n, d).
        labels: float64 (n,) of zeros and ones.
        penalty: float64 (d,), twice the penalty of each squared weight; the intercept has none.
    """
    design = np.column_stack([rows, np.ones(len(rows))])
    # A tiny penalty keeps the weights finite where the classes are separable.
    ridge = np.append(np.maximum(penalty, 1e-9), 1e-9)
    weights = np.zeros(design.shape[1])
    loss = _loss(design, labels, ridge, weights)
    for _ in range(100):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -700, 700)))
        slope = design.T @ (chance - labels) + ridge * weights
        curvature = (design * (chance * (1.0 - chance))[:, None]).T @ design + np.diag(ridge)
        # Scaled to a unit diagonal: penalties may be ten orders of magnitude apart.
        scale = 1.0 / np.sqrt(np.diag(curvature))
        step = scale * np.linalg.solve(curvature * np.outer(scale, scale), scale * slope)
        while (after := _loss(design, labels, ridge, weights - step)) > loss and np.abs(step).max() > 1e-12:
            step = step / 2
        weights, gain, loss = weights - step, loss - after, after
        if gain <= 1e-12 * max(1.0, abs(loss)):
            break
    return weights[:-1], float(weights[-1])


def _loss(design: Floats, labels: Floats, ridge: Floats, weights: Floats) -> float:
    logits = design @ weights
    return float(np.sum(np.logaddexp(0.0, logits) - labels * logits) + 0.5 * np.sum(ridge * weights**2))


def _in_order(rows: Floats, weights: Floats, constant: float) -> Floats:
    """Map each row, summing in a fixed order; the order in a matrix product depends on the number of rows."""
    found = np.full(len(rows), constant)
    for column, weight in zip(rows.T, weights, strict=True):
        found += column * weight
    return found
