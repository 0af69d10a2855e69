"""How the messages of a row become the input of a layer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import nn

from trueedge.training.paths.messages import message_statistics, sum_messages
from trueedge.training.paths.steps import Plan, Step

LEAST_VARIANCE = 1e-6
LEAST_SCALE = 1e-2


@dataclass(frozen=True, eq=False)
class Round:
    """What a layer aggregates.

    Attributes:
        states: float (all rows, dim), after the last round.
        relations: float (queries * 2R, dim).
        step: who receives from whom.
        plan: the plan it belongs to.
        number: the number of the round, from 1.
        start: float (rows, dim), initial states that count as one more message each; None: without.
        degree: float (dim,), the degree message; None: without.
    """

    states: torch.Tensor
    relations: torch.Tensor
    step: Step
    plan: Plan
    number: int
    start: torch.Tensor | None
    degree: torch.Tensor | None

    @property
    def entities(self) -> torch.Tensor:
        """The entity of each receiving row, int64 (rows,)."""
        return self.plan.entity[self.step.first : self.step.last]

    def counts(self) -> torch.Tensor:
        """Return the number of messages that each row receives along edges, float (rows, 1)."""
        return self.step.ends.diff().to(self.states.dtype).unsqueeze(1)

    def pruned(self) -> torch.Tensor:
        """Return how many of the edges that enter a row pass no message, float (rows, 1)."""
        degrees = self.plan.edges.degrees.to(self.states.dtype)[self.entities].unsqueeze(1)
        return degrees - self.counts()


class Aggregation(nn.Module, ABC):
    """An aggregation; its result has ``parts`` blocks of size dim, and perhaps scales.

    Args:
        message: how a state and a relation become a message, see
            :func:`trueedge.training.paths.messages.sum_messages`.
    """

    parts = 1
    scaled = False

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message

    @abstractmethod
    def forward(self, given: Round) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the aggregated messages, float (rows, parts * dim), and scales (rows, 2) or None."""


class SumAggregation(Aggregation):
    """The sum of messages."""

    def forward(self, given: Round) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the sums, float (rows, dim)."""
        total = sum_messages(given.states, given.relations, given.step, self.message)
        if given.start is not None:
            total = total + given.start
        if given.degree is not None:
            total = total + given.pruned() * given.degree
        return total, None


class ExtremeAggregation(Aggregation):
    """The entrywise maximum or minimum of messages; 0 if there are none."""

    def __init__(self, message: str, largest: bool) -> None:
        super().__init__(message)
        self.largest = largest

    def forward(self, given: Round) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the extremes, float (rows, dim)."""
        _, _, most, least = message_statistics(given.states, given.relations, given.step, self.message)
        most, least = with_extras(most, least, given)
        return (most if self.largest else least), None


class Pna(Aggregation):
    """Principal neighbourhood aggregation: four statistics, and scales that depend on their number.

    Corso et al., Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020. All statistics and scales
    are of the messages that are aggregated: those along edges, the initial state if it counts, and as many
    degree messages as there are pruned edges.
    """

    parts = 4
    scaled = True

    def forward(self, given: Round) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return mean, maximum, minimum and standard deviation, float (rows, 4 dim), and scales (rows, 2)."""
        total, square, most, least = message_statistics(
            given.states, given.relations, given.step, self.message
        )
        most, least = with_extras(most, least, given)
        number = given.counts()
        if given.start is not None:
            total, square, number = total + given.start, square + given.start.square(), number + 1
        if given.degree is not None:
            pruned = given.pruned()
            total, square = total + pruned * given.degree, square + pruned * given.degree.square()
            number = number + pruned
        divisor = number.clamp(min=1)
        mean = total / divisor
        spread = (square / divisor - mean.square()).clamp(min=LEAST_VARIANCE).sqrt()
        # In NBFNet the initial state counts as a message: log(degree + 1).
        scale = torch.log(number if given.start is not None else number + 1)
        scale = scale / given.plan.edges.mean_log_degree
        scales = torch.cat([scale, 1 / scale.clamp(min=LEAST_SCALE)], dim=1)
        return torch.cat([mean, most, least, spread], dim=1), scales


def with_extras(most: torch.Tensor, least: torch.Tensor, given: Round) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the extremes of all messages, initial states and degree messages too; 0 if there are none."""
    if given.start is not None:
        most, least = torch.maximum(most, given.start), torch.minimum(least, given.start)
    if given.degree is not None:
        some = given.pruned() > 0
        most = torch.where(some, torch.maximum(most, given.degree), most)
        least = torch.where(some, torch.minimum(least, given.degree), least)
    return most.masked_fill(torch.isinf(most), 0), least.masked_fill(torch.isinf(least), 0)
