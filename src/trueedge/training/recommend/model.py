"""Models that score items for users."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import nn

from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.rows import rows_of


class ItemModel(nn.Module, ABC):
    """A model of the scores of items for users."""

    @abstractmethod
    def batch(
        self, inputs: RecommendInputs, users: torch.Tensor, items: torch.Tensor, others: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the scores of items and of others for users, float (b,) each, and a penalty, float ()."""

    def prepare(self, inputs: RecommendInputs) -> Any:
        """Return what all users share, computed once before items are scored."""
        del inputs
        return None

    @abstractmethod
    def table(self, inputs: RecommendInputs, prepared: Any, users: torch.Tensor) -> torch.Tensor:
        """Return the score of every item for users, float (n, items)."""


class FactorModel(ItemModel):
    """A model with a vector for each user and item, whose dot product is the score.

    Args:
        pretrained: vectors of users and of items that stay as they are: their dot product is added to the
            score, as in Equation 5 of Lv et al., KDD 2021; None for nothing.
    """

    def __init__(self, pretrained: tuple[torch.Tensor, torch.Tensor] | None = None) -> None:
        super().__init__()
        users, items = (None, None) if pretrained is None else pretrained
        self.register_buffer("fixed_users", users)
        self.register_buffer("fixed_items", items)

    @abstractmethod
    def vectors(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of all users and of all items, float (users, d) and (items, d)."""

    def batch(
        self, inputs: RecommendInputs, users: torch.Tensor, items: torch.Tensor, others: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the scores of items and of others for users, and half the mean squared norm of vectors."""
        of_users, of_items = self.vectors(inputs)
        user, item, other = rows_of(of_users, users), rows_of(of_items, items), rows_of(of_items, others)
        above, below = (user * item).sum(1), (user * other).sum(1)
        penalty = sum((one * one).sum() for one in (user, item, other)) / (2 * len(users))
        if self.fixed_users is not None:
            fixed = self.fixed_users[users]
            above = above + (fixed * self.fixed_items[items]).sum(1)
            below = below + (fixed * self.fixed_items[others]).sum(1)
        return above, below, penalty

    def prepare(self, inputs: RecommendInputs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the vectors of all users and items, pretrained ones included."""
        users, items = self.vectors(inputs)
        if self.fixed_users is None:
            return users, items
        return torch.cat([users, self.fixed_users], 1), torch.cat([items, self.fixed_items], 1)

    def table(self, inputs: RecommendInputs, prepared: Any, users: torch.Tensor) -> torch.Tensor:
        """Return the score of every item for users, float (n, items)."""
        del inputs
        of_users, of_items = prepared
        found: torch.Tensor = of_users[users] @ of_items.T
        return found
