"""The network of GraIL: a graph convolution on the subgraph between the two entities of a triple."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.paths.attended import AttendedEdges, Attention, attended_sum
from trueedge.training.paths.edges import Edges
from trueedge.training.paths.model import PathModel

# Pairs times edges at a time.
BLOCK = {"cpu": 1 << 22, "cuda": 1 << 24}


class SubgraphLayer(nn.Module):
    """A relational graph convolution with shared bases; attention to the query weighs the edges."""

    def __init__(self, num_relations: int, size: int, dim: int, bases: int, attention_dim: int) -> None:
        super().__init__()
        self.bases = nn.Parameter(torch.empty(bases, size, dim))
        nn.init.xavier_uniform_(self.bases, gain=nn.init.calculate_gain("relu"))
        self.shares = nn.Embedding(num_relations, bases)
        self.own = nn.Linear(size, dim, bias=False)
        self.of_ends = nn.Linear(2 * size, attention_dim)
        self.of_edge = nn.Embedding(num_relations, attention_dim)
        self.of_query = nn.Embedding(num_relations, attention_dim)
        self.weight = nn.Linear(attention_dim, 1)

    def forward(self, states: torch.Tensor, asked: torch.Tensor, edges: AttendedEdges) -> torch.Tensor:
        """Return new states, float (rows, dim).

        Args:
            states: float (rows, size).
            asked: int64 (pairs,), the relation of the query of each pair.
            edges: the edges inside the subgraph of each pair.
        """
        # The map of both ends of an edge is the sum of a map of each, which takes rows instead of edges.
        of_source, of_target = self.of_ends.weight.chunk(2, dim=1)
        attention = Attention(
            F.linear(states, of_source),
            self.of_edge.weight,
            self.of_query(asked),
            self.weight.weight[0],
            self.weight.bias,
            F.linear(states, of_target, self.of_ends.bias),
        )
        mapped = torch.einsum("rs,bsd->rbd", states, self.bases)
        messages = attended_sum(mapped, attention, edges, shares=self.shares.weight)
        return F.relu(self.own(states) + messages)


class SubgraphNetwork(PathModel):
    """Scores a triple by the entities within some hops of both of its ends, and the edges among these.

    An entity's input is its distance from either end.

    Args:
        num_relations: 2R.
        hops: the largest distance from either end.
    """

    def __init__(
        self,
        num_relations: int,
        dim: int,
        layers: int,
        hops: int,
        bases: int,
        attention_dim: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.hops, self.dropout = hops, dropout
        sizes = [2 * (hops + 1), *[dim] * layers]
        self.layers = nn.ModuleList(
            SubgraphLayer(num_relations, size, dim, bases, attention_dim) for size in sizes[:-1]
        )
        self.query = nn.Embedding(num_relations, dim)
        self.out = nn.Linear((3 * layers + 1) * dim, 1)

    def score(
        self,
        edges: Edges,
        heads: torch.Tensor,
        relations: torch.Tensor,
        targets: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logits of targets, float (queries, k), or of all entities."""
        if targets is None:
            targets = torch.arange(edges.num_entities, device=edges.device).expand(len(heads), -1)
        edges = edges.compact()
        head, tail = heads.unsqueeze(1).expand_as(targets).flatten(), targets.flatten()
        asked = relations.unsqueeze(1).expand_as(targets).flatten()
        ends, place = torch.unique(torch.cat([head, tail]), return_inverse=True)
        near = edges.distances(ends, self.hops)
        size = max(1, BLOCK[edges.device.type] // max(len(edges), 1))
        parts = zip(
            *(column.split(size) for column in (head, tail, asked, *place.view(2, -1).unbind())), strict=True
        )
        scores = [
            self._score_pairs(edges, h, t, r, near[from_head], near[from_tail])
            for h, t, r, from_head, from_tail in parts
        ]
        return torch.cat(scores).view(targets.shape)

    def _score_pairs(
        self,
        edges: Edges,
        head: torch.Tensor,
        tail: torch.Tensor,
        asked: torch.Tensor,
        from_head: torch.Tensor,
        from_tail: torch.Tensor,
    ) -> torch.Tensor:
        """Return the logits of pairs; the last two are distances of all entities, (pairs, entities)."""
        every = torch.arange(len(head), device=head.device)
        inside = (from_head <= self.hops) & (from_tail <= self.hops)
        inside[every, head] = inside[every, tail] = True
        pair, entity = inside.nonzero(as_tuple=True)
        rows = torch.full(inside.shape, -1, dtype=torch.int64, device=head.device)
        rows[pair, entity] = torch.arange(len(pair), device=head.device)
        used = inside.index_select(1, edges.head) & inside.index_select(1, edges.tail)
        of_edge, edge = used.nonzero(as_tuple=True)
        source, target = rows[of_edge, edges.head[edge].long()], rows[of_edge, edges.tail[edge].long()]
        along = AttendedEdges(source, edges.relation[edge].long(), target, of_edge, len(head))
        is_head, is_tail = entity == head[pair], entity == tail[pair]
        states = self._labels(from_head[pair, entity], from_tail[pair, entity], is_head, is_tail)
        counts = inside.sum(1).unsqueeze(1)
        read = []
        for layer in self.layers:
            states = F.dropout(layer(states, asked, along), self.dropout, self.training)
            mean = states.new_zeros(len(head), states.shape[1]).index_add(0, pair, states) / counts
            read += [mean, states[rows[every, head]], states[rows[every, tail]]]
        scored: torch.Tensor = self.out(torch.cat([*read, self.query(asked)], dim=1))
        return scored.squeeze(1)

    def _labels(
        self, from_head: torch.Tensor, from_tail: torch.Tensor, is_head: torch.Tensor, is_tail: torch.Tensor
    ) -> torch.Tensor:
        """Return both distances as indicators, float (rows, 2 hops + 2); the ends are 1 apart."""
        from_head = from_head.long().masked_fill(is_tail, 1).masked_fill(is_head, 0)
        from_tail = from_tail.long().masked_fill(is_head, 1).masked_fill(is_tail, 0)
        size = self.hops + 1
        both = torch.cat([F.one_hot(from_head, size), F.one_hot(from_tail, size)], dim=1)
        return both.to(self.out.weight.dtype)
