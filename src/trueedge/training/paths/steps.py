"""Which edges pass a message in which round, for a batch of sources: pruning as a policy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from trueedge.training.paths.edges import Edges


@dataclass(frozen=True, eq=False)
class Step:
    """The messages of one round, in the order of the rows that receive them.

    A row is an entity as seen from a source.

    Attributes:
        source: int32 (k,), the row that each message comes from.
        relation: int32 (k,), query * 2R + relation.
        ends: int64 (rows + 1,), where the messages of each receiving row begin and end.
        first, last: the rows first..last - 1 receive messages.
        parts: int64 numpy (levels, queries + 1), the rows of each query, counted from ``first``; on a CPU.
    """

    source: torch.Tensor
    relation: torch.Tensor
    ends: torch.Tensor
    first: int
    last: int
    parts: np.ndarray | None = None

    @property
    def num_messages(self) -> int:
        """The number of messages."""
        return len(self.source)

    def targets(self) -> torch.Tensor:
        """Return the receiving row of each message, counted from ``first``; int64 (k,)."""
        rows = torch.arange(self.last - self.first, device=self.source.device)
        return torch.repeat_interleave(rows, self.ends.diff(), output_size=len(self.source))


@dataclass(frozen=True, eq=False)
class Plan:
    """The rounds of a batch of queries.

    Attributes:
        steps: one for each round.
        rows: int64 (queries, entities), the row of each entity, or -1.
        query: int64 (rows,), the query of each row.
        entity: int64 (rows,), its entity.
        distance: uint8 (rows,), its distance from the source; None if distances play no part.
        starts: int64 (queries,), the row of each source.
        edges: the edges of the batch.
    """

    steps: tuple[Step, ...]
    rows: torch.Tensor
    query: torch.Tensor
    entity: torch.Tensor
    distance: torch.Tensor | None
    starts: torch.Tensor
    edges: Edges

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.query)

    @property
    def num_messages(self) -> list[int]:
        """The number of messages in each round."""
        return [step.num_messages for step in self.steps]


def full_plan(edges: Edges, sources: torch.Tensor, layers: int) -> Plan:
    """Return rounds in which every edge passes a message, as in NBFNet."""
    edges = edges.compact()
    device, queries, entities = edges.device, len(sources), edges.num_entities
    every = torch.arange(queries, dtype=torch.int32, device=device).unsqueeze(1)
    counts = edges.degrees.to(torch.int64).repeat(queries)
    ends = _offsets(counts)
    step = Step(
        (every * entities + edges.head).flatten(),
        (every * edges.num_relations + edges.relation).flatten(),
        ends,
        0,
        queries * entities,
        np.arange(queries + 1)[None] * entities if device.type == "cpu" else None,
    )
    rows = torch.arange(queries * entities, device=device)
    return Plan(
        (step,) * layers,
        rows.view(queries, entities),
        rows // entities,
        rows % entities,
        None,
        torch.arange(queries, device=device) * entities + sources,
        edges,
    )


def pruned_plan(edges: Edges, sources: torch.Tensor, layers: int, delta: int) -> Plan:
    """Return rounds with the messages that Algorithm D.1 of TAGNet keeps.

    An edge from u to v passes a message in round t if t - delta <= d(v) <= t and d(u) < d(v) + delta, where d
    is the distance from the source. Rows and messages are sorted by the distance of the entity that receives,
    so those of a round are one slice.
    """
    device, queries, entities = edges.device, len(sources), edges.num_entities
    found = edges.distances(sources, layers)
    enters = found.index_select(1, edges.tail)
    # Entities out of reach are further away than any that sends.
    leaves = found.masked_fill(found > layers, 255).index_select(1, edges.head)
    used = (enters <= layers) & (leaves < enters + delta)
    if edges.kept is not None:
        used &= edges.kept
    query, edge = used.nonzero(as_tuple=True)
    level = enters[query, edge]
    level, order = torch.sort(level, stable=True)
    query, edge = query[order], edge[order]

    who, entity = (found <= layers).nonzero(as_tuple=True)
    distance, by_distance = torch.sort(found[who, entity], stable=True)
    who, entity = who[by_distance], entity[by_distance]
    rows = torch.full((queries, entities), -1, dtype=torch.int64, device=device)
    rows[who, entity] = torch.arange(len(who), device=device)

    source = rows[query, edges.head[edge]].to(torch.int32)
    relation = (query * edges.num_relations + edges.relation[edge]).to(torch.int32)
    counts = torch.bincount(rows[query, edges.tail[edge]], minlength=len(who))
    ends = _offsets(counts)
    blocks = torch.bincount(distance.to(torch.int64) * queries + who, minlength=(layers + 1) * queries)
    by_block = _offsets(blocks)
    row_starts = by_block[::queries]
    # The only numbers that the CPU needs: one transfer.
    at = torch.stack([row_starts, ends[row_starts]]).tolist()
    parts = by_block.numpy() if device.type == "cpu" else None

    steps = []
    for t in range(1, layers + 1):
        low, high = max(t - delta, 0), t + 1
        (first, last), (begin, end) = ((place[low], place[high]) for place in at)
        own = ends[first : last + 1] - begin
        levels = None
        if parts is not None:
            levels = np.stack([parts[d * queries : (d + 1) * queries + 1] - first for d in range(low, high)])
        steps.append(Step(source[begin:end], relation[begin:end], own, first, last, levels))
    starts = rows[torch.arange(queries, device=device), sources]
    return Plan(tuple(steps), rows, who, entity, distance, starts, edges)


def _offsets(counts: torch.Tensor) -> torch.Tensor:
    """Return where each of some groups begins, and where the last ends."""
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])
