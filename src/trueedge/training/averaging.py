"""Stochastic weight averaging: the mean of a model's states in several epochs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


class WeightAverage:
    """The mean of the states that were added.

    Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, UAI 2018.

    Attributes:
        state: the mean of all weights and statistics, by name; whole numbers are those of the last state.
        count: how many states were added.
    """

    def __init__(self) -> None:
        self.state: dict[str, torch.Tensor] = {}
        self.count = 0

    def add(self, model: nn.Module) -> None:
        """Add the current state of a model."""
        self.count += 1
        for name, value in model.state_dict().items():
            mean = self.state.get(name)
            if mean is None or not value.is_floating_point():
                self.state[name] = value.detach().clone()
            else:
                mean.add_(value.detach() - mean, alpha=1 / self.count)

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """Give a model the averaged state inside the block, if there is one, and its own afterwards."""
        if not self.count:
            yield
            return
        own = {name: value.detach().clone() for name, value in model.state_dict().items()}
        model.load_state_dict(self.state)
        try:
            yield
        finally:
            model.load_state_dict(own)

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint holds of this average."""
        return {"state": self.state, "count": self.count}

    def load(self, saved: dict[str, Any]) -> None:
        """Continue from what :meth:`saved` returned."""
        self.state, self.count = saved["state"], int(saved["count"])
