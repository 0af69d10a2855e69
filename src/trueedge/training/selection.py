"""The state of a model that is best by one validation metric, or by two at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping
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

    def note(self, epoch: int, values: Mapping[str, float], model: nn.Module) -> None:
        """Add an evaluation, and keep the state of the model if it is the best so far.

        Args:
            epoch: the number of the epoch, from 1.
            values: the validation values by name, among them that of the history's metric.
            model: the model in its current state.
        """
        if self.history.note(epoch, values[str(self.history.metric)]):
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


@dataclass(eq=False)
class JointSelection(Selection):
    """Keeps a state only if two values have both improved on all values before.

    Early stopping counts the evaluations in which neither has. HetSANN's code chooses its state by this rule.

    Attributes:
        other: the name of the second value; higher is better.
        others: its values.
    """

    other: str = ""
    others: list[float] = field(default_factory=list)

    def note(self, epoch: int, values: Mapping[str, float], model: nn.Module) -> None:
        """Add an evaluation; keep the state of the model if both values are better than ever before."""
        history, value, other = self.history, values[str(self.history.metric)], values[self.other]
        sign = 1 if history.higher_is_better else -1
        better = [
            all(sign * value > sign * one for _, one in history.values),
            all(other > one for one in self.others),
        ]
        history.values.append((epoch, value))
        self.others.append(other)
        history.evaluations_without_improvement += 1
        if any(better):
            history.evaluations_without_improvement = 0
        if all(better):
            history.best, history.best_epoch = value, epoch
            self.state = copy.deepcopy(model.state_dict())

    def saved(self) -> dict[str, Any]:
        """Return plain values for a checkpoint."""
        return {**super().saved(), "others": self.others}

    def load(self, saved: dict[str, Any]) -> None:
        """Take over the values of a checkpoint."""
        super().load(saved)
        self.others = saved["others"]
