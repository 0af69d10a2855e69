"""The network of TAGNet: messages within a window of distances from the source."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.paths.models.network import PathNetwork, Shape
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.steps import Plan, pruned_plan
from trueedge.training.paths.walks import WalkedPlan, walked_pruned_plan


class TruncatedNetwork(PathNetwork):
    """Propagation that stops ``delta`` rounds after an entity is first reached (Algorithm D.1).

    Args:
        shape: the settings of the network.
        delta: how much longer than the shortest path a path may be.
        attention: None: the last state is scored. Else a mean over the states of an entity, weighted by their
            logits (``score``) or by a function of its own (``own``); see equation 5.12.
        temperature: of the softmax of these weights.
    """

    def __init__(
        self, shape: Shape, delta: int, attention: str | None = None, temperature: float = 1.0
    ) -> None:
        super().__init__(shape)
        self.delta, self.attention, self.temperature = delta, attention, temperature
        size = 2 * shape.dim
        self.attend = (
            nn.Sequential(nn.Linear(size, size), nn.Linear(size, 1), nn.LeakyReLU(0.2))
            if attention == "own"
            else None
        )

    def plan(self, edges: Edges, heads: torch.Tensor) -> Plan | WalkedPlan:
        """Return rounds with the edges of the window."""
        make = walked_pruned_plan if self.walks else pruned_plan
        return make(edges, heads, self.shape.layers, self.delta)

    def final_states(self, plan: Plan | WalkedPlan, query: torch.Tensor) -> torch.Tensor:
        """Return the last state of each row, or the weighted mean of those in its window."""
        states = self.propagate(plan, query)
        if self.attention is None:
            return states[-1]
        assert plan.distance is not None
        of_rows = query.index_select(0, plan.query)
        weights = []
        for number, after in enumerate(states):
            # Rows that changed in this round; a source has its first state before round 1.
            first, last = (0, len(query)) if number == 0 else _bounds(plan, number)
            own = self._weights(after[first:last], of_rows[first:last]) / self.temperature
            weights.append(F.pad(own, (first, plan.num_rows - last), value=-torch.inf))
        shares = torch.softmax(torch.stack(weights), dim=0).unsqueeze(2)
        # A state outside of the window has the share 0.
        return (shares * torch.stack(states)).sum(0)

    def _weights(self, states: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        if self.attend is None:
            return self.logits(states, query)
        weighed: torch.Tensor = self.attend(torch.cat([states, query], dim=1))
        return weighed.squeeze(1)


def _bounds(plan: Plan | WalkedPlan, number: int) -> tuple[int, int]:
    step = plan.steps[number - 1]
    return step.first, step.last
