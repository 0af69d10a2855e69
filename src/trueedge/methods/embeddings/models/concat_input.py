"""Two inputs concatenated."""

from __future__ import annotations

import torch

from trueedge.training import Input


class ConcatInput(Input):
    """Concatenates two inputs, each of which stays sparse or dense."""

    def __init__(self, first: Input, second: Input) -> None:
        super().__init__()
        self.first = first
        self.second = second
        self.dim = first.dim + second.dim

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's input, float (n, out)."""
        width = self.first.dim
        return self.first.project(weight[:, :width]) + self.second.project(weight[:, width:], bias)
