"""The aggregation of TAGNet's published code, for comparison with :class:`Pna`."""

from __future__ import annotations

import math

import torch

from trueedge.methods.paths.models.aggregation import LEAST_SCALE, LEAST_VARIANCE, Aggregation, Round
from trueedge.training.paths.messages import message_statistics

LEAST_DEGREE = 1e-6


class PublishedPna(Aggregation):
    """Four statistics as the published code computes them, which are not those of PNA.

    Without initial states, maximum and minimum are sums. With them, the deviation has neither root nor mean,
    and with degree messages the minimum is a maximum. Degrees are those of the whole training graph. A degree
    message is multiplied by the number of neighbours that are not reached yet; there is none in round 1.
    """

    parts = 4
    scaled = True

    def forward(self, given: Round) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the four statistics, float (rows, 4 dim), and scales (rows, 2)."""
        found = message_statistics(given.states, given.relations, given.step, self.message)
        degrees = self._degrees(given)
        extra = None
        if given.degree is not None:
            extra = (self._unreached(given) if given.number > 1 else torch.zeros_like(degrees)), given.degree
        if given.start is not None:
            features = self._with_start(found, given.start, degrees + 1, extra)
            return features, self._scales(torch.log(degrees + 1), 0.0, given)
        features = self._without_start(found, given.counts().clamp(min=1), degrees, extra)
        return features, self._scales(torch.log(degrees + LEAST_DEGREE), math.log(LEAST_DEGREE), given)

    def _with_start(
        self,
        found: tuple[torch.Tensor, ...],
        start: torch.Tensor,
        divisor: torch.Tensor,
        extra: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> torch.Tensor:
        total, square, most, least = found
        total, square = total + start, square + start.square()
        most, least = torch.maximum(_finite(most), start), torch.minimum(_finite(least), start)
        if extra is not None:
            added = extra[0] * extra[1]
            total, square, divisor = total + added, square + added.square(), divisor + extra[0]
            most, least = torch.maximum(most, added), torch.maximum(least, added)
        return torch.cat([total / divisor, most, least, square.clamp(min=LEAST_VARIANCE) / divisor], dim=1)

    def _without_start(
        self,
        found: tuple[torch.Tensor, ...],
        counts: torch.Tensor,
        degrees: torch.Tensor,
        extra: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> torch.Tensor:
        total, square = found[0], found[1]
        if extra is None:
            mean = total / counts
            spread = (square / counts - mean.square()).clamp(min=LEAST_VARIANCE).sqrt()
            return torch.cat([mean, total, total, spread], dim=1)
        added, divisor = extra[0] * extra[1], degrees + extra[0] + 1
        spread = (square + added.square()).clamp(min=LEAST_VARIANCE).sqrt() / divisor
        extremes = [torch.maximum(total, added), torch.minimum(total, added)]
        return torch.cat([(total + added) / divisor, *extremes, spread], dim=1)

    def _degrees(self, given: Round) -> torch.Tensor:
        """Return the degrees in the whole graph, 0 for rows without messages; float (rows, 1)."""
        degrees = given.plan.edges.whole.degrees.to(given.states.dtype)[given.entities].unsqueeze(1)
        return degrees * (given.counts() > 0)

    def _unreached(self, given: Round) -> torch.Tensor:
        """Return how many edges come from entities that are not reached yet, float (rows, 1)."""
        step, distance = given.step, given.plan.distance
        if distance is None:
            return torch.zeros_like(given.counts())
        # What is reached and enters a row of this round is among its messages.
        reached = (distance[step.source] < given.number).to(given.states.dtype)
        totals = torch.cat([reached.new_zeros(1), reached.cumsum(0)])
        degrees = given.plan.edges.degrees.to(reached.dtype)[given.entities]
        return (degrees - totals[step.ends].diff()).unsqueeze(1)

    def _scales(self, logs: torch.Tensor, elsewhere: float, given: Round) -> torch.Tensor:
        """Return the scales: the mean is over all entities of all queries."""
        rows = given.plan.rows.numel()
        scale = logs / ((logs.sum() + elsewhere * (rows - len(logs))) / rows)
        return torch.cat([scale, 1 / scale.clamp(min=LEAST_SCALE)], dim=1)


def _finite(values: torch.Tensor) -> torch.Tensor:
    return values.masked_fill(torch.isinf(values), 0)
