"""Rounds whose edges are chosen while states spread: the entities a query has visited."""

from __future__ import annotations

import numpy as np
import torch

from trueedge.training.paths.edges import Edges
from trueedge.training.paths.steps import Plan, Step


class Frontier:
    """The edges that may pass messages from a batch of sources; a row is query * entities + entity.

    Attributes:
        edges: the edges of the batch.
        queries: the number of queries.
        visited: bool (queries, entities), which entities have a state.
        num_messages: the number of messages of each round so far.
    """

    def __init__(
        self, edges: Edges, sources: torch.Tensor, delta: int | None = None, layers: int = 0
    ) -> None:
        self.edges, self.queries = edges, len(sources)
        size = (len(sources), edges.num_entities)
        self.visited = torch.zeros(size, dtype=torch.bool, device=edges.device)
        self.visited.scatter_(1, sources.unsqueeze(1), True)
        every = torch.arange(len(sources), device=edges.device)
        self.starts = every * edges.num_entities + sources
        self.num_messages: list[int] = []
        self.delta = delta
        self._distances = None if delta is None else edges.distances(sources, layers)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.visited.numel())

    def leaving(self, chosen: torch.Tensor, round_number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the queries and edges that leave chosen entities, both int64 (k,).

        With ``delta``, only edges that TAGNet keeps in this round.

        Args:
            chosen: bool (queries, entities).
            round_number: from 1.
        """
        used = chosen.index_select(1, self.edges.head)
        if self.edges.kept is not None:
            used = used & self.edges.kept
        if self._distances is not None and self.delta is not None:
            enters = self._distances.index_select(1, self.edges.tail)
            leaves = self._distances.index_select(1, self.edges.head)
            used &= (enters <= round_number) & (enters + self.delta >= round_number)
            used &= leaves < enters + self.delta
        query, edge = used.nonzero(as_tuple=True)
        return query, edge

    def step(self, query: torch.Tensor, edge: torch.Tensor) -> tuple[Step, torch.Tensor]:
        """Return the messages of these edges, and the rows that receive them, int64 (rows,).

        Args:
            query, edge: int64 (k,), ascending.
        """
        entities = self.edges.num_entities
        target = query * entities + self.edges.tail[edge]
        rows, counts = torch.unique_consecutive(target, return_counts=True)
        ends = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        parts: np.ndarray | None = None
        if rows.device.type == "cpu":
            bounds = torch.arange(self.queries + 1) * entities
            parts = torch.searchsorted(rows, bounds).numpy()[None].astype(np.int64)
        source = (query * entities + self.edges.head[edge]).to(torch.int32)
        relation = (query * self.edges.num_relations + self.edges.relation[edge]).to(torch.int32)
        self.num_messages.append(len(edge))
        return Step(source, relation, ends, 0, len(rows), parts), rows

    def plan(self, step: Step, rows: torch.Tensor) -> Plan:
        """Return a plan of one step, whose rows are those that receive."""
        entities = self.edges.num_entities
        every = torch.arange(self.num_rows, device=rows.device).view(self.queries, entities)
        return Plan((step,), every, rows // entities, rows % entities, None, self.starts, self.edges)
