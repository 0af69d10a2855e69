"""The networks of RED-GNN and AdaProp: messages weighed by attention, from all or the best entities."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.training.loop import Objective
from trueedge.training.paths.attended import AttendedEdges, Attention, attended_sum
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.frontier import Frontier
from trueedge.training.paths.model import PathModel
from trueedge.training.paths.objective import SoftmaxObjective
from trueedge.training.paths.train import PathSchedule


class AttentiveLayer(nn.Module):
    """One round: messages h + r, weighed by attention, summed and mapped."""

    def __init__(self, num_relations: int, dim: int, attention_dim: int) -> None:
        super().__init__()
        # The last relation leads from an entity to itself.
        self.relation = nn.Embedding(num_relations + 1, dim)
        self.of_state = nn.Linear(dim, attention_dim, bias=False)
        self.of_relation = nn.Linear(dim, attention_dim, bias=False)
        self.of_query = nn.Linear(dim, attention_dim)
        self.weight = nn.Linear(attention_dim, 1, bias=False)
        self.map = nn.Linear(dim, dim, bias=False)

    def forward(
        self, states: torch.Tensor, asked: torch.Tensor, edges: AttendedEdges, own: torch.Tensor
    ) -> torch.Tensor:
        """Return the aggregated messages of all rows, float (rows, dim).

        Args:
            states: float (rows, dim).
            asked: int64 (queries,), the relation of each query.
            edges: the edges that pass messages.
            own: int64 (n,), the rows that also send a message to themselves.
        """
        vectors = self.relation.weight
        of_state, of_relation = self.of_state(states), self.of_relation(vectors)
        of_query = self.of_query(vectors[asked])
        attention = Attention(of_state, of_relation, of_query, self.weight.weight[0])
        total = attended_sum(states.unsqueeze(1), attention, edges, offsets=vectors)
        query = own // (len(states) // len(asked))
        hidden = F.relu(F.embedding(own, of_state) + of_relation[-1] + F.embedding(query, of_query))
        kept = torch.sigmoid(self.weight(hidden)) * (F.embedding(own, states) + vectors[-1])
        mapped: torch.Tensor = self.map(total.index_add(0, own, kept))
        return mapped


class AttentiveNetwork(PathModel):
    """Rounds of attention, joined by a gated recurrent unit.

    Args:
        num_relations: 2R.
        top: new entities of a query that are kept after a round, the best ones; None: all.
        activation: after each layer: relu, tanh or none.
    """

    def __init__(
        self,
        num_relations: int,
        dim: int,
        layers: int,
        attention_dim: int,
        dropout: float,
        top: int | None = None,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.num_relations, self.dim, self.top = num_relations, dim, top
        self.dropout, self.activation = dropout, activation
        self.layers = nn.ModuleList(AttentiveLayer(num_relations, dim, attention_dim) for _ in range(layers))
        self.choose = nn.ModuleList(nn.Linear(dim, 1, bias=False) for _ in range(layers - 1 if top else 0))
        self.gate = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, 1, bias=False)
        self.num_messages: list[int] = []

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
        """Return the logits of targets, float (queries, k), or of all entities; 0 if out of reach."""
        frontier = Frontier(edges, heads)
        entities = edges.num_entities
        states = torch.zeros(frontier.num_rows, self.dim, device=edges.device)
        for number, layer in enumerate(self.layers, start=1):
            query, edge = frontier.leaving(frontier.visited, number)
            own = frontier.visited.view(-1).nonzero().squeeze(1)
            target = query * entities + edges.tail[edge]
            along = AttendedEdges(
                query * entities + edges.head[edge], edges.relation[edge].long(), target, query, len(heads)
            )
            frontier.num_messages.append(len(edge) + len(own))
            new = layer(states, relations, along, own)
            reached = frontier.visited.clone()
            reached.view(-1)[target] = True
            rows = reached.view(-1).nonzero().squeeze(1)
            made = F.dropout(self._activate(new[rows]), self.dropout, self.training)
            made = self.gate(made, states[rows])
            if self.top is not None and number < len(self.layers):
                made, kept = self._keep_best(frontier, number, rows, made)
                rows, made = rows[kept], made[kept]
            states = torch.zeros_like(states).index_copy(0, rows, made)
            frontier.visited = torch.zeros_like(reached).view(-1).index_fill(0, rows, True).view_as(reached)
        self.num_messages = frontier.num_messages
        scores: torch.Tensor = self.out(states).view(len(heads), entities)
        return scores if targets is None else scores.gather(1, targets)

    def _activate(self, values: torch.Tensor) -> torch.Tensor:
        if self.activation == "none":
            return values
        return torch.tanh(values) if self.activation == "tanh" else F.relu(values)

    def _keep_best(
        self, frontier: Frontier, number: int, rows: torch.Tensor, made: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states, and which rows are kept: those visited before, and the best of the new ones."""
        assert self.top is not None
        before = frontier.visited.view(-1)[rows]
        logits = self.choose[number - 1](made.detach()).squeeze(1)
        table = torch.full((frontier.num_rows,), -torch.inf, device=made.device)
        table = table.index_copy(0, rows, logits.masked_fill(before, -torch.inf)).view_as(frontier.visited)
        # A query without new entities has nothing to choose from.
        shares = torch.softmax(table.masked_fill((table == -torch.inf).all(1, keepdim=True), 0.0), dim=1)
        best = shares.topk(min(self.top, shares.shape[1]), dim=1).indices
        chosen = torch.zeros_like(frontier.visited).scatter_(1, best, True).view(-1)[rows] & ~before
        # Straight-through: the value is 1, the gradient that of the share.
        share = self.top * shares.view(-1)[rows]
        made = torch.where(chosen.unsqueeze(1), made * (1 - share.detach() + share).unsqueeze(1), made)
        return made, before | chosen
