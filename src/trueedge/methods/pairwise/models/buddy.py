"""The model of BUDDY: two small MLPs, on counts around a pair and on the product of two states."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.pairwise.models.sketches import CountedPairs
from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder, LinkModel


class PropagatedFeatures(Encoder):
    """Linear maps of the input, averaged over neighbours on the graph without the batch's edges."""

    def __init__(self, size: int, out: int, hops: int) -> None:
        super().__init__()
        # Without further hops a single average; with them, the input itself and each average.
        self.powers = list(range(hops + 1)) if hops else [1]
        self.maps = nn.ModuleList(nn.Linear(size, out) for _ in self.powers)
        self.dim = out * len(self.powers)

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the mapped averages, float (n, dim)."""
        root = (messages.degrees + 1.0).rsqrt().unsqueeze(1)
        parts = []
        for power, linear in zip(self.powers, self.maps, strict=True):
            mapped = inputs.project(linear.weight)
            for _ in range(power):
                own = root * mapped
                mapped = root * (messages.sum(own) + own)
            parts.append(mapped + linear.bias)
        return torch.cat(parts, dim=1)


class BuddyPredictor(nn.Module):
    """A logit from the counts around a pair and the states of its ends."""

    def __init__(
        self, counts: int, dim: int, parts: int, label_dropout: float, feature_dropout: float
    ) -> None:
        super().__init__()
        self.label_dropout, self.feature_dropout = label_dropout, feature_dropout
        self.of_counts = nn.Linear(counts, counts)
        self.norm_counts = nn.BatchNorm1d(counts)
        self.merge = nn.Linear(dim * parts, dim) if parts > 1 else None
        self.norm_parts = nn.BatchNorm1d(dim * parts) if parts > 1 else None
        self.of_product = nn.Linear(dim, dim)
        self.norm_product = nn.BatchNorm1d(dim)
        self.last = nn.Linear(counts + dim, 1)

    def forward(self, counts: torch.Tensor, turned: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair, float (m,).

        Args:
            counts: float (m, c), around the pairs.
            turned: float (m, c), around the pairs the other way round.
            ends: float (m, 2, parts * dim), the states of the ends.
        """
        both = torch.cat([counts, turned])
        label = F.relu(self.norm_counts(self.of_counts(both)))
        label = (label[: len(counts)] + label[len(counts) :]) / 2
        label = F.dropout(label, self.label_dropout, self.training)
        if self.merge is not None and self.norm_parts is not None:
            ends = F.relu(self.norm_parts(ends.flatten(0, 1)))
            ends = F.dropout(ends, self.feature_dropout, self.training)
            ends = self.merge(ends).unflatten(0, (-1, 2))
        product = F.relu(self.norm_product(self.of_product(ends[:, 0] * ends[:, 1])))
        product = F.dropout(product, self.feature_dropout, self.training)
        logits: torch.Tensor = self.last(torch.cat([label, product], dim=1))
        return logits.squeeze(1)


class BuddyModel(LinkModel):
    """States averaged over neighbours, and counts of the graph around each pair."""

    def __init__(
        self,
        inputs: Input,
        encoder: PropagatedFeatures,
        predictor: BuddyPredictor,
        counted: CountedPairs,
        one_hop: bool,
    ) -> None:
        super().__init__(inputs, encoder, predictor)
        self.counted = counted
        self.one_hop = one_hop

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair of nodes, float (m,)."""
        counts = self.counted(pairs, messages)
        if not self.one_hop and self.counted.hops > 1:
            hops = self.counted.hops
            counts[:, [hops * hops, hops * hops + hops]] = 0.0
        ends = F.embedding(pairs, states)
        logits: torch.Tensor = self.predictor(counts, self.counted.turned(counts), ends)
        return logits
