"""Learned vectors of users and entities, the input of graph models."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trueedge.training.recommend.inputs import RecommendInputs
from trueedge.training.recommend.model import FactorModel

Pretrained = tuple[torch.Tensor, torch.Tensor] | None


class GraphModel(FactorModel):
    """A model that begins with a learned vector of each user and entity.

    Args:
        inputs: the training interactions.
        count: how many nodes have a vector; users come first, then items.
        dim: the size of a vector.
        use: what pretrained vectors are for: ``bias``, ``input``, or ``none``.
        pretrained: vectors of users and of items, or None.
    """

    def __init__(
        self, inputs: RecommendInputs, count: int, dim: int, use: str, pretrained: Pretrained
    ) -> None:
        super().__init__(pretrained if use == "bias" else None)
        self.num_users, self.num_items = inputs.num_users, inputs.num_items
        first: Any = torch.empty(count, dim)
        nn.init.xavier_uniform_(first)
        if use == "input" and pretrained is not None:
            first[: self.num_users] = pretrained[0]
            first[self.num_users : self.num_users + self.num_items] = pretrained[1]
        self.first = nn.Parameter(first)

    def divided(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the states of users and of items."""
        return states[: self.num_users], states[self.num_users : self.num_users + self.num_items]
