"""TuckER: a core tensor that all relations share."""

from __future__ import annotations

import torch
from torch import nn

from trueedge.methods.kg.models.tables import xavier_rows
from trueedge.training.triples import DotModel


class TuckERModel(DotModel):
    """Scores the Tucker product of a core tensor with relation, head and tail.

    Args:
        dim: the size of entity vectors.
        relation_dim: the size of relation vectors.
        dropouts: the rates for the head, for the relation's matrix, and for the query.
        bias: whether each tail has a bias.
        unit_entities: whether the vectors of entities are kept at length 1.
        core: how the core tensor is drawn: ``xavier``, or ``uniform`` between -1 and 1.
    """

    def __init__(
        self,
        entities: int,
        relations: int,
        dim: int,
        relation_dim: int,
        dropouts: tuple[float, float, float],
        bias: bool = False,
        unit_entities: bool = False,
        core: str = "xavier",
    ) -> None:
        vectors = xavier_rows(entities, dim, unit_entities)
        super().__init__(vectors, xavier_rows(relations, relation_dim, unit_entities), bias)
        self.unit_entities = unit_entities
        drawn = torch.empty(relation_dim, dim, dim)
        self.core = nn.Parameter(
            nn.init.xavier_normal_(drawn) if core == "xavier" else nn.init.uniform_(drawn, -1, 1)
        )
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
