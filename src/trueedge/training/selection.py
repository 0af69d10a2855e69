"""The state of a model that is best by one validation metric."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from trueedge.scorers.history import History
from trueedge.scorers.learned import Step


@dataclass(eq=False)
class Selection:
    """Keeps the best state of a model in training.

    Attributes:
        history: the values of the metric.
        state: the best state; empty before the first evaluation.
    """

    history: History
    state: dict[str, Any] = field(default_factory=dict)

    def note(self, epoch: int, value: float, model: nn.Module) -> None:
        """Add an evaluation, and keep the state of the model if it is the best so far."""
        if self.history.note(epoch, value):
            self.state = copy.deepcopy(model.state_dict())

    def step(self) -> Step:
        """Return the training as a step of a fit that ended in this state."""

        def arrays() -> dict[str, NDArray[np.generic]]:
            return {name: value.detach().cpu().numpy() for name, value in self.state.items()}

        return Step(arrays, self.history)

    def saved(self) -> dict[str, Any]:
        """Return plain values for a checkpoint."""
        return {"state": self.state, "history": vars(self.history)}

    def load(self, saved: dict[str, Any]) -> None:
        """Take over the values of a checkpoint."""
        self.state = saved["state"]
        vars(self.history).update(saved["history"])
