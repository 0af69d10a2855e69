"""HAN's encoder: attention within each meta-path, then attention over the meta-paths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from scipy.sparse import csr_array, diags_array
from torch import nn

from trueedge.training.typed.attention import attend
from trueedge.training.typed.attention_inputs import Logits
from trueedge.training.typed.features import GAIN, FeatureInput
from trueedge.training.typed.inputs import Arcs, TypedInputs


class HanModel(nn.Module):
    """Logits of the nodes of one type, from graphs of their meta-path neighbours.

    Args:
        inputs: the typed graph.
        graphs: one for each meta-path.
        features: which types keep their features.
        dim, heads: numbers a head, and heads.
        layers: attention layers, and a linear layer at the end.
        attention_dim: the size of the hidden layer that weighs meta-paths.
        dropout: of states and of attention weights.
        out: the number of classes.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        graphs: list[Neighbors],
        features: str,
        dim: int,
        heads: int,
        layers: int,
        attention_dim: int,
        dropout: float,
        out: int,
    ) -> None:
        super().__init__()
        assert inputs.target is not None
        self.rows = inputs.rows(inputs.target)
        self.input = FeatureInput(inputs, features, dim * heads)
        self.graphs = graphs
        self.layers = nn.ModuleList(
            HanLayer(len(graphs), dim * heads, dim, heads, attention_dim, dropout) for _ in range(layers - 1)
        )
        self.output = nn.Linear(dim * heads, out)

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits, float (nodes of the target type, classes)."""
        states = self.input(inputs)[self.rows]
        for layer in self.layers:
            states = layer(states, self.graphs)
        logits: torch.Tensor = self.output(states)
        return logits


class HanLayer(nn.Module):
    """A graph attention layer for each meta-path, and the weighted mean of what they return."""

    def __init__(
        self, paths: int, size: int, dim: int, heads: int, attention_dim: int, dropout: float
    ) -> None:
        super().__init__()
        self.by_path = nn.ModuleList(NodeAttention(size, dim, heads, dropout) for _ in range(paths))
        self.over_paths = PathAttention(dim * heads, attention_dim)

    def forward(self, states: torch.Tensor, graphs: list[Neighbors]) -> torch.Tensor:
        """Return the new states, float (n, heads * dim)."""
        found = [one(states, graph) for one, graph in zip(self.by_path, graphs, strict=True)]
        mixed: torch.Tensor = self.over_paths(found)
        return mixed


class NodeAttention(nn.Module):
    """A graph attention layer: Equations 2 to 7 of HAN."""

    def __init__(self, size: int, dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.dim, self.heads, self.dropout = dim, heads, dropout
        self.map = nn.Linear(size, dim * heads, bias=False)
        self.receiver, self.sender = (nn.Parameter(torch.empty(1, heads, dim)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(dim * heads))
        for weight in (self.map.weight, self.receiver, self.sender):
            nn.init.xavier_normal_(weight, gain=GAIN)

    def forward(self, states: torch.Tensor, graph: Neighbors) -> torch.Tensor:
        """Return the new states, float (n, heads * dim)."""
        states = F.dropout(states, self.dropout, self.training)
        values = self.map(states).view(-1, self.heads, self.dim)
        logits = Logits(*((values * weight).sum(-1) for weight in (self.sender, self.receiver)))
        mean, _ = attend(values, logits, graph.arcs, self.dropout if self.training else 0.0)
        return F.elu(mean.flatten(1) * graph.there + self.bias)


class PathAttention(nn.Module):
    """The weighted mean of the states from several meta-paths: Equations 8 to 11 of HAN."""

    def __init__(self, size: int, attention_dim: int) -> None:
        super().__init__()
        self.score = nn.Sequential(
            nn.Linear(size, attention_dim), nn.Tanh(), nn.Linear(attention_dim, 1, bias=False)
        )

    def forward(self, found: list[torch.Tensor]) -> torch.Tensor:
        """Return the mixture, float (n, size)."""
        weights = torch.stack([self.score(states).mean() for states in found]).softmax(0)
        mixed = found[0] * weights[0]
        for states, weight in zip(found[1:], weights[1:], strict=True):
            mixed = mixed + states * weight
        return mixed


class Neighbors(NamedTuple):
    """Who receives from whom along a meta-path.

    Attributes:
        arcs: from the neighbours of each node, and from itself if it has none: no softmax is empty.
        there: float (n, 1), 0 for nodes without neighbours, which receive nothing.
    """

    arcs: Arcs
    there: torch.Tensor


def meta_path_neighbors(matrix: csr_array, device: str | torch.device, loops: bool = False) -> Neighbors:
    """Return the neighbours of each node; with ``loops``, it is one itself."""
    count = matrix.shape[0]
    alone = np.diff(matrix.indptr) == 0
    added = np.ones(count, dtype=bool) if loops else alone
    matrix = csr_array(matrix + diags_array(added, dtype=bool, format="csr"))
    matrix.sort_indices()
    target = np.repeat(np.arange(count), np.diff(matrix.indptr))
    source, received, indptr = (
        torch.from_numpy(one.astype(np.int64)).to(device) for one in (matrix.indices, target, matrix.indptr)
    )
    there = np.ones(count, dtype=np.float32) if loops else 1.0 - alone.astype(np.float32)
    arcs = Arcs(source, received, torch.zeros_like(source), indptr, 1)
    return Neighbors(arcs, torch.from_numpy(there).to(device).unsqueeze(1))
