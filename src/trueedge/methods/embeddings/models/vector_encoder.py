"""Learned vectors that are states themselves."""

from __future__ import annotations

import torch

from trueedge.training import Encoder, Input, LearnedInput
from trueedge.training.links.messages import Messages


class VectorEncoder(Encoder):
    """Gives each node its learned vector as state, without a layer.

    Args:
        dim: the size of a vector.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the vectors of all nodes, float (n, dim)."""
        del messages
        assert isinstance(inputs, LearnedInput)
        return inputs.vectors
