"""LightGCN's model."""

from __future__ import annotations

import torch

from trueedge.methods.recommend.models.first_vectors import GraphModel, Pretrained
from trueedge.training.recommend.inputs import RecommendInputs


class LightGCNModel(GraphModel):
    """The mean of the vectors after 0, 1, …, L steps of the normalised adjacency.

    Args:
        inputs: the training interactions.
        dim: the size of a vector.
        layers: L, the number of steps.
        use: what pretrained vectors are for.
        pretrained: vectors of users and of items, or None.
    """

    def __init__(
        self, inputs: RecommendInputs, dim: int, layers: int, use: str, pretrained: Pretrained
    ) -> None:
        super().__init__(inputs, inputs.num_users + inputs.num_items, dim, use, pretrained)
        self.layers = layers

    def vectors(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of all users and items."""
        messages = inputs.messages
        scale = messages.degrees.clamp(min=1).rsqrt().unsqueeze(1)
        states = total = self.first
        for _ in range(self.layers):
            states = scale * messages.sum(scale * states)
            total = total + states
        return self.divided(total / (self.layers + 1))
