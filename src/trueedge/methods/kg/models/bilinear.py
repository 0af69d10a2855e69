"""DistMult and ComplEx: products of the three vectors of a triple."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.methods.kg.models.tables import xavier
from trueedge.training.triples import DotModel


class DistMultModel(DotModel):
    """Scores the sum of ``h * r * t`` over all dimensions."""

    def __init__(self, entities: int, relations: int, dim: int, dropout: float) -> None:
        super().__init__(xavier(entities, dim), xavier(relations, dim))
        self.dropout = nn.Dropout(dropout)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return ``h * r``."""
        query: torch.Tensor = self.dropout(heads * relations)
        return query


class ComplExModel(DotModel):
    """Scores the real part of the sum of ``h * r * conj(t)``.

    A vector is d/2 real parts, then d/2 imaginary ones.
    """

    def __init__(self, entities: int, relations: int, dim: int, dropout: float) -> None:
        super().__init__(xavier(entities, dim), xavier(relations, dim))
        self.dropout = nn.Dropout(dropout)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the complex product ``h * r``, whose dot product with t is the score."""
        (a, b), (c, d) = heads.chunk(2, dim=1), relations.chunk(2, dim=1)
        query: torch.Tensor = self.dropout(torch.cat([a * c - b * d, a * d + b * c], dim=1))
        return query
