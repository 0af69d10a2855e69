"""The networks of DRUM and NeuralLP: weights of relations in each step, read from the query alone."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from trueedge.training.loop import Objective
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.messages import sum_messages
from trueedge.training.paths.model import PathModel
from trueedge.training.paths.objective import SoftmaxObjective
from trueedge.training.paths.steps import Plan, pruned_plan
from trueedge.training.paths.train import PathSchedule

LEAST = 1e-20


class RuleNetwork(PathModel):
    """The common part: sums over walks, and their logarithm as the score."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.num_steps = layers

    def objective(self, triples: NDArray[np.int32], edges: Edges, schedule: PathSchedule) -> Objective | None:
        """Return the cross-entropy over all entities."""
        return SoftmaxObjective(triples, edges, schedule.batch_size, schedule.remove_all)

    def score(
        self,
        edges: Edges,
        heads: torch.Tensor,
        relations: torch.Tensor,
        targets: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logarithm of the weighted number of walks to targets, or to all entities."""
        # Every walk of the steps counts, and none starts elsewhere: the widest window prunes empty messages.
        plan = pruned_plan(edges, heads, self.num_steps, self.num_steps)
        found = torch.cat([self.walks(plan, relations), torch.zeros(1, device=edges.device)])
        rows = plan.rows if targets is None else plan.rows.gather(1, targets)
        return torch.log(found[rows].clamp(min=LEAST))

    @abstractmethod
    def walks(self, plan: Plan, relations: torch.Tensor) -> torch.Tensor:
        """Return the weighted number of walks to each row, float (rows,)."""


class DrumNetwork(RuleNetwork):
    """Sums over ``rank`` rules of products of attention over relations; a step may also stay where it is."""

    def __init__(self, num_relations: int, dim: int, layers: int, rank: int) -> None:
        super().__init__(layers)
        self.num_relations = num_relations
        self.query = nn.Embedding(num_relations, dim)
        self.readers = nn.ModuleList(
            nn.LSTM(dim, dim, batch_first=True, bidirectional=True) for _ in range(rank)
        )
        self.attend = nn.ModuleList(nn.Linear(2 * dim, num_relations + 1) for _ in range(rank))

    def attention(self, relations: torch.Tensor) -> torch.Tensor:
        """Return the weight of each relation, float (queries, steps, 2R + 1, rank); the last: stay."""
        given = self.query(relations).unsqueeze(1).expand(-1, self.num_steps, -1)
        heads = zip(self.readers, self.attend, strict=True)
        return torch.stack(
            [torch.softmax(mapped(reader(given)[0]), dim=2) for reader, mapped in heads], dim=3
        )

    def walks(self, plan: Plan, relations: torch.Tensor) -> torch.Tensor:
        """Return the sum over rules of the weighted walks to each row, float (rows,)."""
        weights = self.attention(relations)
        rank = weights.shape[3]
        counts = weights.new_zeros(plan.num_rows, rank).index_fill(0, plan.starts, 1.0)
        for number, step in enumerate(plan.steps):
            along, stay = weights[:, number, :-1].reshape(-1, rank), weights[:, number, -1]
            # Rows from 0 on are those within reach.
            reached = sum_messages(counts, along, step) + counts[: step.last] * stay[plan.query[: step.last]]
            counts = torch.cat([reached, counts[step.last :]])
        return counts.sum(1)


class NeuralLpNetwork(RuleNetwork):
    """A controller that attends to relations, and to the results of all earlier steps."""

    def __init__(self, num_relations: int, dim: int, layers: int) -> None:
        super().__init__(layers)
        self.num_relations = num_relations
        # The last stands for the end of a rule.
        self.query = nn.Embedding(num_relations + 1, dim)
        self.reader = nn.LSTM(dim, dim, batch_first=True)
        self.attend = nn.Linear(dim, num_relations)

    def walks(self, plan: Plan, relations: torch.Tensor) -> torch.Tensor:
        """Return the weighted walks to each row, float (rows,)."""
        given = self.query(relations).unsqueeze(1).expand(-1, self.num_steps, -1)
        end = self.query.weight[-1].expand(len(relations), 1, -1)
        hidden = self.reader(torch.cat([given, end], dim=1))[0]
        weights = torch.softmax(self.attend(hidden), dim=2)
        memory = [hidden.new_zeros(plan.num_rows, 1).index_fill(0, plan.starts, 1.0)]
        for number, step in enumerate(plan.steps):
            along = weights[:, number].reshape(-1, 1)
            reached = sum_messages(self._recall(memory, hidden, number, plan), along, step)
            memory.append(torch.cat([reached, hidden.new_zeros(plan.num_rows - step.last, 1)]))
        return self._recall(memory, hidden, self.num_steps, plan).squeeze(1)

    def _recall(
        self, memory: list[torch.Tensor], hidden: torch.Tensor, number: int, plan: Plan
    ) -> torch.Tensor:
        """Return the mean of earlier results, weighted by how alike the states of the controller are."""
        if number == 0:
            return memory[0]
        alike = (hidden[:, : number + 1] * hidden[:, number : number + 1]).sum(2)
        shares = torch.softmax(alike, dim=1)[plan.query]
        return (torch.cat(memory, dim=1) * shares).sum(1, keepdim=True)
