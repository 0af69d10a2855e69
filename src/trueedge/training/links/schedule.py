"""Settings of the training of link predictors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueedge.errors import must_be
from trueedge.training.schedule import LoopSchedule

NEGATIVES = ("uniform", "degree-corrected", "heart")


@dataclass(frozen=True)
class Schedule(LoopSchedule):
    """How a link predictor is trained: the settings of the loop, batches and training negatives.

    Attributes:
        batch_size: positives in a batch.
        negatives: how the negatives of a batch are drawn: both ends ``uniform``, both in proportion to degree
            (``degree-corrected``), or from the ``heart`` negatives of each positive (see
            :mod:`trueedge.training.links.hard_negatives`).
        reject_edges: draw a negative again if it is an edge or joins a node to itself. Hardly any uniform
            negative is an edge; many drawn by degree may be, since hubs are joined to hubs.
        negatives_per_positive: how many.
        hide_positives: remove a batch's positives from the graph that messages are passed on.
        neighbors: the largest number of neighbours a node receives messages from in a step, drawn anew for
            each step; 0: all. Scores always use all neighbours.
        select: the validation metric that selects the best state; the task's headline where None.
        keep_last: keep the last state and never evaluate, for tasks without a validation part.
    """

    batch_size: int = 1024
    negatives: Literal["uniform", "degree-corrected", "heart"] = "uniform"
    reject_edges: bool = False
    negatives_per_positive: int = 1
    hide_positives: bool = True
    neighbors: int = 0
    select: str | None = None
    keep_last: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_at_least(1, "batch_size", "negatives_per_positive")
        self.check_at_least(0, "neighbors")
        if self.negatives not in NEGATIVES:
            raise must_be("negatives", "Schedule", "'uniform', 'degree-corrected' or 'heart'", self.negatives)
