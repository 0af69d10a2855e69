"""Settings of the training loop."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueedge.errors import InputError, must_be

# A cycle of the learning rate begins at a 25th of its highest value, and ends at a 10,000th of that.
FIRST_SHARE, LAST_SHARE = 25, 1e4
# Adam's first beta where the rate of a cycle is low, and where it is high: those of PyTorch's ``OneCycleLR``.
SLOW_BETA, FAST_BETA = 0.95, 0.85


@dataclass(frozen=True)
class LoopSchedule:
    """How any model is trained: optimiser, epochs, early stopping.

    Attributes:
        learning_rate: of Adam, in the first epoch.
        decay: factor of the learning rate per epoch.
        cycle: share of the epochs in which the rate rises to ``learning_rate``, from a 25th of it; it then
            falls to nearly zero until the last epoch, both along half a cosine. 0: it stays as it is.
        cycle_beta: in a cycle, Adam's first beta falls from 0.95 to 0.85 while the rate rises, and then rises
            again.
        weight_decay: of Adam; a model may exempt some weights (see :func:`trueedge.training.optimize`).
        epochs: the largest number of epochs.
        evaluate_every: epochs between validation checks.
        first_check: the epoch after which the first validation check comes; 0: ``evaluate_every``.
        patience: validation checks without improvement that are allowed; one more stops the training.
        clip: the largest gradient norm per child module of the model; 0: no clipping.
        average_from: the first epoch whose weights are averaged (stochastic weight averaging); 0: none are.
            From then on, the averaged model is what is evaluated and kept.
        average_every: epochs between the states that are averaged.
        average_rate: the learning rate while weights are averaged; 0: the usual one.
        average_steps: averaged states after which that rate is reached; until then it follows a half cosine.
    """

    learning_rate: float = 0.01
    decay: float = 1.0
    cycle: float = 0.0
    cycle_beta: bool = False
    weight_decay: float = 0.0
    epochs: int = 9999
    evaluate_every: int = 5
    first_check: int = 0
    patience: int = 10
    clip: float = 1.0
    average_from: int = 0
    average_every: int = 1
    average_rate: float = 0.0
    average_steps: int = 10

    def __post_init__(self) -> None:
        self.check_at_least(1, "epochs", "evaluate_every", "average_every", "average_steps")
        self.check_at_least(
            0, "first_check", "weight_decay", "patience", "clip", "average_from", "average_rate"
        )
        if not self.learning_rate > 0:
            raise must_be("learning_rate", "Schedule", "above 0", self.learning_rate)
        if not 0 < self.decay <= 1:
            raise must_be("decay", "Schedule", "above 0 and at most 1", self.decay)
        if not 0 <= self.cycle < 1:
            raise must_be("cycle", "Schedule", "0 or more and below 1", self.cycle)
        if self.cycle_beta and not self.cycle:
            raise InputError("cycle_beta needs a cycle, such as cycle=0.05")

    def check_at_least(self, low: int, *names: str) -> None:
        """Refuse settings below a bound."""
        for name in names:
            if not getattr(self, name) >= low:
                raise must_be(name, "Schedule", f"{low} or more", getattr(self, name))

    def is_due(self, epoch: int) -> bool:
        """Return whether a validation check comes after an epoch."""
        since = epoch - (self.first_check or self.evaluate_every)
        return epoch == self.epochs or (since >= 0 and since % self.evaluate_every == 0)

    def averaged_states(self, epoch: int) -> int:
        """Return how many states have been averaged at the end of an epoch."""
        if not self.average_from or epoch < self.average_from:
            return 0
        return (epoch - self.average_from) // self.average_every + 1

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch."""
        rate = self._cycled(epoch) * self.decay ** (epoch - 1)
        if not self.average_rate:
            return rate
        share = min(1.0, self.averaged_states(epoch - 1) / self.average_steps)
        return _half_cosine(rate, self.average_rate, share)

    def beta(self, epoch: int) -> float | None:
        """Return Adam's first beta in an epoch; None: it stays as it is."""
        if not (self.cycle and self.cycle_beta):
            return None
        top, step, last = self.cycle * self.epochs - 1, epoch - 1, self.epochs - 1
        if step <= top:
            return _half_cosine(SLOW_BETA, FAST_BETA, step / top if top > 0 else 1.0)
        return _half_cosine(FAST_BETA, SLOW_BETA, (step - top) / (last - top))

    def _cycled(self, epoch: int) -> float:
        """Return the rate of an epoch in a cycle, as PyTorch's ``OneCycleLR`` has it."""
        if not self.cycle:
            return self.learning_rate
        first = self.learning_rate / FIRST_SHARE
        top, step, last = self.cycle * self.epochs - 1, epoch - 1, self.epochs - 1
        if step <= top:
            return _half_cosine(first, self.learning_rate, step / top if top > 0 else 1.0)
        return _half_cosine(self.learning_rate, first / LAST_SHARE, (step - top) / (last - top))


def _half_cosine(start: float, end: float, share: float) -> float:
    """Return the value after a share of the way from ``start`` to ``end``."""
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2
