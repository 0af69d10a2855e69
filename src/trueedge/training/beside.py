"""Two inputs side by side."""

from __future__ import annotations

import torch

from trueedge.training.inputs import Input


class BesideInput(Input):
    """What two inputs say of a node, one behind the other; each stays sparse or dense as it is."""

    def __init__(self, first: Input, second: Input) -> None:
        super().__init__()
        self.first = first
        self.second = second
        self.dim = first.dim + second.dim

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """The linear map of every node's input."""
        width = self.first.dim
        return self.first.project(weight[:, :width]) + self.second.project(weight[:, width:], bias)
