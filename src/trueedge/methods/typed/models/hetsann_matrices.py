"""The matrices of HetSANN: what nodes send along each relation, and a loss that makes them invertible."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.inputs import FixedProduct
from trueedge.training.typed.features import kept_features, row_scale
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows

#: What the nodes of a type send along a relation, (n, heads, dim), and the matrix, (size, heads, dim).
Sent = tuple[torch.Tensor, torch.Tensor]


def relation_groups(rows: RelationRows, by_types: bool) -> list[int]:
    """Return for each relation the number of its matrix; relations between the same types may share one."""
    if not by_types:
        return list(range(rows.num_relations))
    pairs = [(one.source_type, one.target_type) for one in rows.relations]
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return [numbers[pair] for pair in pairs]


class StateMatrices(nn.Module):
    """A matrix for each group of relations, multiplied with the states of nodes.

    Args:
        size: the size of the states.
        groups: for each relation the number of its matrix.
        heads, dim: the number of heads, and the size of each.
    """

    group: torch.Tensor

    def __init__(self, size: int, groups: list[int], heads: int, dim: int) -> None:
        super().__init__()
        bound = (6 / (size + dim)) ** 0.5
        shape = (max(groups) + 1, size, heads * dim)
        self.matrices = nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
        self.register_buffer("group", torch.tensor(groups), persistent=False)

    def forward(self, states: torch.Tensor, rows: RelationRows) -> torch.Tensor:
        """Return what each node sends along each relation, float (rows, heads * dim)."""
        return rows.send(states, self.all())

    def all(self) -> torch.Tensor:
        """Return the matrix of each relation, float (relations, size, heads * dim)."""
        return self.matrices.index_select(0, self.group)

    def of(self, relation: int) -> torch.Tensor:
        """Return the matrix of a relation, float (size, heads * dim)."""
        return self.matrices[self.group[relation]]


class FeatureMatrices(nn.Module):
    """A matrix for each group of relations, multiplied with the features of nodes instead of their states.

    Nodes of types without features have one-hot vectors, so that a matrix has a row for each of them.

    Args:
        inputs: the graph.
        kind: which types keep their features: ``all``, the ``target`` alone, or none (``one-hot``).
        rows: the relations.
        groups: for each relation the number of its matrix.
        heads, dim: the number of heads, and the size of each.
        dropout: the rate for features.
        row_sums: what the features of a node are divided by, see :func:`row_scale`.
        by_head: whether each head drops features of its own.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        kind: str,
        rows: RelationRows,
        groups: list[int],
        heads: int,
        dim: int,
        dropout: float,
        row_sums: str = "absolute",
        by_head: bool = False,
    ) -> None:
        super().__init__()
        self.dropout, self.groups, self.inputs = dropout, groups, inputs
        self.heads = heads if by_head else 1
        self.source = [one.source_type for one in rows.relations]
        self.tables = [
            None if table is None else _scaled(table, row_sums) for table in kept_features(inputs, kind)
        ]
        weights = {}
        for relation, group in enumerate(groups):
            table = self.tables[self.source[relation]]
            size = inputs.count(self.source[relation]) if table is None else table.shape[1]
            bound = (6 / (size + dim)) ** 0.5
            weights[str(group)] = nn.Parameter(torch.empty(size, heads * dim).uniform_(-bound, bound))
        self.matrices = nn.ParameterDict(weights)

    def forward(self, states: None, rows: RelationRows) -> torch.Tensor:
        """Return what each node sends along each relation, float (rows, heads * dim)."""
        del states
        found = []
        for kind, (_, relations) in enumerate(rows.types):
            groups = self.groups[relations]
            table = self._dropped(kind)
            sent = {group: table(self.matrices[str(group)]) for group in dict.fromkeys(groups)}
            if groups:
                found.append(torch.stack([sent[group] for group in groups], dim=1).flatten(0, 1))
        return torch.cat(found)

    def of(self, relation: int) -> torch.Tensor:
        """Return the matrix of a relation, float (size, heads * dim)."""
        return self.matrices[str(self.groups[relation])]

    def _dropped(self, kind: int) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the product of a matrix with a type's features, of which some are dropped."""
        if not self.training or self.heads == 1:
            return self._product(kind)
        products = [self._product(kind) for _ in range(self.heads)]

        def product(matrix: torch.Tensor) -> torch.Tensor:
            parts = matrix.chunk(self.heads, dim=1)
            return torch.cat([one(part) for one, part in zip(products, parts, strict=True)], dim=1)

        return product

    def _product(self, kind: int) -> Callable[[torch.Tensor], torch.Tensor]:
        table = self.tables[kind]
        if table is None:
            ones = torch.ones(self.inputs.count(kind), 1, device=self.inputs.device)
            kept = F.dropout(ones, self.dropout, self.training)
            return lambda matrix: matrix * kept
        if isinstance(table, SparseTable):
            return table.dropped(self.dropout if self.training else 0.0)
        dropped = F.dropout(table, self.dropout, self.training)
        return lambda matrix: dropped @ matrix


