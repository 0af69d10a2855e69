"""The network of NBFNet and TAGNet: layers along a plan, and a score for each entity."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.paths.models.aggregation import (
    LEAST_SCALE,
    LEAST_VARIANCE,
    Aggregation,
    ExtremeAggregation,
    Pna,
    Round,
    SumAggregation,
)
from trueedge.methods.paths.models.published_pna import PublishedPna
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.model import PathModel
from trueedge.training.paths.steps import Plan, Step, full_plan
from trueedge.training.paths.walks import WalkedPlan, WalkedStep, can_walk, gpu_kernels, walked_full_plan


@dataclass(frozen=True)
class Shape:
    """The settings of a network.

    Attributes:
        num_relations: 2R.
        dim: size of the states.
        layers: number of rounds.
        message: how a state and a relation become a message: distmult, transe or rotate.
        aggregation: how messages become one vector: sum, max, min, pna or published-pna.
        dependent: whether the vectors of relations are linear functions of the query.
        start_messages: whether the initial state is one more message in each round.
        degree_messages: whether a learned message stands for each edge that is pruned.
        bias: whether layers have additive and normalisation weights.
        update_all: whether a layer also changes the states of rows that receive no messages.
        dropout: after each layer.
    """

    num_relations: int
    dim: int = 32
    layers: int = 6
    message: str = "distmult"
    aggregation: str = "pna"
    dependent: bool = True
    start_messages: bool = True
    degree_messages: bool = False
    bias: bool = True
    dropout: float = 0.0
    update_all: bool = False


def make_aggregation(name: str, message: str) -> Aggregation:
    """Return an aggregation by its name: sum, max, min, pna or published-pna."""
    if name in ("max", "min"):
        return ExtremeAggregation(message, name == "max")
    return {"sum": SumAggregation, "pna": Pna, "published-pna": PublishedPna}[name](message)


class Layer(nn.Module):
    """One round: messages, aggregation, linear map, normalisation, ReLU, dropout; the old state is added."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        dim = shape.dim
        self.aggregation = make_aggregation(shape.aggregation, shape.message)
        blocks = self.aggregation.parts * (3 if self.aggregation.scaled else 1)
        self.linear = nn.Linear((1 + blocks) * dim, dim, bias=shape.bias)
        self.norm = nn.LayerNorm(dim, elementwise_affine=shape.bias)
        self.relation: nn.Module
        if shape.dependent:
            self.relation = nn.Linear(dim, shape.num_relations * dim)
        else:
            self.relation = nn.Embedding(shape.num_relations, dim)
        self.degree: torch.Tensor | None = None
        if shape.degree_messages:
            bound = self.linear.in_features**-0.5
            self.degree = nn.Parameter(torch.empty(dim).uniform_(-bound, bound))

    def relations(self, query: torch.Tensor) -> torch.Tensor:
        """Return the vector of each relation for each query, float (queries * 2R, dim)."""
        if isinstance(self.relation, nn.Embedding):
            return self.relation.weight.expand(len(query), -1, -1).reshape(-1, self.shape.dim)
        mapped: torch.Tensor = self.relation(query)
        return mapped.view(-1, self.shape.dim)

    def forward(
        self,
        states: torch.Tensor,
        query: torch.Tensor,
        start: torch.Tensor,
        plan: Plan,
        step: Step,
        number: int,
    ) -> torch.Tensor:
        """Return the new states of the rows that receive, float (rows, dim).

        Args:
            states: float (all rows, dim).
            query: float (queries, dim).
            start: float (all rows, dim), the initial states.
            number: the number of the round, from 1.
        """
        rows = slice(step.first, step.last)
        first = start[rows] if self.shape.start_messages else None
        given = Round(states, self.relations(query), step, plan, number, first, self.degree)
        return self.update(given, states[rows]) + states[rows]

    def walk(self, states: torch.Tensor, query: torch.Tensor, step: WalkedStep) -> torch.Tensor:
        """Return the new states of all rows, float (all rows, dim): as :meth:`forward`, in few kernels."""
        shape, kernels = self.shape, gpu_kernels()
        if step.first == step.last:
            return states
        how = kernels.Statistics(
            product=shape.message == "distmult",
            start=shape.start_messages,
            degree=shape.degree_messages,
            least_variance=LEAST_VARIANCE,
            least_scale=LEAST_SCALE,
        )
        mask = None
        if self.training and shape.dropout > 0:
            mask = F.dropout(torch.ones_like(states[step.first : step.last]), shape.dropout)
        weights = self.linear.weight, self.linear.bias, self.norm.weight, self.norm.bias
        given = states, self.relations(query), query, self.degree, weights, mask, self.norm.eps
        new: torch.Tensor = kernels.walked_layer(*given, step, how)
        return new

    def update(self, given: Round, own: torch.Tensor) -> torch.Tensor:
        """Return what is added to the states of the rows that receive, float (rows, dim).

        Args:
            given: the messages.
            own: float (rows, dim), the rows' own states.
        """
        received, scales = self.aggregation(given)
        weight, dim = self.linear.weight, self.shape.dim
        hidden = F.linear(own, weight[:, :dim], self.linear.bias)
        if scales is None:
            hidden = hidden + F.linear(received, weight[:, dim:])
        else:
            # Scaling after the map takes a third of the memory.
            parts = weight[:, dim:].unflatten(1, (3, -1)).transpose(0, 1).flatten(0, 1)
            plain, larger, smaller = F.linear(received, parts).chunk(3, 1)
            hidden = hidden + plain + scales[:, :1] * larger + scales[:, 1:] * smaller
        return self._activate(hidden)

    def without_messages(self, own: torch.Tensor) -> torch.Tensor:
        """Return the new states of rows that receive nothing, float (rows, dim)."""
        if not self.shape.update_all:
            return own
        return self._activate(F.linear(own, self.linear.weight[:, : self.shape.dim], self.linear.bias)) + own

    def _activate(self, hidden: torch.Tensor) -> torch.Tensor:
        return F.dropout(F.relu(self.norm(hidden)), self.shape.dropout, self.training)


