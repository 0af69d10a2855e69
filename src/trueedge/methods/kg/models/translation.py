"""TransE and RotatE: a relation moves the head to the tail."""

from __future__ import annotations

import math

import torch

from trueedge.methods.kg.models.tables import uniform
from trueedge.training.triples import DistanceModel, Tables


class TransEModel(DistanceModel):
    """Scores the margin minus the norm of ``h + r - t``."""

    def __init__(self, entities: int, relations: int, dim: int, margin: float, norm: int) -> None:
        bound = (margin + 2) / dim
        super().__init__(uniform(entities, dim, bound), uniform(relations, dim, bound), margin)
        self.norm = norm

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return ``h + r``."""
        return heads + relations

    def distance(self, query: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        """Return the norm of the difference."""
        return torch.linalg.vector_norm(query - tails, ord=self.norm, dim=-1)

    def score_all(self, query: torch.Tensor, tables: Tables) -> torch.Tensor:
        """Return the scores of all entities, without a table of differences."""
        exact = "donot_use_mm_for_euclid_dist"
        apart = torch.cdist(query, tables.entities, p=float(self.norm), compute_mode=exact)
        return self.margin - apart


class RotatEModel(DistanceModel):
    """Scores the margin minus the sum of ``|h * r - t|``, where r turns each complex number by an angle.

    A vector of an entity is d/2 real parts, then d/2 imaginary ones; that of a relation is d/2 angles.
    """

    def __init__(self, entities: int, relations: int, dim: int, margin: float) -> None:
        bound = (margin + 2) / dim
        super().__init__(uniform(entities, dim, bound), uniform(relations, dim // 2, math.pi), margin)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the head turned by the angles of the relation."""
        (a, b), cos, sin = heads.chunk(2, dim=1), relations.cos(), relations.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=1)

    def distance(self, query: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        """Return the sum of the absolute values of complex differences."""
        real, imaginary = (query - tails).chunk(2, dim=-1)
        # The gradient of a root is infinite at 0.
        return (real.square() + imaginary.square() + 1e-12).sqrt().sum(dim=-1)