class CycleLoss(nn.Module):
    """How far the way to another type and back is from the way to the own type.

    Each node type has a matrix that should undo that of its loop. As in the published code, the difference
    is a mean over nodes, and the inverses are compared with the identity.

    Args:
        sizes: for each type, the size of what its matrices are multiplied with.
        heads, dim: the number of heads, and the size of each.
    """

    def __init__(self, sizes: list[int], heads: int, dim: int) -> None:
        super().__init__()
        self.shape = (heads, dim)
        bounds = [(6 / (size + dim)) ** 0.5 for size in sizes]
        self.inverses = nn.ParameterList(
            torch.empty(heads, dim, size).uniform_(-bound, bound)
            for size, bound in zip(sizes, bounds, strict=True)
        )

    def forward(
        self, sent: torch.Tensor, rows: RelationRows, matrices: StateMatrices | FeatureMatrices
    ) -> torch.Tensor:
        """Return the loss, float ()."""
        ways = self.ways(sent, rows, matrices)
        parts = []
        for (one, other), (there, _) in ways.items():
            if (other, one) in ways:
                back = torch.einsum("hds,she->hde", self.inverses[other], ways[other, one][1])
                missed = torch.einsum("nhd,hde->nhe", there, back) - ways[one, one][0]
                parts.append(missed.square().sum() / len(there))
        identity = torch.eye(self.shape[1], device=sent.device)
        for kind, inverse in enumerate(self.inverses):
            undone = torch.einsum("hds,she->hde", inverse, ways[kind, kind][1])
            parts.append((undone - identity).square().sum())
        return torch.stack(parts).sum()

    def ways(
        self, sent: torch.Tensor, rows: RelationRows, matrices: StateMatrices | FeatureMatrices
    ) -> Mapping[tuple[int, int], Sent]:
        """Return what the nodes of each type send to each other type, with the matrix."""
        found = {}
        first = 0
        for kind, (nodes, relations) in enumerate(rows.types):
            count, size = relations.stop - relations.start, nodes.stop - nodes.start
            table = sent[first : first + size * count].view(size, count, *self.shape)
            first += size * count
            for place in range(count):
                one = rows.relations[relations.start + place]
                matrix = matrices.of(relations.start + place).unflatten(1, self.shape)
                found[kind, one.target_type] = (table[:, place], matrix)
        return found


def _scaled(table: torch.Tensor, row_sums: str) -> torch.Tensor | SparseTable:
    """Return features whose rows are divided by their sums."""
    scale = row_scale(table, row_sums)
    return table * scale if table.layout == torch.strided else SparseTable(table, scale)


class SparseTable:
    """Sparse features, of which others are dropped in each step.

    Args:
        table: the features, sparse CSR (nodes, features).
        scale: float (nodes, 1), a factor for each node's features.
    """

    def __init__(self, table: torch.Tensor, scale: torch.Tensor) -> None:
        self.shape = table.shape
        begin, column = table.crow_indices(), table.col_indices()
        row = torch.repeat_interleave(begin.diff())
        self.values = table.values() * scale.flatten()[row]
        # CSR has no fast product with its transpose, which the gradient needs.
        self.order = torch.argsort(column, stable=True)
        counts = torch.bincount(column, minlength=self.shape[1])
        ends = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        self.places = (begin, column)
        self.transposed = (ends.to(begin.dtype), row[self.order].to(column.dtype))

    def dropped(self, rate: float) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the product of a matrix with the features, of which some are dropped."""
        values = F.dropout(self.values, rate)
        given = torch.sparse_csr_tensor(*self.places, values, size=self.shape)
        back = torch.sparse_csr_tensor(*self.transposed, values[self.order], size=self.shape[::-1])
        return lambda matrix: FixedProduct.apply(given, back, matrix)
