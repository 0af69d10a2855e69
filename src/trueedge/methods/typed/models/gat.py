"""A graph attention network that ignores types."""

from __future__ import annotations

from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.typed.models.attention_layer import AttentionLayer, AttentionShape
from trueedge.training.typed.features import FeatureInput, TypeMap
from trueedge.training.typed.inputs import TypedInputs


class GATModel(nn.Module):
    """Layers of attention over the neighbours of any type; the last has a single head.

    It gives the logits of the target type's nodes, or for links the vectors of all nodes.

    Args:
        inputs: the graph.
        features: the kind of input features.
        dim: size of a head.
        heads: heads of all layers but the last.
        layers: number of layers.
        shape: what the layers have in common.
        residual: add a node's own state, except in the first layer.
        out: number of classes, or size of the vectors.
        repeated: count an edge twice if its reverse is an edge.
        pyg: initialise attention vectors by Glorot's uniform bound, and the biases of the input at random.
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
        out: int,
        repeated: bool = False,
        pyg: bool = False,
    ) -> None:
        super().__init__()
        self.repeated = repeated
        self.input = FeatureInput(inputs, features, dim)
        sizes = [dim] + [heads * dim] * (layers - 1)
        # As published, the first layer for links receives its input without dropout.
        shapes = [shape if inputs.target is not None else replace(shape, dropout=0.0)] + [shape] * (
            layers - 1
        )
        self.layers = nn.ModuleList(
            AttentionLayer(given, dim, heads, its, residual and number > 0)
            for number, (given, its) in enumerate(zip(sizes[:-1], shapes, strict=False))
        )
        self.layers.append(AttentionLayer(sizes[-1], out, 1, shapes[-1], residual and layers > 1))
        self.out_dim = out
        if pyg:
            self._start_as_pyg()

    def forward(self, inputs: TypedInputs) -> torch.Tensor:
        """Return the logits or vectors, float (n, out)."""
        states = self.input(inputs)
        arcs = inputs.repeated_arcs if self.repeated else inputs.arcs
        for number, layer in enumerate(self.layers, start=1):
            states = layer(states, arcs)[0].flatten(1)
            if number < len(self.layers):
                states = F.elu(states)
        return states if inputs.target is None else states[inputs.rows(inputs.target)]

    def _start_as_pyg(self) -> None:
        """Draw the weights anew that the published network for links draws in another way."""
        for layer in self.layers:
            heads, dim, _ = layer.vectors.shape
            nn.init.uniform_(layer.vectors, -((6 / (heads + dim)) ** 0.5), (6 / (heads + dim)) ** 0.5)
        for one in self.input.maps:
            if isinstance(one, TypeMap):
                nn.init.uniform_(one.bias, -(len(one.weight) ** -0.5), len(one.weight) ** -0.5)
