"""How the training of a scorer went. The module needs no torch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class History:
    """The history of a training.

    Attributes:
        metric: the metric for model selection; None if nothing is evaluated.
        losses: the mean loss of each epoch.
        values: the epoch and the validation value of each evaluation.
        best_epoch: the epoch that was kept.
        best: its validation value; None if nothing is evaluated.
        evaluations_without_improvement: evaluations since the best one.
        higher_is_better: whether a higher validation value is better.
    """

    metric: str | None
    losses: list[float] = field(default_factory=list)
    values: list[tuple[int, float]] = field(default_factory=list)
    best_epoch: int = 0
    best: float | None = None
    evaluations_without_improvement: int = 0
    higher_is_better: bool = True

    def is_above(self, level: float | None) -> bool:
        """Return whether the best value is better than a level; None is below everything."""
        if level is None:
            return True
        sign = 1 if self.higher_is_better else -1
        return self.best is not None and sign * self.best > sign * level

    def note(self, epoch: int, value: float) -> bool:
        """Add an evaluation; return whether it is the best so far.

        Args:
            epoch: the number of the epoch, from 1.
            value: the validation value.
        """
        self.values.append((epoch, value))
        sign = 1 if self.higher_is_better else -1
        if self.best is None or sign * value > sign * self.best:
            self.best, self.best_epoch, self.evaluations_without_improvement = value, epoch, 0
            return True
        self.evaluations_without_improvement += 1
        return False
