"""Models with a vector for each entity and relation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

# Numbers in a block of differences between queries and entities: few for the CPU's cache, many for a GPU.
BLOCK = {"cpu": 1 << 20, "cuda": 1 << 27}


class Tables(NamedTuple):
    """The vectors that scores are computed from.

    Attributes:
        entities: float (entities, d).
        relations: float (2 relations, d'), with those of inverse relations in the second half.
    """

    entities: torch.Tensor
    relations: torch.Tensor


class TripleModel(nn.Module, ABC):
    """Scores triples in two steps: head and relation give the vector of a query, which meets each tail.

    Attributes:
        entities: a vector per entity, float (entities, d).
        relations: a vector per relation and per inverse relation, float (2 relations, d').
        unit_entities: keep the vectors of entities at length 1: each step moves them, the next scales them.
    """

    unit_entities: bool = False

    def __init__(self, entities: torch.Tensor, relations: torch.Tensor) -> None:
        super().__init__()
        self.entities = nn.Parameter(entities)
        self.relations = nn.Parameter(relations)

    def encode(self) -> Tables:
        """Return the vectors of all entities and relations; a graph network computes them."""
        if self.unit_entities:
            # In place: no gradient flows through the scaling, and an averaged model is scaled too.
            with torch.no_grad():
                self.entities.copy_(F.normalize(self.entities))
        return Tables(self.entities, self.relations)

    @abstractmethod
    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the query vectors of head vectors (b, d) and relation vectors (b, d'), float (b, d'')."""

    @abstractmethod
    def score_all(self, query: torch.Tensor, tables: Tables) -> torch.Tensor:
        """Return the logit of each query vector (b, d'') with every entity as tail, float (b, entities)."""

    @abstractmethod
    def score_some(
        self, query: torch.Tensor, tails: torch.Tensor, tables: Tables, bias: bool = True
    ) -> torch.Tensor:
        """Return the logit of each query vector (b, d'') with its own tails, int (b, k): float (b, k).

        ``bias=False`` leaves out what a model adds for a tail whatever the query is.
        """

    def query(self, heads: torch.Tensor, relations: torch.Tensor, tables: Tables) -> torch.Tensor:
        """Return the vectors of queries, given by head and relation, int (b,) each: float (b, d'')."""
        # Not tables.entities[heads]: the gradient of that is sorted on a GPU, and slow.
        return self.combine(
            tables.entities.index_select(0, heads), tables.relations.index_select(0, relations)
        )


class DotModel(TripleModel):
    """A model that scores the dot product of query and tail, so that all tails take one matrix product.

    Attributes:
        bias: a number per entity that is added to its scores as tail, or None.
    """

    def __init__(self, entities: torch.Tensor, relations: torch.Tensor, bias: bool = False) -> None:
        super().__init__(entities, relations)
        self.bias = nn.Parameter(torch.zeros(len(entities))) if bias else None

    def score_all(self, query: torch.Tensor, tables: Tables) -> torch.Tensor:
        """Return the dot product of each query with every entity."""
        if self.bias is None:
            return query @ tables.entities.T
        return torch.addmm(self.bias, query, tables.entities.T)

    def score_some(
        self, query: torch.Tensor, tails: torch.Tensor, tables: Tables, bias: bool = True
    ) -> torch.Tensor:
        """Return the dot product of each query with its own tails."""
        flat = tails.reshape(-1)
        vectors = tables.entities.index_select(0, flat).view(*tails.shape, -1)
        scores = torch.bmm(vectors, query.unsqueeze(2)).squeeze(2)
        if self.bias is None or not bias:
            return scores
        return scores + self.bias.index_select(0, flat).view(tails.shape)


class DistanceModel(TripleModel):
    """A model that scores ``margin`` minus the distance of query and tail."""

    def __init__(self, entities: torch.Tensor, relations: torch.Tensor, margin: float) -> None:
        super().__init__(entities, relations)
        self.margin = margin

    @abstractmethod
    def distance(self, query: torch.Tensor, tails: torch.Tensor) -> torch.Tensor:
        """Return the distance of queries and tails, float (..., d) each: float (...)."""

    def score_all(self, query: torch.Tensor, tables: Tables) -> torch.Tensor:
        """Return the scores of all entities, in blocks of entities that bound the memory."""
        block = max(1, BLOCK[query.device.type] // max(1, query.numel()))
        parts = [
            self.distance(query.unsqueeze(1), part.unsqueeze(0)) for part in tables.entities.split(block)
        ]
        return self.margin - torch.cat(parts, dim=1)

    def score_some(
        self, query: torch.Tensor, tails: torch.Tensor, tables: Tables, bias: bool = True
    ) -> torch.Tensor:
        """Return the scores of each query's own tails."""
        del bias
        vectors = tables.entities.index_select(0, tails.reshape(-1)).view(*tails.shape, -1)
        return self.margin - self.distance(query.unsqueeze(1), vectors)
