"""Neural Common Neighbor: the states of both ends, and the summed states of common neighbours."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.dense import ready, times
from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder, LinkModel
from trueedge.training.links.pair_sets import common_neighbors

# The largest number of entries of the rows processed at a time.
DENSE_BLOCK = 1 << 27


class CommonNeighborPredictor(nn.Module):
    """An MLP on the product of two states and the sum of others.

    Args:
        dim: the size of a state.
        layers: the number of layers on the sum of both.
        dropout: the dropout rate.
        linear_tail: whether both pass one more linear layer before they are added.
    """

    def __init__(self, dim: int, layers: int, dropout: float, linear_tail: bool = False) -> None:
        super().__init__()
        # Sums have different numbers of terms, so they are normalised.
        self.sums = nn.Sequential(
            nn.Linear(dim, dim), nn.Dropout(dropout), nn.ReLU(), *hidden_layer(dim, dropout)
        )
        self.products = nn.Sequential(*hidden_layer(dim, dropout))
        if linear_tail:
            self.sums.append(nn.Linear(dim, dim))
            self.products.append(nn.Linear(dim, dim))
        last = [part for _ in range(layers - 1) for part in hidden_layer(dim, dropout)]
        self.last = nn.Sequential(*last, nn.Linear(dim, 1))
        self.share = nn.Parameter(torch.ones(1))

    def forward(self, products: torch.Tensor, sums: torch.Tensor) -> torch.Tensor:
        """Return logits, float (m,), from products of both ends and sums of common neighbours, (m, dim)."""
        logits: torch.Tensor = self.last(self.sums(sums) * self.share + self.products(products))
        return logits.squeeze(1)


def hidden_layer(dim: int, dropout: float) -> list[nn.Module]:
    """Return a linear layer with normalisation, dropout and ReLU."""
    return [nn.Linear(dim, dim), nn.LayerNorm(dim), nn.Dropout(dropout), nn.ReLU()]


class WithNeighborStates(Encoder):
    """Concatenates an encoder's states with states of nodes as neighbours: the state plus a map of it."""

    def __init__(self, encoder: Encoder, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        dim = encoder.dim
        first = [nn.Linear(dim, dim), nn.Dropout(dropout), nn.ReLU()]
        self.mapped = nn.Sequential(*first, *hidden_layer(dim, dropout))
        self.dim = 2 * dim

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes as ends and as neighbours, float (n, 2 dim)."""
        states = self.encoder(inputs, messages)
        return torch.cat([states, states + self.mapped(states)], dim=1)


class CommonNeighborModel(LinkModel):
    """Neural Common Neighbor.

    Wang, Yang, Zhang: Neural Common Neighbor with Completion for Link Prediction, ICLR 2024.
    """

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair, float (m,)."""
        ends, others = states.chunk(2, dim=1)
        return self.score_with(ends, others, pairs, messages)

    def score_with(
        self, ends: torch.Tensor, others: torch.Tensor, pairs: torch.Tensor, messages: Messages
    ) -> torch.Tensor:
        """Return logits from the states of nodes as ends and as neighbours, float (n, d) each."""
        sums = common_neighbor_sums(messages, pairs, others)
        logits: torch.Tensor = self.predictor(product_of_ends(ends, pairs), sums)
        return logits


def product_of_ends(states: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
    """Return the entrywise product of the states of two ends, float (m, d)."""
    # An embedding's gradient adds up in a fixed order on the CPU, that of an index does not.
    return F.embedding(pairs[:, 0], states) * F.embedding(pairs[:, 1], states)


def common_neighbor_sums(messages: Messages, pairs: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Return the sum of the states of the common neighbours of each pair, float (m, d)."""
    if messages.is_dense:
        return table_sums(messages.table, pairs, states)
    return common_neighbors(messages, pairs).sums(states)


def table_sums(values: torch.Tensor, pairs: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Return the sum of all states, weighted by the products of two rows of a table for each pair, (m, d).

    Args:
        values: the table of some messages, or a float32 one (n, n).
        pairs: int (m, 2).
        states: float (n, d).
    """
    if len(pairs) == 0:
        return states.new_zeros(0, states.shape[1])
    count = -(-len(pairs) // max(1, DENSE_BLOCK // len(values)))
    size = -(-len(pairs) // count)
    # Blocks of one size, the last one padded, since rounding depends on the shape of a matrix product.
    filled = F.pad(pairs, (0, 0, 0, count * size - len(pairs)))
    padded = F.pad(states, (0, 0, 0, values.shape[1] - len(states)))
    total: torch.Tensor = _DenseSums.apply(padded.float(), filled, values, size)
    return total[: len(pairs)]


class _DenseSums(torch.autograd.Function):
    """Blocks of rows of common neighbours times the states; the rows are made again for the gradient."""

    @staticmethod
    def forward(
        ctx: Any, states: torch.Tensor, pairs: torch.Tensor, values: torch.Tensor, size: int
    ) -> torch.Tensor:
        ctx.given = pairs, values, size
        parts = ready(states, values)
        return torch.cat([times(_products(values, block), parts) for block in pairs.split(size)])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        (pairs, values, size), gradient = ctx.given, gradients[0]
        found = gradient.new_zeros(values.shape[1], gradient.shape[1])
        for block, part in zip(pairs.split(size), gradient.split(size), strict=True):
            found += times(_products(values, block).t(), ready(part, values))
        return found, None, None, None


def _products(values: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
    """Return the products of the rows of both ends (m, w): ones at common neighbours."""
    if values.dtype != torch.bfloat16:
        return values.index_select(0, pairs[:, 0]) * values.index_select(0, pairs[:, 1])
    # Of ones and zeros the product is that of their bits.
    bits = values.view(torch.int16)
    return (bits.index_select(0, pairs[:, 0]) & bits.index_select(0, pairs[:, 1])).view(torch.bfloat16)
