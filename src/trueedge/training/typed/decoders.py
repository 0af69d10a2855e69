"""Decoders: the score of a link from the vectors of its two nodes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class Decoder(nn.Module):
    """Scores links of some relations.

    Lv et al., Are We Really Making Much Progress?, KDD 2021, Equation 4, calls the full matrix DistMult.

    Args:
        kind: ``dot``, ``distmult`` (a diagonal matrix for each relation) or ``bilinear`` (a full one).
        relations: the relations, by number.
        dim: the size of the vectors.
        squashed: take the sigmoid of scores, before the loss takes another; large scores then tie.
        centred: the vectors of ``distmult`` start with a mean of 0 instead of 1, uniform by Glorot's bound.
    """

    def __init__(
        self,
        kind: str,
        relations: Sequence[int],
        dim: int,
        squashed: bool = False,
        centred: bool = False,
    ) -> None:
        super().__init__()
        self.kind, self.squashed = kind, squashed
        self.place = {relation: number for number, relation in enumerate(relations)}
        self.weight: nn.Parameter | None = None
        if kind == "distmult":
            self.weight = nn.Parameter(torch.empty(len(relations), dim))
            if centred:
                nn.init.xavier_uniform_(self.weight, gain=nn.init.calculate_gain("relu"))
            else:
                nn.init.normal_(self.weight, mean=1.0, std=dim**-0.5)
        elif kind == "bilinear":
            self.weight = nn.Parameter(torch.empty(len(relations), dim, dim))
            # By the size of the whole table, as published: by that of a matrix, first logits are six times as
            # large, and HGT on LastFM starts with a loss of 5.
            nn.init.xavier_normal_(self.weight, gain=1.414)

    def forward(self, vectors: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
        """Return the logits of links, float (n,).

        Args:
            vectors: float (nodes, dim).
            links: int64 (n, 3), source, relation and target.
        """
        score = self._score(vectors, links)
        return score.sigmoid() if self.squashed else score

    def _score(self, vectors: torch.Tensor, links: torch.Tensor) -> torch.Tensor:
        # The gradients of equal rows are added in one order; those of an index in that of the threads.
        source, target = F.embedding(links[:, 0], vectors), F.embedding(links[:, 2], vectors)
        if self.weight is None:
            return (source * target).sum(1)
        if self.kind == "distmult":
            return (source * F.embedding(self._places(links), self.weight) * target).sum(1)
        if len(self.place) == 1:
            return ((source @ self.weight[0]) * target).sum(1)
        place = self._places(links)
        score = source.new_zeros(len(links))
        for number in range(len(self.place)):
            rows = (place == number).nonzero().squeeze(1)
            found = ((source[rows] @ self.weight[number]) * target[rows]).sum(1)
            score = score.index_copy(0, rows, found)
        return score

    def _places(self, links: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(max(self.place) + 1, dtype=torch.int64, device=links.device)
        for relation, number in self.place.items():
            table[relation] = number
        return table[links[:, 1]]
