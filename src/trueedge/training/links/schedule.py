"""Training settings of link predictors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueedge.errors import must_be
from trueedge.training.schedule import LoopSchedule

NEGATIVES = ("uniform", "unlinked", "degree-corrected", "heart")


@dataclass(frozen=True)
class Schedule(LoopSchedule):
    """How a link predictor is trained: the loop, batches and training negatives.

    Attributes:
        batch_size: positives per batch.
        negatives: how training negatives are sampled: both ends ``uniform``; the same among pairs of two
            nodes that no message joins (``unlinked``), which leaves out all edges but hidden ones of the
            batch; both ends in proportion to degree (``degree-corrected``); or from the ``heart`` negatives
            of each positive (see :mod:`trueedge.training.links.hard_negatives`).
        negatives_per_positive: negatives that are drawn for each positive.
        reject_edges: redraw negatives that are edges or self-loops. This matters for degree-corrected ones.
        fixed_negatives: draw the negatives of all edges once, in place of anew for each batch.
        hide_positives: remove a batch's positives from the message graph.
        neighbors: neighbours sampled per node in a training step; 0: all. Scores always use all neighbours.
        far_neighbors: neighbours sampled in all layers but the last; 0: as many as in the last.
        select: the validation metric for model selection; None: the task's headline metric.
        stop: the validation metric for early stopping; None: the one for model selection.
        keep_last: keep the last epoch and never evaluate, for tasks without a validation part.
    """

    batch_size: int = 1024
    negatives: Literal["uniform", "unlinked", "degree-corrected", "heart"] = "uniform"
    reject_edges: bool = False
    fixed_negatives: bool = False
    negatives_per_positive: int = 1
    hide_positives: bool = True
    neighbors: int = 0
    far_neighbors: int = 0
    select: str | None = None
    stop: str | None = None
    keep_last: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_at_least(1, "batch_size", "negatives_per_positive")
        self.check_at_least(0, "neighbors", "far_neighbors")
        if self.negatives not in NEGATIVES:
            listed = "'uniform', 'unlinked', 'degree-corrected' or 'heart'"
            raise must_be("negatives", "Schedule", listed, self.negatives)
