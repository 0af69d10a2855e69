"""An MLP on the features of a pair, and its training objective."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.training import Objective


class PairPerceptron(nn.Module):
    """An MLP from the features of a pair to a logit, float64: two hidden layers, LeakyReLU, dropout."""

    def __init__(self, size: int, hidden: int, dropout: float) -> None:
        super().__init__()
        sizes = ((size, hidden), (hidden, hidden), (hidden, 1))
        self.layers = nn.ModuleList(nn.Linear(*pair, dtype=torch.float64) for pair in sizes)
        self.dropout = dropout

    def forward(self, features: torch.Tensor, in_order: bool = False) -> torch.Tensor:
        """Return a logit for each row of features (n, size), float64 (n,).

        With ``in_order``, sums are taken in a fixed order, so that equal rows tie in any batch.
        """
        states = features
        for place, layer in enumerate(self.layers):
            states = _in_order(states, layer) if in_order else layer(states)
            if place + 1 < len(self.layers):
                states = F.dropout(F.leaky_relu(states), self.dropout, self.training)
        return states.squeeze(-1)


def _in_order(states: torch.Tensor, layer: nn.Module) -> torch.Tensor:
    """Map states with sums in a fixed order; the order in a matrix product depends on the number of rows."""
    weight, found = layer.weight.t(), layer.bias.expand(len(states), -1)
    for place in range(weight.shape[0]):
        found = found + states[:, place, None] * weight[place]
    return found


class LabelledRows(Objective):
    """Binary cross entropy of labelled rows of features."""

    def __init__(
        self, features: NDArray[np.float64], labels: NDArray[np.float64], batch: int, device: str
    ) -> None:
        self.features = torch.from_numpy(features).to(device)
        self.labels = torch.from_numpy(labels).to(device)
        self.batch = batch

    def steps(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield batches of all rows in a random order."""
        order = rng.permutation(len(self.labels))
        for start in range(0, len(order), self.batch):
            yield order[start : start + self.batch]

    def backward(
        self, model: PairPerceptron, step: NDArray[np.int64], rng: np.random.Generator
    ) -> torch.Tensor:
        """Compute the loss of a batch and its gradients."""
        del rng
        rows = torch.from_numpy(step).to(self.labels.device)
        logits = model(self.features[rows])
        loss = F.binary_cross_entropy_with_logits(logits, self.labels[rows])
        loss.backward()
        return loss.detach()
