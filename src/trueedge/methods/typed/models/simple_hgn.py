"""Simple-HGN, for node classification and for links."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.typed.models.attention_layer import AttentionLayer, AttentionShape
from trueedge.training.typed.features import FeatureInput
from trueedge.training.typed.inputs import TypedInputs


class SimpleHGNClassifier(nn.Module):
    """Attention with edge types, residuals of nodes and of attention, and normalized logits.

    As published, the first layer has no residual, and the last one has a single head and no residual of
    attention.

    Args:
        inputs: the graph.
        features: the kind of input features.
        dim: size of a head.
        heads: heads of all layers but the last.
        layers: number of layers.
        shape: what the layers have in common.
        residual: add a node's own state.
        beta: share of the previous layer's attention.
        normalize: divide the logits of a node by their norm.
        out: number of classes.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        heads: int,
        layers: int,
        shape: AttentionShape,
        residual: bool,
        beta: float,
        normalize: bool,
        out: int,
    ) -> None:
        super().__init__()
        self.input = FeatureInput(inputs, features, dim)
        sizes = [dim] + [heads * dim] * (layers - 1)
        self.layers = nn.ModuleList(
            AttentionLayer(given, dim, heads, shape, residual and number > 0)
            for number, given in enumerate(sizes[:-1])
        )
        self.last = AttentionLayer(sizes[-1], out, 1, shape, residual and layers > 1)
        self.beta, self.normalize = beta, normalize

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits of the nodes of the target type, float (n, classes)."""
        assert inputs.target is not None
        states, attention = self.input(inputs), None
        for layer in self.layers:
            states, attention = layer(states, inputs.arcs, attention, self.beta)
            states = F.elu(states.flatten(1))
        logits = self.last(states, inputs.arcs)[0][inputs.rows(inputs.target)].mean(1)
        return F.normalize(logits) if self.normalize else logits


class SimpleHGNEncoder(nn.Module):
    """The states of all layers, each normalized, side by side: the vectors that links are scored by.

    The arguments are those of :class:`SimpleHGNClassifier`. A layer's vector is the mean of its heads.
    Without ``every_layer``, the vectors are those of the last layer.
    """

    def __init__(
        self,
        inputs: TypedInputs,
        features: str,
        dim: int,
        heads: int,
        layers: int,
        shape: AttentionShape,
        residual: bool,
        beta: float,
        normalize: bool,
        every_layer: bool = True,
    ) -> None:
        super().__init__()
        self.input = FeatureInput(inputs, features, dim)
        self.layers = nn.ModuleList(
            AttentionLayer(heads * dim if number else dim, dim, heads, shape, residual and number > 0)
            for number in range(layers)
        )
        self.beta, self.normalize = beta, normalize
        self.kept = layers + 1 if every_layer else 1
        self.out_dim = dim * self.kept

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the vectors of all nodes, float (n, out_dim)."""
        states, attention = self.input(inputs), None
        found = [states]
        for number, layer in enumerate(self.layers, start=1):
            states, attention = layer(states, inputs.arcs, attention, self.beta)
            if number < len(self.layers):
                states = F.elu(states)
            found.append(states.mean(1))
            states = states.flatten(1)
        kept = found[-self.kept :]
        return torch.cat([F.normalize(one) if self.normalize else one for one in kept], dim=1)
