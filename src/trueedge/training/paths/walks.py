"""Rounds whose messages are never listed: a GPU finds them while it walks along the edges.

A list of (query, edge) pairs takes longer to make and to sort than TAGNet saves by pruning. Here a round is a
slice of rows, and a kernel reads the edges that enter the entity of a row. It drops the pruned ones as it
goes: rows are numbered by distance, so an edge passes a message if the row it comes from is below a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch

from trueedge.training.paths.edges import Edges

# Rows of entities that so many edges enter are read by many threads: in FB15k-237 one has thousands.
LONG = 512


@dataclass(frozen=True, eq=False)
class WalkedStep:
    """The rows first..last - 1 receive messages, along all edges that their plan keeps.

    Attributes:
        plan: the plan it belongs to.
        first, last: the rows that receive.
        first_long, last_long: where those among ``plan.long_rows`` begin and end.
        reached: the states of this row and all later ones are 0: no path has reached them yet.
    """

    plan: WalkedPlan
    first: int
    last: int
    first_long: int
    last_long: int
    reached: int

    @property
    def num_messages(self) -> int:
        """The number of messages."""
        return int(self.plan.counts[self.first : self.last].sum())


@dataclass(frozen=True, eq=False)
class WalkedPlan:
    """The rounds of a batch of queries; a row is an entity as seen from a source.

    Rows are sorted by distance (if it plays a part), then by the number of edges that enter the entity, most
    first, so that no long row is left for the end, and then by query.

    Attributes:
        spans: the first row of each round and the one after its last, the same of ``long_rows``, and the
            first row whose state is still 0.
        row_of: int32 (entities, queries), the row of each entity, or -1.
        described: int32 (rows, 3), the query and the entity of each row, and the row from which on senders
            are pruned.
        distance: uint8 (rows,), the distance from the source; None if distances play no part.
        long_rows: int32 (k,), the rows of entities that at least ``longest`` edges enter, ascending.
        longest: rows with fewer edges are short.
        starts: int64 (queries,), the row of each source.
        sources: int64 (queries,), the sources.
        num_rows: the number of rows.
        edges: the edges of the batch.
    """

    spans: tuple[tuple[int, int, int, int, int], ...]
    row_of: torch.Tensor
    described: torch.Tensor
    distance: torch.Tensor | None
    long_rows: torch.Tensor
    longest: int
    starts: torch.Tensor
    sources: torch.Tensor
    num_rows: int
    edges: Edges

    @property
    def num_queries(self) -> int:
        """The number of queries."""
        return len(self.sources)

    @cached_property
    def steps(self) -> tuple[WalkedStep, ...]:
        """One step for each round."""
        return tuple(WalkedStep(self, *span) for span in self.spans)

    @property
    def rows(self) -> torch.Tensor:
        """The row of each entity, int32 (queries, entities), or -1."""
        return self.row_of.t()

    @cached_property
    def query(self) -> torch.Tensor:
        """The query of each row, int64 (rows,)."""
        return self.described[: self.num_rows, 0].long()

    @cached_property
    def entity(self) -> torch.Tensor:
        """The entity of each row, int64 (rows,)."""
        return self.described[: self.num_rows, 1].long()

    @cached_property
    def counts(self) -> torch.Tensor:
        """The number of messages that each row receives in a round, int32 (rows,)."""
        counts: torch.Tensor = gpu_kernels().count_messages(self)
        return counts

    @property
    def num_messages(self) -> list[int]:
        """The number of messages in each round."""
        return [step.num_messages for step in self.steps]


def walked_full_plan(edges: Edges, sources: torch.Tensor, layers: int) -> WalkedPlan:
    """Return rounds in which every edge passes a message, as in NBFNet."""
    # Kernels read them one after the other.
    sources = sources.contiguous()
    queries, entities = len(sources), edges.num_entities
    every = torch.arange(queries, dtype=torch.int32, device=edges.device)
    row_of = edges.place_by_degree.unsqueeze(1) * queries + every
    starts = edges.place_by_degree[sources].long() * queries + every
    size = queries * entities
    long_rows = torch.arange(_num_long(edges) * queries, dtype=torch.int32, device=edges.device)
    spans = ((0, size, 0, len(long_rows), size),) * layers
    described = torch.empty(size, 3, dtype=torch.int32, device=edges.device)
    described[:, 0] = every.repeat(entities)
    described[:, 1] = edges.by_degree.repeat_interleave(queries)
    described[:, 2] = size
    return WalkedPlan(spans, row_of, described, None, long_rows, LONG, starts, sources, size, edges)


def walked_pruned_plan(edges: Edges, sources: torch.Tensor, layers: int, delta: int) -> WalkedPlan:
    """Return rounds with the same messages as :func:`trueedge.training.paths.steps.pruned_plan`."""
    sources = sources.contiguous()
    kernels = gpu_kernels()
    found = kernels.level_distances(edges, sources, layers)
    numbered = kernels.number_rows(edges, found, _num_long(edges), layers, delta)
    # The only numbers that the CPU needs: one transfer.
    at, long_at = numbered.level_starts.tolist()
    long_at = [one - found.numel() for one in long_at]
    bounds = [(max(t - delta, 0), t + 1, t) for t in range(1, layers + 1)]
    # Before round t, a path has reached the rows at a distance below t.
    spans = tuple((at[low], at[high], long_at[low], long_at[high], at[t]) for low, high, t in bounds)
    rows, long_rows = at[layers + 1], numbered.long_rows[: long_at[layers + 1]]
    given = numbered.row_of, numbered.described, numbered.distance[:rows], long_rows, LONG, numbered.starts
    return WalkedPlan(spans, *given, sources, rows, edges)


def _num_long(edges: Edges) -> int:
    """Return how many entities at least ``LONG`` edges enter."""
    return edges.num_entities - int(np.searchsorted(edges.sorted_degrees, LONG))


@cache
def gpu_kernels() -> Any:
    """Return the module of kernels for GPUs, or None without Triton."""
    try:
        from trueedge.training.paths.gpu import kernels
    except ImportError:
        return None
    return kernels


def can_walk(tensor: torch.Tensor) -> bool:
    """Return whether kernels can take states such as a tensor."""
    return tensor.device.type == "cuda" and tensor.dtype == torch.float32 and gpu_kernels() is not None
