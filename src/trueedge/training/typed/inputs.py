"""A typed graph on a device, as models see it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from trueedge.graph.typed import HeteroGraph

# Two relations are the reverses of each other if all their edges are.
REVERSE = "reverse of "


@dataclass(frozen=True, eq=False)
class Arcs:
    """Edges in both directions, one for each pair of nodes, and a loop at each node; sorted by target.

    Attributes:
        source: int64 (a,), the node that sends.
        target: int64 (a,), the node that receives, ascending.
        kind: int64 (a,), relation r, R for a loop, or R + 1 + r for an edge of relation r walked backwards.
            If two nodes have several edges, the last relation counts.
        indptr: int64 (n + 1,), where the arcs of each target begin.
        num_kinds: 2 R + 1.
    """

    source: torch.Tensor
    target: torch.Tensor
    kind: torch.Tensor
    indptr: torch.Tensor
    num_kinds: int

    def __len__(self) -> int:
        return len(self.source)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.indptr) - 1

    @cached_property
    def by_source(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the arcs of each source begin, int64 (n + 1,), and their numbers, int64 (a,)."""
        ordered, order = torch.sort(self.source, stable=True)
        nodes = torch.arange(self.num_nodes + 1, device=ordered.device)
        return torch.searchsorted(ordered, nodes), order


@dataclass(frozen=True, eq=False)
class TypedEdges:
    """The edges of a relation, or their reverses, sorted by target.

    Attributes:
        name: the name of the relation.
        relation: its number.
        reverse: whether edges are walked backwards.
        source_type, target_type: the types of the nodes that send and receive.
        source, target: int64 (m,), the nodes, with ids of the whole graph.
    """

    name: str
    relation: int
    reverse: bool
    source_type: int
    target_type: int
    source: torch.Tensor
    target: torch.Tensor


class TypedInputs:
    """A typed graph on a device.

    Attributes:
        graph: the graph.
        target: the node type that is classified, or None.
        starts: the first node of each type, and the number of nodes.
        node_type: int64 (n,), the type of each node.
        features: for each type a float32 tensor, dense or sparse CSR; None if it has none.
        device: where the tensors are.
    """

    def __init__(
        self, graph: HeteroGraph, device: str | torch.device = "cpu", target: int | None = None
    ) -> None:
        self.graph, self.target, self.device = graph, target, torch.device(device)
        self.starts: list[int] = graph.starts.tolist()
        self.node_type = torch.from_numpy(graph.types.astype(np.int64)).to(device)
        self.features = [_features(table, self.device) for table in graph.features]

    @classmethod
    def of(
        cls, graph: HeteroGraph, device: str | torch.device = "cpu", target: int | None = None
    ) -> TypedInputs:
        """Return a typed graph on a device."""
        return cls(graph, device, target)

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self.starts[-1]

    @property
    def num_types(self) -> int:
        """The number of node types."""
        return self.graph.num_types

    @property
    def num_relations(self) -> int:
        """The number of relations R."""
        return self.graph.num_relations

    def count(self, kind: int) -> int:
        """Return the number of nodes of a type."""
        return self.starts[kind + 1] - self.starts[kind]

    def rows(self, kind: int) -> slice:
        """Return the rows of the nodes of a type in a table of all nodes."""
        return slice(self.starts[kind], self.starts[kind + 1])

    @cached_property
    def arcs(self) -> Arcs:
        """The graph with its types ignored, as the published baselines and Simple-HGN see it."""
        count, relations = self.num_nodes, self.num_relations
        keys, kinds = _untyped(self.graph)
        target, source = np.divmod(keys, count)
        indptr = np.searchsorted(target, np.arange(count + 1))
        sent, received, kind, begin = (
            torch.from_numpy(one).to(self.device) for one in (source, target, kinds, indptr)
        )
        return Arcs(sent, received, kind, begin, 2 * relations + 1)

    @cached_property
    def repeated_arcs(self) -> Arcs:
        """The arcs of all edges and of their reverses: an edge whose reverse is an edge, too, counts twice.

        HGB's code of GCN and GAT for links does the same. Loops count once.
        """
        pairs = np.concatenate([*self.graph.edges, np.empty((0, 2), np.int32)]).astype(np.int64)
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        loops = np.repeat(np.arange(self.num_nodes), 2).reshape(-1, 2)
        every = np.concatenate([pairs, pairs[:, ::-1], loops])
        every = every[np.lexsort((every[:, 0], every[:, 1]))]
        begin = np.searchsorted(every[:, 1], np.arange(self.num_nodes + 1))
        kind = np.zeros(len(every), dtype=np.int64)
        given = (np.ascontiguousarray(one) for one in (every[:, 0], every[:, 1], kind, begin))
        source, target, kinds, starts = (torch.from_numpy(one).to(self.device) for one in given)
        return Arcs(source, target, kinds, starts, 1)

    @cached_property
    def typed(self) -> tuple[TypedEdges, ...]:
        """Every relation, then the reverses of those that have no reverse relation of their own."""
        forward = [self._edges(number, False) for number in range(self.num_relations)]
        missing = [number for number in range(self.num_relations) if not _has_reverse(self.graph, number)]
        return (*forward, *(self._edges(number, True) for number in missing))

    @cached_property
    def single(self) -> tuple[TypedEdges, ...]:
        """One edge in each direction between two linked nodes, and one loop at each node, by relation.

        An edge belongs to the last relation that has it, or to the reverse of one if none has it. Loops that
        no relation has are number R. HGB's code of R-GCN for links does the same.
        """
        count, relations = self.num_nodes, self.num_relations
        keys, kinds = _untyped(self.graph, loops_last=False)
        target, source = np.divmod(keys, count)
        types = self.graph.types.astype(np.int64)
        groups = kinds * self.num_types + types[source]
        found = []
        for group in np.unique(groups):
            rows = groups == group
            number = int(group) // self.num_types
            reverse = number > relations
            number -= relations + 1 if reverse else 0
            name = "loop" if number == relations else self.graph.relations[number].name
            sent, received = (torch.from_numpy(one[rows]).to(self.device) for one in (source, target))
            ends = int(types[source[rows][0]]), int(types[target[rows][0]])
            found.append(TypedEdges(REVERSE * reverse + name, number, reverse, *ends, sent, received))
        return tuple(found)

    def _edges(self, number: int, reverse: bool) -> TypedEdges:
        name, *ends = self.graph.relations[number]
        pairs = self.graph.edges[number].astype(np.int64)
        if reverse:
            name, ends, pairs = REVERSE + name, ends[::-1], pairs[:, ::-1]
        pairs = pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]
        source, target = (torch.from_numpy(np.ascontiguousarray(one)).to(self.device) for one in pairs.T)
        return TypedEdges(name, number, reverse, ends[0], ends[1], source, target)


