"""Settings of the training loop."""

from __future__ import annotations

from dataclasses import dataclass

from trueedge.errors import must_be


@dataclass(frozen=True)
class LoopSchedule:
    """How any model is trained: optimiser, epochs, early stopping.

    Attributes:
        learning_rate: of Adam, in the first epoch.
        decay: factor of the learning rate per epoch.
        weight_decay: of Adam; a model may exempt some weights (see :func:`trueedge.training.optimize`).
        epochs: the largest number of epochs.
        evaluate_every: epochs between validation checks.
        patience: validation checks without improvement that are allowed; one more stops the training.
        clip: the largest gradient norm per child module of the model; 0: no clipping.
    """

    learning_rate: float = 0.01
    decay: float = 1.0
    weight_decay: float = 0.0
    epochs: int = 9999
    evaluate_every: int = 5
    patience: int = 10
    clip: float = 1.0

    def __post_init__(self) -> None:
        self.check_at_least(1, "epochs", "evaluate_every")
        self.check_at_least(0, "weight_decay", "patience", "clip")
        if not self.learning_rate > 0:
            raise must_be("learning_rate", "Schedule", "above 0", self.learning_rate)
        if not 0 < self.decay <= 1:
            raise must_be("decay", "Schedule", "above 0 and at most 1", self.decay)

    def check_at_least(self, low: int, *names: str) -> None:
        """Refuse settings below a bound."""
        for name in names:
            if not getattr(self, name) >= low:
                raise must_be(name, "Schedule", f"{low} or more", getattr(self, name))
