"""Feature preprocessing: what each node type feeds into a model."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.training.links.inputs import FixedProduct
from trueedge.training.typed.inputs import TypedInputs

TARGET = ("target", "target-only")
GAIN = 1.414


class FeatureInput(nn.Module):
    """A linear layer for each type that keeps its features, and learned vectors for the nodes of the others.

    Lv et al., Are We Really Making Much Progress?, KDD 2021, Section 4.3. A one-hot vector followed by a
    linear layer is a learned vector.

    Args:
        inputs: the graph.
        kind: which types keep their features: ``all``, the ``target`` alone, or none (``one-hot``). With
            ``target-only``, the nodes of each other type share one learned vector.
        dim: the size of the states.
        unit_rows: divide the features of each node by the sum of their absolute values (``absolute``), or by
            their ``signed`` sum; None: leave them as they are.
    """

    def __init__(self, inputs: TypedInputs, kind: str, dim: int, unit_rows: str | None = None) -> None:
        super().__init__()
        maps: list[nn.Module] = []
        self.kept = []
        # Without a target, nodes could not be told apart.
        shared = kind == "target-only" and inputs.target is not None
        for number, table in enumerate(kept_features(inputs, kind)):
            size = inputs.count(number) if table is None else table.shape[1]
            self.kept.append(table is not None)
            weight = torch.empty(size, dim)
            # As the weight of a linear layer from one-hot vectors would be.
            nn.init.xavier_normal_(weight, gain=GAIN)
            scale = row_scale(table, unit_rows) if unit_rows and table is not None else None
            maps.append(SharedVector(size, dim) if shared and table is None else TypeMap(weight, scale))
        self.maps = nn.ModuleList(maps)
        self.dim = dim

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        found = []
        for one, keeps, table in zip(self.maps, self.kept, inputs.features, strict=True):
            found.append(one(table if keeps else None))
        return torch.cat(found)

    def start_as_linear(self) -> None:
        """Draw weights and biases anew as PyTorch does for a linear layer: within 1 over sqrt(inputs)."""
        for one in self.maps:
            if isinstance(one, TypeMap):
                bound = len(one.weight) ** -0.5
                nn.init.uniform_(one.weight, -bound, bound)
                nn.init.uniform_(one.bias, -bound, bound)


class TypeMap(nn.Module):
    """The product of features with a weight, plus a bias; without features, the rows of the weight.

    Args:
        weight: float (features, dim).
        scale: float (nodes, 1), a factor for each node's features; None: 1.
    """

    scale: torch.Tensor | None

    def __init__(self, weight: torch.Tensor, scale: torch.Tensor | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(weight.shape[1]))
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, table: torch.Tensor | None) -> torch.Tensor:
        """Return the states, float (nodes, dim)."""
        mapped = self.weight if table is None else sparse_or_dense(table, self.weight)
        if self.scale is not None:
            mapped = mapped * self.scale
        return mapped + self.bias


class SharedVector(nn.Module):
    """One vector for all nodes of a type: what a linear layer makes of zeros."""

    def __init__(self, count: int, dim: int) -> None:
        super().__init__()
        self.count = count
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, table: None) -> torch.Tensor:
        """Return the states, float (nodes, dim)."""
        del table
        return self.bias.expand(self.count, -1)


def kept_features(inputs: TypedInputs, kind: str) -> list[torch.Tensor | None]:
    """Return the features of each type that keeps them, and None for the others.

    Args:
        inputs: the graph.
        kind: which types keep their features, as for :class:`FeatureInput`.
    """
    return [
        table if kind == "all" or (kind in TARGET and number == inputs.target) else None
        for number, table in enumerate(inputs.features)
    ]


def row_scale(table: torch.Tensor, sums: str = "absolute") -> torch.Tensor:
    """Return 1 over the sum of each row, float (nodes, 1).

    Args:
        table: features, dense or sparse CSR.
        sums: ``absolute`` adds absolute values, and rows of zeros have 1. ``signed`` adds the values
            themselves, as the code of HetSANN does: a row whose sum is near 0 becomes large, and one whose
            sum is 0 has 0.
    """
    signed = sums == "signed"
    if table.layout == torch.strided:
        total = table.sum(1) if signed else table.abs().sum(1)
    else:
        rows = torch.repeat_interleave(table.crow_indices().diff())
        values = table.values() if signed else table.values().abs()
        total = torch.zeros(len(table), device=table.device).index_add(0, rows, values)
    scale = torch.where(total != 0, total, torch.ones_like(total)).reciprocal().unsqueeze(1)
    return scale * (total != 0).unsqueeze(1) if signed else scale


def sparse_or_dense(table: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Return the product of features, dense or sparse CSR, with a dense weight."""
    if table.layout == torch.strided:
        return table @ weight
    product: torch.Tensor = FixedProduct.apply(table, transposed(table), weight)
    return product


def transposed(table: torch.Tensor) -> torch.Tensor:
    """Return the transpose of a sparse CSR tensor as CSR, which has no fast product with its own.

    It is computed once and kept with the tensor.
    """
    kept: torch.Tensor | None = getattr(table, "_transposed", None)
    if kept is None:
        kept = table.to_sparse_coo().t().coalesce().to_sparse_csr()
        table._transposed = kept
    return kept