def _untyped(graph: HeteroGraph, loops_last: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys target * n + source of all arcs, ascending, and the kind of each.

    Args:
        graph: the graph.
        loops_last: whether a loop counts as a loop even if it is an edge of a relation.
    """
    count, relations = graph.num_nodes, graph.num_relations
    pairs = np.concatenate([*graph.edges, np.empty((0, 2), np.int32)]).astype(np.int64)
    kinds = np.repeat(np.arange(relations), [len(one) for one in graph.edges])
    loops = np.arange(count) * (count + 1)
    # Later ones count: reverses only where there is no edge.
    keys = np.concatenate([pairs[:, 0] * count + pairs[:, 1], pairs[:, 1] * count + pairs[:, 0], loops])
    values = np.concatenate([kinds + relations + 1, kinds, np.full(count, relations)])
    loop = 2 if loops_last else -1
    rank = np.concatenate([np.zeros(len(pairs)), np.ones(len(pairs)), np.full(count, loop)])
    order = np.lexsort((values, rank, keys))
    last = np.append(np.diff(keys[order]) > 0, True)
    return keys[order][last], values[order][last]


def _has_reverse(graph: HeteroGraph, number: int) -> bool:
    """Return whether some relation, perhaps the same, has exactly the reversed edges."""
    _, source, target = graph.relations[number]
    pairs = graph.edges[number]
    back = pairs[:, ::-1][np.lexsort((pairs[:, 0], pairs[:, 1]))]
    return any(
        (one.source, one.target) == (target, source) and np.array_equal(graph.edges[other], back)
        for other, one in enumerate(graph.relations)
    )


def _features(table: Any, device: torch.device) -> torch.Tensor | None:
    if table is None:
        return None
    if not hasattr(table, "indptr"):
        return torch.tensor(table, device=device)
    with warnings.catch_warnings():
        # torch calls its sparse CSR tensors a beta feature.
        warnings.simplefilter("ignore", UserWarning)
        parts = (torch.tensor(np.asarray(one)) for one in (table.indptr, table.indices, table.data))
        return torch.sparse_csr_tensor(*parts, size=table.shape).to(device)
