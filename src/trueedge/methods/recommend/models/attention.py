"""Attention over the joint graph of users and entities: Simple-HGN and KGAT-."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.recommend.models.first_vectors import GraphModel, Pretrained
from trueedge.methods.typed.models.attention_layer import AttentionLayer, AttentionShape
from trueedge.training.recommend.inputs import RecommendInputs


class AttentionModel(GraphModel):
    """The states of all layers, each normalized, side by side.

    Args:
        inputs: the training interactions.
        sizes: the size of the first vectors, and of each layer.
        heads: heads of a layer; a layer's vector is their mean.
        shape: what the layers have in common.
        residual: add a node's own state.
        beta: share of the previous layer's attention.
        normalize: divide the vectors of each layer by their norm.
        use: what pretrained vectors are for.
        pretrained: vectors of users and of items, or None.
    """

    def __init__(
        self,
        inputs: RecommendInputs,
        sizes: Sequence[int],
        heads: int,
        shape: AttentionShape,
        residual: bool,
        beta: float,
        normalize: bool,
        use: str,
        pretrained: Pretrained,
    ) -> None:
        super().__init__(inputs, inputs.num_nodes, sizes[0], use, pretrained)
        given = [sizes[0], *(heads * size for size in sizes[1:-1])]
        self.layers = nn.ModuleList(
            AttentionLayer(size, out, heads, shape, residual)
            for size, out in zip(given, sizes[1:], strict=True)
        )
        self.beta, self.normalize = beta, normalize

    def vectors(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of all users and items."""
        states, attention = self.first, None
        found = [states]
        for number, layer in enumerate(self.layers, start=1):
            states, attention = layer(states, inputs.arcs, attention, self.beta)
            if number < len(self.layers):
                states = F.elu(states)
            found.append(states.mean(1))
            states = states.flatten(1)
        # Only users and items are needed.
        parts = [self.divided(one) for one in found]
        users, items = zip(*parts, strict=True)
        return self._joined(users), self._joined(items)

    def _joined(self, layers: Sequence[torch.Tensor]) -> torch.Tensor:
        return torch.cat([F.normalize(one) if self.normalize else one for one in layers], dim=1)
