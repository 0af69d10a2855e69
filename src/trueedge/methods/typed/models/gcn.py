"""A graph convolutional network that ignores types."""

from __future__ import annotations

from itertools import pairwise
from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.messages import csr
from trueedge.training.typed.features import FeatureInput, sparse_or_dense
from trueedge.training.typed.inputs import Arcs, TypedInputs

# Of the initial weights, for nodes and for links.
GAINS = 1.0, 1.4
_ADJACENCIES: WeakKeyDictionary[Arcs, torch.Tensor] = WeakKeyDictionary()


class GCNModel(nn.Module):
    """Layers that average over neighbours of any type, and map the result.

    It gives the logits of the target type's nodes, or for links the vectors of all nodes.
    As published, the first layer for node classification only averages: the input is already mapped.

    Args:
        inputs: the graph.
        features: the kind of input features.
        dim: size of the states.
        layers: number of layers.
        dropout: rate for what all layers but the first receive.
        out: number of classes, or size of the vectors.
    """

    def __init__(
        self, inputs: TypedInputs, features: str, dim: int, layers: int, dropout: float, out: int
    ) -> None:
        super().__init__()
        self.input = FeatureInput(inputs, features, dim)
        sizes = [dim] * layers + [out]
        averages = inputs.target is not None and layers > 1
        self.layers = nn.ModuleList(
            Convolution(given, size, number > 0 or not averages, GAINS[inputs.target is None])
            for number, (given, size) in enumerate(pairwise(sizes))
        )
        self.dropout = nn.Dropout(dropout)
        self.out_dim = out

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits or vectors, float (n, out)."""
        states, adjacency = self.input(inputs), normalized_adjacency(inputs.arcs)
        for number, layer in enumerate(self.layers):
            # The input is mapped already, without an activation.
            states = layer(self.dropout(F.elu(states)) if number else states, adjacency)
        return states if inputs.target is None else states[inputs.rows(inputs.target)]


class Convolution(nn.Module):
    """The mean of a node and its neighbours, normalized by the degrees of both, mapped, plus a bias."""

    def __init__(self, given: int, size: int, mapped: bool, gain: float) -> None:
        super().__init__()
        self.weight: nn.Parameter | None = None
        if mapped:
            self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(given, size), gain))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, states: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        """Return the new states, float (n, size)."""
        if self.weight is None:
            return sparse_or_dense(adjacency, states) + self.bias
        if self.weight.shape[0] < self.weight.shape[1]:
            return sparse_or_dense(adjacency, states) @ self.weight + self.bias
        return sparse_or_dense(adjacency, states @ self.weight) + self.bias


def normalized_adjacency(arcs: Arcs) -> torch.Tensor:
    """Return D^-1/2 A D^-1/2 with loops, sparse CSR (n, n); it is kept as long as the arcs."""
    if arcs not in _ADJACENCIES:
        root = arcs.indptr.diff().clamp(min=1).to(torch.float32).rsqrt()
        weights = root[arcs.source] * root[arcs.target]
        # MKL and cuSPARSE take 32-bit indices as they are.
        ends, sources = arcs.indptr.to(torch.int32), arcs.source.to(torch.int32)
        _ADJACENCIES[arcs] = csr(ends, sources, weights, arcs.num_nodes)
    return _ADJACENCIES[arcs]
