"""Relative encoding of a node with respect to a pair: an MLP on its PageRank from both ends."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

# Entries encoded at a time when pairs are scored; fixed, since rounding depends on the shape of a product.
BLOCK = 1 << 12


class RelativeEncoding(nn.Module):
    """rpe(p, q) + rpe(q, p), followed by a linear map into the keys, for one kind of node.

    The map after the hidden layer and the map into the keys are multiplied once per batch.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, dim)
        self.norm = nn.LayerNorm(dim)
        self.second = nn.Linear(dim, dim)

    def forward(self, ranks: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Return the encodings of PageRank values (k, 2), mapped by a weight (out, dim): float (k, out)."""
        joined = weight @ self.second.weight
        shift = 2.0 * (weight @ self.second.bias)
        if self.training:
            return self._encode(ranks, joined, shift)
        blocks = -(-len(ranks) // BLOCK)
        filled = F.pad(ranks, (0, 0, 0, blocks * BLOCK - len(ranks)))
        parts = [self._encode(block, joined, shift) for block in filled.split(BLOCK)]
        return torch.cat(parts)[: len(ranks)]

    def _encode(self, ranks: torch.Tensor, weight: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        hidden = [F.relu(self.norm(self.first(order))) for order in (ranks, ranks.flip(1))]
        return F.linear(hidden[0] + hidden[1], weight, shift)


class KindEncoding(nn.Module):
    """A learned vector for a kind of node, whatever its PageRank."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(1, dim))
        nn.init.xavier_uniform_(self.vector)

    def forward(self, ranks: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Return the vector, mapped by a weight (out, dim), for each of k nodes: float (k, out)."""
        return F.linear(self.vector, weight).expand(len(ranks), -1)
