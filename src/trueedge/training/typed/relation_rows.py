"""A row for each node and each relation that leaves its type: what a node sends along that relation."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.training.typed.edge_softmax import EdgeList
from trueedge.training.typed.inputs import TypedEdges, TypedInputs


class RelationRows(nn.Module):
    """The typed edges as edges from (node, relation) rows to nodes.

    A product for each node type makes the rows of all its relations, since the nodes of a type and the
    relations that leave it are consecutive. So the messages of all relations are summed at once, and no edge
    is multiplied by a matrix.

    Args:
        inputs: the graph.
        loops: add a relation for each node type, from each node to itself.
        reverses: keep the reverses of relations that have no reverse relation of their own.
        single: take one edge in each direction between two nodes, see :attr:`TypedInputs.single`. The loops
            of all node types then share a matrix.

    Attributes:
        relations: the relations and reverses, sorted by source type; loops are last within their type.
        edges: from rows to nodes.
        relation: int64 (edges,), the number of each edge's relation in ``relations``.
        source_type, target_type: int64 (relations,), of each relation.
        num_relations: the number of relations, reverses and loops.
        matrix: int64 (relations,), the matrix of each relation.
        num_matrices: the number of matrices.
    """

    relation: torch.Tensor
    source_type: torch.Tensor
    target_type: torch.Tensor
    matrix: torch.Tensor

    def __init__(
        self, inputs: TypedInputs, loops: bool = False, reverses: bool = True, single: bool = False
    ) -> None:
        super().__init__()
        edges = inputs.typed
        if single:
            edges = tuple(one for one in inputs.single if loops or one.relation < inputs.num_relations)
        given = [one for one in edges if reverses or not one.reverse]
        given += [_loops(inputs, kind) for kind in range(inputs.num_types) if loops and not single]
        self.relations = sorted(given, key=lambda one: one.source_type)
        self.num_relations = len(self.relations)
        matrix = torch.arange(self.num_relations)
        if single and loops:
            keys = torch.tensor([[one.reverse, one.relation] for one in self.relations])
            matrix = torch.unique(keys, dim=0, return_inverse=True)[1]
        self.num_matrices = len(matrix.unique())
        self.register_buffer("matrix", matrix.to(inputs.device), persistent=False)
        counts = [sum(one.source_type == kind for one in given) for kind in range(inputs.num_types)]
        # For each type: its nodes, its relations, and where its rows begin.
        self.types: list[tuple[slice, slice]] = []
        sources, targets, numbers = [], [], []
        first, number = 0, 0
        for kind, count in enumerate(counts):
            self.types.append((inputs.rows(kind), slice(number, number + count)))
            for place in range(count):
                one = self.relations[number]
                sources.append(first + (one.source - inputs.starts[kind]) * count + place)
                targets.append(one.target)
                numbers.append(torch.full_like(one.source, number))
                number += 1
            first += count * inputs.count(kind)
        none = torch.empty(0, dtype=torch.int64, device=inputs.device)
        source, target, relation = (torch.cat([none, *parts]) for parts in (sources, targets, numbers))
        order = torch.argsort(target, stable=True)
        self.edges = EdgeList(source[order], target[order], first, inputs.num_nodes)
        ends = [[one.source_type, one.target_type] for one in self.relations]
        types = torch.tensor(ends, dtype=torch.int64, device=inputs.device).view(-1, 2)
        self.register_buffer("relation", relation[order], persistent=False)
        self.register_buffer("source_type", types[:, 0].contiguous(), persistent=False)
        self.register_buffer("target_type", types[:, 1].contiguous(), persistent=False)

    def send(
        self, states: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return each node's product with the matrix of each relation that leaves it, float (rows, out).

        Args:
            states: float (nodes, size).
            weights: float (relations, size, out).
            bias: float (relations, out), added to the products.
        """
        size, out = weights.shape[1:]
        found = [states.new_empty(0, out)]
        for nodes, relations in self.types:
            matrix = weights[relations].transpose(0, 1).reshape(size, -1)
            if not matrix.shape[1]:
                continue
            if bias is None:
                sent = states[nodes] @ matrix
            else:
                sent = torch.addmm(bias[relations].reshape(-1), states[nodes], matrix)
            found.append(sent.view(-1, out))
        return torch.cat(found)

    def mean_weights(self, by_node: bool = False) -> torch.Tensor:
        """Return 1 / the number of edges of its relation that a target receives, float (edges, 1).

        Args:
            by_node: count the edges of all relations.
        """
        counted = self.edges.target if by_node else self._pairs()
        _, where, counts = torch.unique(counted, return_inverse=True, return_counts=True)
        return (1.0 / counts[where]).unsqueeze(1)

    def by_relation(self) -> EdgeList:
        """Return the same edges, in the same order, to (target, relation) pairs instead of targets."""
        # The edges of a target are sorted by relation, so pairs are ascending.
        pairs, where = torch.unique(self._pairs(), return_inverse=True)
        return EdgeList(self.edges.source, where, self.edges.num_sources, len(pairs))

    def relation_shares(self) -> torch.Tensor:
        """Return 1 / the number of relations that enter the type of each edge's target, float (edges, 1)."""
        entering = torch.bincount(self.target_type)[self.target_type]
        return (1.0 / entering)[self.relation].unsqueeze(1)

    def _pairs(self) -> torch.Tensor:
        return self.edges.target * self.num_relations + self.relation


def by_type(
    inputs: TypedInputs, states: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """Return the states after the linear layer of their node type, float (nodes, out).

    Args:
        states: float (nodes, size).
        weights: float (types, size, out).
        bias: float (types, out).
    """
    parts = [
        torch.addmm(bias[kind], states[inputs.rows(kind)], weights[kind]) for kind in range(inputs.num_types)
    ]
    return torch.cat(parts)


def _loops(inputs: TypedInputs, kind: int) -> TypedEdges:
    nodes = torch.arange(*inputs.starts[kind : kind + 2], device=inputs.device)
    name = f"{inputs.graph.node_types[kind]} to itself"
    return TypedEdges(name, -1, False, kind, kind, nodes, nodes)
