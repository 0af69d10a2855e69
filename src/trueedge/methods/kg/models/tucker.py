"""TuckER: a core tensor that all relations share."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.methods.kg.models.tables import xavier
from trueedge.training.triples import DotModel


class TuckERModel(DotModel):
    """Scores the Tucker product of a core tensor with relation, head and tail.

    Args:
        dim: the size of entity vectors.
        relation_dim: the size of relation vectors.
        dropouts: the rates for the head, for the relation's matrix, and for the query.
    """

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        relation_dim: int,
        dropouts: tuple[float, float, float],
    ) -> None:
        super().__init__(xavier(entities, dim), xavier(relations, relation_dim))
        self.core = nn.Parameter(torch.empty(relation_dim, dim, dim).uniform_(-1, 1))
        self.head_norm, self.query_norm = nn.BatchNorm1d(dim), nn.BatchNorm1d(dim)
        self.head_dropout, self.matrix_dropout, self.query_dropout = (nn.Dropout(rate) for rate in dropouts)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the head times the relation's matrix."""
        head = self.head_dropout(self.head_norm(heads))
        matrices = (relations @ self.core.flatten(1)).view(-1, *self.core.shape[1:])
        matrices = self.matrix_dropout(matrices)
        query = torch.bmm(head.unsqueeze(1), matrices).squeeze(1)
        output: torch.Tensor = self.query_dropout(self.query_norm(query))
        return output
