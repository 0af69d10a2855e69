"""The edges of a knowledge graph on a device, in both directions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from trueedge.kernels.paths.distances import distances_from

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph


class Edges:
    """Triples and their inverses as edges, sorted by the entity they enter.

    Attributes:
        head: int32 (edges,), the entity that an edge leaves.
        relation: int32 (edges,), from 0 to 2R - 1; the inverse of relation r is r + R.
        tail: int32 (edges,), the entity that it enters, ascending.
        num_entities: the number of entities.
        num_relations: 2R.
        kept: bool (edges,), False for edges that are removed; None: all edges are kept.
    """

    def __init__(
        self,
        head: torch.Tensor,
        relation: torch.Tensor,
        tail: torch.Tensor,
        num_entities: int,
        num_relations: int,
        whole: Edges | None = None,
        kept: torch.Tensor | None = None,
    ) -> None:
        self.head, self.relation, self.tail = head, relation, tail
        self.num_entities, self.num_relations = num_entities, num_relations
        self.whole = self if whole is None else whole
        self.kept = kept

    @classmethod
    def of_triples(
        cls,
        triples: NDArray[np.int32],
        num_entities: int,
        num_relations: int,
        device: str | torch.device = "cpu",
    ) -> Edges:
        """Return the edges of triples, int (m, 3), and of their inverses; R is ``num_relations``."""
        head, relation, tail = np.asarray(triples, dtype=np.int64).reshape(-1, 3).T
        both = np.stack(
            [
                np.concatenate([tail, head]),
                np.concatenate([head, tail]),
                np.concatenate([relation, relation + num_relations]),
            ]
        )
        # By tail, then head, then relation.
        both = both[:, np.lexsort(both[::-1])]
        tail, head, relation = (torch.from_numpy(row.astype(np.int32)).to(device) for row in both)
        return cls(head, relation, tail, num_entities, 2 * num_relations)

    @classmethod
    def of(cls, graph: KnowledgeGraph, device: str | torch.device = "cpu") -> Edges:
        """Return the edges of a knowledge graph."""
        return cls.of_triples(graph.triples, graph.num_entities, graph.num_relations, device)

    def __len__(self) -> int:
        return len(self.head)

    @property
    def device(self) -> torch.device:
        """The device that holds the edges."""
        return self.head.device

    @cached_property
    def keys(self) -> torch.Tensor:
        """The number of each edge among all possible ones, int64 (edges,), ascending."""
        pair = self.tail.to(torch.int64) * self.num_entities + self.head
        return pair * self.num_relations + self.relation

    @cached_property
    def degrees(self) -> torch.Tensor:
        """The number of edges that enter each entity, float32 (entities,)."""
        ones = torch.ones(len(self), device=self.device) if self.kept is None else self.kept.to(torch.float32)
        empty = torch.zeros(self.num_entities, device=self.device)
        return empty.index_add_(0, self.tail, ones)

    @cached_property
    def mean_log_degree(self) -> torch.Tensor:
        """The mean of log(degree + 1) over all entities, before any edge is removed; float ()."""
        if self.whole is not self:
            return self.whole.mean_log_degree
        return torch.log1p(self.degrees).mean().clamp(min=1e-6)

    def without(self, triples: torch.Tensor, every: bool = False) -> Edges:
        """Return these edges without some triples and their inverses.

        Args:
            triples: int64 (m, 3), relations from 0 to R - 1.
            every: remove all edges between head and tail, whatever their relation.
        """
        head, relation, tail = triples.t()
        enters, leaves = torch.cat([tail, head]), torch.cat([head, tail])
        pair = enters * self.num_entities + leaves
        if every:
            kept = ~torch.isin(self.keys // self.num_relations, pair)
        else:
            opposite = (relation + self.num_relations // 2) % self.num_relations
            wanted = pair * self.num_relations + torch.cat([relation, opposite])
            place = torch.searchsorted(self.keys, wanted).clamp(max=max(len(self) - 1, 0))
            found = self.keys[place] == wanted
            # Several may point to one place: only those that are found count.
            removed = torch.zeros(len(self), dtype=torch.int32, device=self.device)
            kept = removed.index_add_(0, place, found.to(torch.int32)) == 0
        if self.kept is not None:
            kept = kept & self.kept
        elif self.whole is not self:
            raise ValueError("edges can only be removed from a graph that was not compacted")
        without = Edges(
            self.head, self.relation, self.tail, self.num_entities, self.num_relations, self.whole, kept
        )
        without.keys, without.ends = self.keys, self.ends
        return without

    def compact(self) -> Edges:
        """Return the kept edges alone."""
        if self.kept is None:
            return self
        head, relation, tail = torch.stack([self.head, self.relation, self.tail])[:, self.kept]
        return Edges(head, relation, tail, self.num_entities, self.num_relations, self.whole)

    def distances(self, sources: torch.Tensor, limit: int) -> torch.Tensor:
        """Return the distance from each source to each entity, uint8 (b, entities).

        Entities that are further away than ``limit`` get ``limit + 1``.
        """
        if self.device.type == "cpu":
            # Removing edges keeps their numbers.
            indptr, order, tails = (self if self.kept is None else self.whole)._leaving
            kept = np.ones(len(self), np.bool_) if self.kept is None else self.kept.numpy()[order]
            return torch.from_numpy(distances_from(indptr, tails, kept, sources.numpy(), limit))
        return level_distances(self, sources, limit)

    @cached_property
    def ends(self) -> torch.Tensor:
        """Where the edges that enter each entity begin, and where the last end; int64 (entities + 1,)."""
        entities = torch.arange(self.num_entities + 1, dtype=self.tail.dtype, device=self.device)
        return torch.searchsorted(self.tail, entities)

    @cached_property
    def by_degree(self) -> torch.Tensor:
        """The entities by the number of edges that enter them, most first, before any is removed; int32."""
        if self.kept is not None:
            return self.whole.by_degree
        return torch.argsort(self.ends.diff(), descending=True, stable=True).to(torch.int32)

    @cached_property
    def sorted_degrees(self) -> NDArray[np.int64]:
        """How many edges enter each entity, ascending, before any is removed; int64 (entities,)."""
        if self.kept is not None:
            return self.whole.sorted_degrees
        degrees: NDArray[np.int64] = np.sort(self.ends.diff().cpu().numpy())
        return degrees

    @cached_property
    def place_by_degree(self) -> torch.Tensor:
        """The place of each entity in :attr:`by_degree`, int32 (entities,)."""
        if self.kept is not None:
            return self.whole.place_by_degree
        return torch.argsort(self.by_degree).to(torch.int32)

    @cached_property
    def _leaving(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """The edges by the entity they leave: where they begin, their numbers, and where they lead to."""
        head = self.head.cpu().numpy()
        order = np.argsort(head, kind="stable")
        starts = np.searchsorted(head[order], np.arange(self.num_entities + 1))
        return starts.astype(np.int64), order, self.tail.cpu().numpy()[order]


def level_distances(edges: Edges, sources: torch.Tensor, limit: int) -> torch.Tensor:
    """Return the same as :meth:`Edges.distances`, one level at a time, on any device."""
    size = (len(sources), edges.num_entities)
    found = torch.full(size, limit + 1, dtype=torch.uint8, device=edges.device)
    found.scatter_(1, sources.unsqueeze(1), 0)
    ends = edges.ends
    for level in range(1, limit + 1):
        leaves = found.index_select(1, edges.head) == level - 1
        if edges.kept is not None:
            leaves &= edges.kept
        # Edges are sorted by tail: differences of running sums, since atomic operations on bytes are slow.
        running = F.pad(leaves.cumsum(1, dtype=torch.int32), (1, 0)).index_select(1, ends)
        new = (running.diff(dim=1) > 0) & (found > level)
        found = found.masked_fill(new, level)
        if level > 2 and not bool(new.any()):
            break
    return found
