"""Dropout on the input of an encoder, also for sparse features."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.inputs import DenseInput, FixedProduct, Input, LearnedInput, SparseInput, States
from trueedge.training.links.messages import csr


class FeatureDropout(nn.Module):
    """Dropout on an input during training."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self._turned: tuple[torch.Tensor, torch.Tensor] | None = None

    def forward(self, inputs: Input) -> Input:
        """Return the input with dropout."""
        if not self.training or self.share == 0:
            return inputs
        if isinstance(inputs, SparseInput):
            return _ThinnedFeatures(inputs, self.share, self._order(inputs))
        if isinstance(inputs, LearnedInput):
            return States(F.dropout(inputs.vectors, self.share))
        assert isinstance(inputs, DenseInput)
        return States(F.dropout(inputs.values, self.share))

    def _order(self, inputs: SparseInput) -> torch.Tensor:
        """Return the position in the matrix of each entry of the transpose, int64 (entries,)."""
        if self._turned is None or self._turned[0] is not inputs.indices:
            rows = torch.repeat_interleave(
                torch.arange(inputs.rows, device=inputs.indices.device), inputs.indptr.diff()
            )
            order = torch.argsort(inputs.indices * inputs.rows + rows, stable=True)
            self._turned = (inputs.indices, order)
        return self._turned[1]


class _ThinnedFeatures(Input):
    """Sparse features with dropout."""

    def __init__(self, inputs: SparseInput, share: float, order: torch.Tensor) -> None:
        super().__init__()
        self.inputs, self.dim = inputs, inputs.dim
        self.thinned = F.dropout(inputs.values, share)
        self.turned = self.thinned[order]

    def project(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the linear map of every node's features."""
        full: Any = self.inputs
        matrix = csr(full.indptr, full.indices, self.thinned, full.dim)
        turned = csr(full.turned_indptr, full.turned_indices, self.turned, full.rows)
        mapped: torch.Tensor = FixedProduct.apply(matrix, turned, weight.t())
        return mapped if bias is None else mapped + bias
