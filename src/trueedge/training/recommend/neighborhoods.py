"""The neighbours of entities in a knowledge graph, grouped by relation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from trueedge.graph.interactions import Interactions
from trueedge.training.links.messages import row_starts
from trueedge.training.links.pair_sets import NodeSets


@dataclass(frozen=True, eq=False)
class Neighborhoods:
    """The facts of a knowledge graph in both directions, sorted by entity, relation and neighbour.

    The direction of a fact does not matter, as in the published code of KGCN: both ends are neighbours by the
    same relation, and a fact that is stated in both directions counts once. All neighbours of an entity by
    one relation are a group.

    Attributes:
        starts: int64 (entities + 1,), where the groups of each entity begin.
        relation: int64 (groups,), the relation of each group.
        sizes: float32 (groups,), the number of neighbours of each group.
        members: the neighbours of each group.
        num_relations: the number of relations.
        num_items: the number of items, which are the first entities.
    """

    starts: torch.Tensor
    relation: torch.Tensor
    sizes: torch.Tensor
    members: NodeSets
    num_relations: int
    num_items: int

    @classmethod
    def of(cls, data: Interactions, device: str | torch.device = "cpu") -> Neighborhoods:
        """Return the neighbours of all entities; without a knowledge graph, nobody has any."""
        count = data.num_entities
        relations = 0 if data.knowledge is None else data.knowledge.num_relations
        facts = np.empty((0, 3), np.int64) if data.knowledge is None else data.knowledge.triples.astype(int)
        both = np.concatenate([facts, facts[:, ::-1]])
        keys = np.unique((both[:, 0] * max(1, relations) + both[:, 1]) * count + both[:, 2])
        owners, neighbor = np.divmod(keys, count)
        groups, sizes = np.unique(owners, return_counts=True)
        entity, relation = np.divmod(groups, max(1, relations))
        starts = np.searchsorted(entity, np.arange(count + 1))
        arrays = (starts, relation, sizes, neighbor)
        begin, kind, size, nodes = (torch.from_numpy(one.astype(np.int64)).to(device) for one in arrays)
        members = NodeSets.of_starts(row_starts(size), nodes)
        return cls(begin, kind, size.to(torch.float32), members, relations, data.num_items)

    @cached_property
    def item_members(self) -> NodeSets:
        """The neighbours of each group of an item; these groups come first."""
        return _first(self.members, int(self.starts[self.num_items]))

    @cached_property
    def arc_starts(self) -> torch.Tensor:
        """Where the neighbours of each entity begin in :attr:`members`, int64 (entities + 1,)."""
        return self.members.indptr()[self.starts]

    @cached_property
    def arc_relation(self) -> torch.Tensor:
        """The relation to each neighbour, int64 (arcs,)."""
        return self.relation[self.members.rows]

    @cached_property
    def first_arc(self) -> torch.Tensor:
        """Where each neighbour stands first among those of its entity, int64 (arcs,), counted from there.

        An entity has a neighbour more than once if several relations join them.
        """
        degrees = self.arc_starts.diff()
        entity = torch.repeat_interleave(torch.arange(len(degrees), device=degrees.device), degrees)
        pairs = entity * len(degrees) + self.members.nodes
        found = torch.unique(pairs, return_inverse=True)[1]
        arcs = torch.arange(len(pairs), device=pairs.device)
        first = torch.full_like(arcs, len(arcs)).scatter_reduce(0, found, arcs, "amin")
        return first[found] - self.arc_starts[entity]

    def groups(self, entities: torch.Tensor) -> NodeSets:
        """Return the groups of some entities, which may repeat."""
        return ranges(self.starts[entities], self.starts[entities + 1])

    def arcs(self, entities: torch.Tensor) -> NodeSets:
        """Return the places of the neighbours of some entities in :attr:`members`."""
        return ranges(self.arc_starts[entities], self.arc_starts[entities + 1])


def ranges(begin: torch.Tensor, end: torch.Tensor) -> NodeSets:
    """Return the whole numbers from each begin up to each end as sets."""
    sizes = end - begin
    starts = row_starts(sizes)
    count = int(starts[-1])
    numbers = torch.arange(len(begin), device=begin.device)
    rows = torch.repeat_interleave(numbers, sizes, output_size=count)
    places = torch.arange(count, device=begin.device) + (begin - starts[:-1])[rows]
    return NodeSets(rows, places, len(begin), starts)


def _first(sets: NodeSets, count: int) -> NodeSets:
    starts = sets.indptr()[: count + 1]
    return NodeSets.of_starts(starts, sets.nodes[: int(starts[-1])])


def cells_of(table: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Return ``table[rows, columns]``, whose gradient is faster this way."""
    return table.flatten().index_select(0, rows * table.shape[1] + columns)


def summed(values: torch.Tensor, rows: torch.Tensor, count: int) -> torch.Tensor:
    """Return the sum of the values of each row, float (count, ...)."""
    return values.new_zeros(count, *values.shape[1:]).index_add(0, rows, values)
