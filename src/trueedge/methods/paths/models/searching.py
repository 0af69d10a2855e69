"""The network of A*Net: messages leave only the entities that look most promising."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.paths.models.aggregation import Round
from trueedge.methods.paths.models.network import Layer, Shape
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.frontier import Frontier
from trueedge.training.paths.model import PathModel


class SearchingNetwork(PathModel):
    """In each round, the best visited entities send, along their best edges.

    Args:
        shape: the settings of the layers.
        node_share: share of all entities that send in a round of training.
        test_node_share: the same after training.
        edge_share: edges of a round, as a share of what as many entities have on average.
        delta: keep only edges that TAGNet keeps too; None: all.
    """

    def __init__(
        self,
        shape: Shape,
        node_share: float,
        test_node_share: float,
        edge_share: float = 1.0,
        delta: int | None = None,
    ) -> None:
        super().__init__()
        self.shape, self.delta = shape, delta
        self.node_share, self.test_node_share, self.edge_share = node_share, test_node_share, edge_share
        self.query = nn.Embedding(shape.num_relations, shape.dim)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.priority = nn.Linear(2 * shape.dim, shape.dim)
        self.hidden, self.out = nn.Linear(shape.dim, 2 * shape.dim), nn.Linear(2 * shape.dim, 1)
        self.num_messages: list[int] = []

    def score(
        self,
        edges: Edges,
        heads: torch.Tensor,
        relations: torch.Tensor,
        targets: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits of targets, float (queries, k), or of all entities."""
        frontier = Frontier(edges, heads, self.delta, self.shape.layers)
        query: torch.Tensor = self.query(relations)
        start = query.new_zeros(frontier.num_rows, self.shape.dim).index_copy(0, frontier.starts, query)
        states = start
        scores = self.logits(torch.zeros_like(query), query).repeat_interleave(edges.num_entities)
        scores = scores.index_copy(0, frontier.starts, self.logits(query, query))
        for number, module in enumerate(self.layers, start=1):
            chosen = self._select(frontier, scores.detach(), number)
            step, rows = frontier.step(*chosen)
            plan = frontier.plan(step, rows)
            gated = torch.sigmoid(scores).unsqueeze(1) * states
            layer: Layer = module
            first = start[rows] if self.shape.start_messages else None
            given = Round(gated, layer.relations(query), step, plan, number, first, None)
            new = states[rows] + layer.update(given, gated[rows])
            states = states.index_copy(0, rows, new)
            scores = scores.index_copy(0, rows, self.logits(new, query[plan.query]))
            frontier.visited.view(-1)[rows] = True
        self.num_messages = frontier.num_messages
        scores = scores.view(len(query), edges.num_entities)
        return scores if targets is None else scores.gather(1, targets)

    def logits(self, states: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        """Return the logits of states given the query of each, which are their priorities too; float (n,)."""
        weighed = states * self.priority(torch.cat([states, query], dim=1))
        scored: torch.Tensor = self.out(F.relu(self.hidden(weighed)))
        return scored.squeeze(1)

    def _select(
        self, frontier: Frontier, scores: torch.Tensor, number: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the queries and edges of the messages of a round, both int64 (k,)."""
        edges, visited = frontier.edges, frontier.visited
        share = self.node_share if self.training else self.test_node_share
        most = max(1, int(share * edges.num_entities))
        if most >= edges.num_entities:
            return frontier.leaving(visited, number)
        by_entity = scores.view(visited.shape)
        best = by_entity.masked_fill(~visited, -torch.inf).topk(most, dim=1).indices
        chosen = torch.zeros_like(visited).scatter_(1, best, True) & visited
        query, edge = frontier.leaving(chosen, number)
        allowed = int(self.edge_share * most * len(edges) / max(edges.num_entities, 1))
        promising = by_entity[query, edges.tail[edge]]
        order = torch.argsort(promising, descending=True, stable=True)
        order = order[torch.argsort(query[order], stable=True)]
        counts = torch.bincount(query, minlength=frontier.queries)
        place = torch.arange(len(order), device=order.device) - (counts.cumsum(0) - counts)[query[order]]
        kept = torch.sort(order[place < allowed]).values
        return query[kept], edge[kept]
