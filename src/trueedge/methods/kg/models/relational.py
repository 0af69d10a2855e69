"""R-GCN and CompGCN: vectors of entities from their neighbours, by relation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from trueedge.methods.kg.models.conve import ConvolutionalQuery
from trueedge.methods.kg.models.tables import xavier
from trueedge.training.triples import DotModel, Tables

Composition = Literal["sub", "mult", "corr"]


class Arcs(nn.Module):
    """The triples in both directions as arcs from head to tail, with weights.

    Args:
        triples: the triples, then their inverses, int (2m, 3).
        entities: the number of entities.
        relations: the number of relations with inverse ones.
        by_relation: weigh by 1 / the number of arcs of that relation that the tail receives; otherwise by the
            roots of the numbers of arcs of that direction at both ends.
    """

    heads: torch.Tensor
    relations: torch.Tensor
    tails: torch.Tensor
    weights: torch.Tensor

    def __init__(self, triples: NDArray[np.int32], entities: int, relations: int, by_relation: bool) -> None:
        super().__init__()
        rows = triples.astype(np.int64)
        # By tail, so that sums read and write in order.
        rows = rows[np.argsort(rows[:, 2], kind="stable")]
        if by_relation:
            weights = 1 / _counts(rows[:, 1] * entities + rows[:, 2])
        else:
            backwards = (rows[:, 1] >= relations // 2) * entities
            weights = (_counts(backwards + rows[:, 2]) * _counts(backwards + rows[:, 0])) ** -0.5
        for name, column in zip(("heads", "relations", "tails"), rows.T, strict=True):
            self.register_buffer(name, torch.from_numpy(column.copy()), persistent=False)
        self.register_buffer("weights", torch.from_numpy(weights.astype(np.float32)), persistent=False)


class RGCNModel(DotModel):
    """R-GCN layers with basis decomposition, and DistMult on top.

    Args:
        arcs: the triples that messages follow.
        bases: matrices that those of all relations are made of.
        dropout: the rate for the output of each layer.
    """

    def __init__(
        self, arcs: Arcs, entities: int, relations: int, dim: int, layers: int, bases: int, dropout: float
    ) -> None:
        super().__init__(xavier(entities, dim), xavier(relations, dim))
        self.arcs = arcs
        self.layers = nn.ModuleList(BasisLayer(relations, dim, bases) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)

    def encode(self) -> Tables:
        """Return the states of all entities after the last layer."""
        states: torch.Tensor = self.entities
        for number, layer in enumerate(self.layers):
            states = self.dropout(layer(torch.relu(states) if number else states, self.arcs))
        return Tables(states, self.relations)

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return ``h * r``, as DistMult."""
        return heads * relations


class BasisLayer(nn.Module):
    """A layer of R-GCN: each relation's matrix is a sum of a few shared ones."""

    def __init__(self, relations: int, dim: int, bases: int) -> None:
        super().__init__()
        self.bases = nn.Parameter(torch.stack([xavier(dim, dim) for _ in range(bases)]))
        self.coefficients = nn.Parameter(xavier(relations, bases))
        self.own = nn.Linear(dim, dim)

    def forward(self, states: torch.Tensor, arcs: Arcs) -> torch.Tensor:
        """Return the new states, float (n, d)."""
        result: torch.Tensor = self.own(states)
        shares = self.coefficients.index_select(0, arcs.relations) * arcs.weights.unsqueeze(1)
        for basis, share in zip(self.bases, shares.unbind(1), strict=True):
            # A basis at a time, which bounds the memory.
            messages = (states @ basis).index_select(0, arcs.heads) * share.unsqueeze(1)
            result = result.index_add(0, arcs.tails, messages)
        return result


class CompGCNModel(DotModel):
    """CompGCN layers, and DistMult or ConvE on top.

    Args:
        arcs: the triples that messages follow.
        composition: how an entity and a relation are combined in a message.
        decoder: ConvE's query, or None for DistMult.
        dropout: the rate for the output of each layer.
    """

    def __init__(
        self,
        arcs: Arcs,
        entities: int,
        relations: int,
        dim: int,
        layers: int,
        composition: Composition,
        decoder: ConvolutionalQuery | None,
        dropout: float,
    ) -> None:
        super().__init__(xavier(entities, dim), xavier(relations, dim), bias=True)
        self.arcs = arcs
        self.layers = nn.ModuleList(CompositionLayer(relations, dim, composition) for _ in range(layers))
        self.decoder = decoder
        self.dropout = nn.Dropout(dropout)

    def encode(self) -> Tables:
        """Return the states of all entities and relations after the last layer."""
        tables = Tables(self.entities, self.relations)
        for layer in self.layers:
            tables = layer(tables, self.arcs)
            tables = Tables(self.dropout(tables.entities), tables.relations)
        return tables

    def combine(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the query of the decoder."""
        if self.decoder is None:
            return heads * relations
        query: torch.Tensor = self.decoder(heads, relations)
        return query


class CompositionLayer(nn.Module):
    """A layer of CompGCN: messages combine entity and relation, with one matrix per direction."""

    def __init__(self, relations: int, dim: int, composition: Composition) -> None:
        super().__init__()
        self.composition = composition
        self.forwards, self.backwards, self.own = (nn.Parameter(xavier(dim, dim)) for _ in range(3))
        self.of_relations = nn.Parameter(xavier(dim, dim))
        self.loop = nn.Parameter(xavier(1, dim))
        self.norm = nn.BatchNorm1d(dim)
        self.relations = relations

    def forward(self, tables: Tables, arcs: Arcs) -> Tables:
        """Return the new states of entities and relations."""
        entities, relations = _before(self.composition, tables.entities), tables.relations
        loop = _before(self.composition, self.loop, conjugate=False)
        turned = _before(self.composition, relations, conjugate=False)
        dim = tables.entities.shape[1]
        result = _after(self._compose(entities, loop), dim) @ self.own
        messages = self._compose(entities.index_select(0, arcs.heads), turned.index_select(0, arcs.relations))
        # Arcs of inverse relations are summed in a second half, for a matrix of their own.
        place = arcs.tails + (arcs.relations >= self.relations // 2) * len(entities)
        total = entities.new_zeros(2 * len(entities), entities.shape[1])
        total = total.index_add(0, place, arcs.weights.unsqueeze(1) * messages)
        for half, matrix in zip(total.chunk(2), (self.forwards, self.backwards), strict=True):
            result = result + _after(half, dim) @ matrix
        return Tables(torch.tanh(self.norm(result / 3)), relations @ self.of_relations)

    def _compose(self, entities: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        return entities - relations if self.composition == "sub" else entities * relations


def _before(composition: Composition, vectors: torch.Tensor, conjugate: bool = True) -> torch.Tensor:
    """Return what is composed entry by entry: for circular correlations the Fourier transform.

    It is linear, so it is applied to entities and to sums of messages, and not to every message.
    """
    if composition != "corr":
        return vectors
    turned = torch.fft.rfft(vectors, dim=1)
    return turned.conj() if conjugate else turned


def _after(vectors: torch.Tensor, dim: int) -> torch.Tensor:
    """Undo the Fourier transform, if there was one."""
    return torch.fft.irfft(vectors, n=dim, dim=1) if vectors.is_complex() else vectors


def _counts(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often each key occurs, float64 (n,)."""
    _, where, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[where].astype(np.float64)
