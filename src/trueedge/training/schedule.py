"""How a model is trained: the settings of the one loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueedge.errors import must_be

NEGATIVES = ("uniform", "degree-corrected", "heart")


@dataclass(frozen=True)
class Schedule:
    """The settings of the training loop.

    Attributes:
        learning_rate: of Adam, in the first epoch.
        decay: what the learning rate is multiplied by after each epoch.
        weight_decay: of Adam; learned vectors of nodes do not decay.
        batch_size: positives in a batch.
        epochs: the most epochs.
        evaluate_every: epochs between two looks at the validation part.
        patience: looks without a gain that are borne; one more ends the training.
        clip: the largest norm of the gradient of each part of a model (input, encoder, predictor); 0: none.
        negatives: how the negatives of a batch are drawn: both ends ``uniform``, or in proportion to degree
            (``degree-corrected``), or each from its positive's ``heart`` negatives (see
            :mod:`trueedge.training.hard_negatives`).
        reject_edges: draw a negative again that is an edge or joins a node to itself. Of uniform ones hardly
            any is an edge; of those drawn by degree a good share may be, since hubs are joined to hubs.
        negatives_per_positive: how many.
        hide_positives: take a batch's positives out of the graph that messages are passed on.
        neighbors: the most neighbours a node hears from in a step, drawn anew for each; 0: all. Without it a
            sum over a hub's neighbours is as large as the hub. Scores are made from all neighbours.
        select: the validation metric by which the best state is kept, the task's headline where None.
        keep_last: keep the last state and look at no validation part, for tasks without one.
        bfloat16: compute dense layers in bfloat16.
        compiled: compile the predictor with torch.compile.
    """

    learning_rate: float = 0.01
    decay: float = 1.0
    weight_decay: float = 0.0
    batch_size: int = 1024
    epochs: int = 9999
    evaluate_every: int = 5
    patience: int = 10
    clip: float = 1.0
    negatives: Literal["uniform", "degree-corrected", "heart"] = "uniform"
    reject_edges: bool = False
    negatives_per_positive: int = 1
    hide_positives: bool = True
    neighbors: int = 0
    select: str | None = None
    keep_last: bool = False
    bfloat16: bool = False
    compiled: bool = False

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "evaluate_every", "negatives_per_positive"):
            if getattr(self, name) < 1:
                raise must_be(name, "Schedule", "1 or more", getattr(self, name))
        if not self.learning_rate > 0:
            raise must_be("learning_rate", "Schedule", "above 0", self.learning_rate)
        if not 0 < self.decay <= 1:
            raise must_be("decay", "Schedule", "above 0 and at most 1", self.decay)
        for name in ("weight_decay", "patience", "clip", "neighbors"):
            if not getattr(self, name) >= 0:
                raise must_be(name, "Schedule", "0 or more", getattr(self, name))
        if self.negatives not in NEGATIVES:
            raise must_be("negatives", "Schedule", "'uniform', 'degree-corrected' or 'heart'", self.negatives)
