"""Training settings of models for triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trueedge.errors import must_be
from trueedge.training.schedule import LoopSchedule

OBJECTIVES = ("1-n", "1-k", "sampled")


@dataclass(frozen=True)
class TripleSchedule(LoopSchedule):
    """How a model for triples is trained: the loop, batches and training negatives.

    Attributes:
        objective: what the answers to a query (head, relation) are compared with:
            ``1-n``: all entities, by binary cross-entropy; a batch holds queries with all their answers.
            ``1-k``: sampled entities, by binary cross-entropy; a batch holds triples.
            ``sampled``: sampled entities, which weigh as much as the answer, and more the higher they score
            (Sun et al., RotatE, 2019, Eq. 5); a batch holds triples.
        batch_size: queries or triples per batch.
        negatives: entities sampled per triple.
        filter_negatives: never sample an answer that is in the training graph.
        label_smoothing: the share of the label that is spread over all entities that are scored.
        temperature: of the weights in ``sampled``; 0: equal weights.
        focal: the exponent gamma of the focal loss; 0: cross-entropy.
        fixed_factor: whether the factor of the focal loss is held fixed in each step.
        clip: as in the loop, but off by default.
        select: the validation metric for model selection; None: the task's headline metric.
        keep_last: keep the last epoch and never evaluate.
    """

    objective: Literal["1-n", "1-k", "sampled"] = "1-n"
    batch_size: int = 128
    negatives: int = 100
    filter_negatives: bool = True
    label_smoothing: float = 0.0
    temperature: float = 1.0
    focal: float = 0.0
    fixed_factor: bool = False
    clip: float = 0.0
    select: str | None = None
    keep_last: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_at_least(1, "batch_size", "negatives")
        self.check_at_least(0, "temperature", "focal")
        if self.objective not in OBJECTIVES:
            raise must_be("objective", "TripleSchedule", "'1-n', '1-k' or 'sampled'", self.objective)
        if not 0 <= self.label_smoothing < 1:
            raise must_be("label_smoothing", "TripleSchedule", "from 0 to below 1", self.label_smoothing)