class PathNetwork(PathModel):
    """Layers along a plan, and an MLP on the state of an entity and the query."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.query = nn.Embedding(shape.num_relations, shape.dim)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        size = 2 * shape.dim
        self.hidden, self.out = nn.Linear(size, size), nn.Linear(size, 1)

    @abstractmethod
    def plan(self, edges: Edges, heads: torch.Tensor) -> Plan | WalkedPlan:
        """Return which edges pass messages."""

    @property
    def walks(self) -> bool:
        """Whether layers walk along edges, rather than read a list of messages."""
        shape = self.shape
        fits = shape.aggregation == "pna" and shape.message != "rotate" and not shape.update_all
        return fits and can_walk(self.query.weight)

    def score(
        self,
        edges: Edges,
        heads: torch.Tensor,
        relations: torch.Tensor,
        targets: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits of targets, float (queries, k), or of all entities."""
        plan = self.plan(edges, heads)
        query: torch.Tensor = self.query(relations)
        states = self.final_states(plan, query)
        kernels = gpu_kernels() if targets is None and isinstance(plan, WalkedPlan) else None
        if kernels and self.shape.dim <= kernels.LARGEST_SCORED and not torch.is_grad_enabled():
            scores: torch.Tensor = kernels.score_entities(states, plan, query, self.hidden, self.out)
            return scores
        unreached = self.unreached_state(query)
        every = torch.arange(len(query), device=query.device).unsqueeze(1)
        if targets is None:
            # One logit for each row, and one for the entities that a query does not reach.
            logits = self.logits(states, query[plan.query])
            logits = torch.cat([logits, self.logits(unreached.expand_as(query), query)])
            return logits[torch.where(plan.rows < 0, plan.num_rows + every, plan.rows)]
        rows = plan.rows.gather(1, targets)
        place = torch.where(rows < 0, plan.num_rows, rows).flatten()
        # The gradient of index_select does not sort.
        found = torch.cat([states, unreached]).index_select(0, place)
        asked = query.index_select(0, every.expand_as(rows).flatten())
        return self.logits(found, asked).view(targets.shape)

    def unreached_state(self, query: torch.Tensor) -> torch.Tensor:
        """Return the state of an entity that no path reaches, float (1, dim)."""
        state = query.new_zeros(1, self.shape.dim)
        for layer in self.layers:
            state = layer.without_messages(state)
        return state

    def final_states(self, plan: Plan | WalkedPlan, query: torch.Tensor) -> torch.Tensor:
        """Return the states that are scored, float (rows, dim)."""
        return self.propagate(plan, query)[-1]

    def propagate(self, plan: Plan | WalkedPlan, query: torch.Tensor) -> list[torch.Tensor]:
        """Return the states before the first round and after each, float (rows, dim)."""
        start = query.new_zeros(plan.num_rows, self.shape.dim).index_copy_(0, plan.starts, query)
        all_states = [start]
        if isinstance(plan, WalkedPlan):
            for layer, walked in zip(self.layers, plan.steps, strict=True):
                all_states.append(layer.walk(all_states[-1], query, walked))
            return all_states
        for number, (layer, step) in enumerate(zip(self.layers, plan.steps, strict=True), start=1):
            states = all_states[-1]
            if step.first < step.last:
                new = layer(states, query, start, plan, step, number)
                before, after = states[: step.first], states[step.last :]
                if len(before) or len(after):
                    rest = [layer.without_messages(one) for one in (before, after)]
                    new = torch.cat([rest[0], new, rest[1]])
            else:
                new = layer.without_messages(states)
            all_states.append(new)
        return all_states

    def logits(self, states: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        """Return the logits of states given the query of each, float (n,)."""
        hidden = F.relu(self.hidden(torch.cat([states, query], dim=1)))
        scored: torch.Tensor = self.out(hidden)
        return scored.squeeze(1)


class FullNetwork(PathNetwork):
    """The network of NBFNet: every edge passes a message in every round."""

    def plan(self, edges: Edges, heads: torch.Tensor) -> Plan | WalkedPlan:
        """Return rounds with all edges."""
        make = walked_full_plan if self.walks else full_plan
        return make(edges, heads, self.shape.layers)
