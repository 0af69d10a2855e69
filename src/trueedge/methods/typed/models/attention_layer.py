"""A layer of graph attention, with or without types of edges."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.typed.attention import attend
from trueedge.training.typed.attention_inputs import Logits
from trueedge.training.typed.inputs import Arcs


@dataclass(frozen=True)
class AttentionShape:
    """What the layers of a model have in common.

    Attributes:
        slope: of LeakyReLU for negative numbers.
        dropout: rate for the states that a layer receives.
        attention_dropout: rate for the attention.
        kinds: number of edge types; 0 leaves them out of the attention.
        edge_dim: size of the vectors of edge types.
        bias: add a bias.
        shared: one vector of each head gives the logits of both ends of an edge.
    """

    slope: float = 0.2
    dropout: float = 0.0
    attention_dropout: float = 0.0
    kinds: int = 0
    edge_dim: int = 64
    bias: bool = False
    shared: bool = False


class AttentionLayer(nn.Module):
    """Sums the values of neighbours with attention, in several heads.

    Lv et al., KDD 2021, Equations 7 to 12; Veličković et al., ICLR 2018, without edge types.

    Args:
        given: size of the states that the layer receives.
        dim: size of the values of a head.
        heads: number of heads.
        shape: what all layers have in common.
        residual: add a linear map of the layer's own input, or that itself if the sizes agree.
    """

    def __init__(self, given: int, dim: int, heads: int, shape: AttentionShape, residual: bool) -> None:
        super().__init__()
        self.dim, self.heads, self.shape = dim, heads, shape
        self.map = _linear(given, heads * dim)
        # A vector of each head, for sources and for targets, or one for both.
        ends = [_vectors(heads, dim) for _ in range(1 if shape.shared else 2)]
        self.vectors = nn.Parameter(torch.stack(ends, dim=2))
        self.residual: nn.Module | None = None
        if residual:
            self.residual = nn.Identity() if given == heads * dim == dim else _linear(given, heads * dim)
        self.bias = nn.Parameter(torch.zeros(heads * dim)) if shape.bias else None
        if shape.kinds:
            self.kinds = nn.Embedding(shape.kinds, shape.edge_dim)
            self.kind_map = _linear(shape.edge_dim, heads * shape.edge_dim)
            self.kind_vectors = nn.Parameter(_vectors(heads, shape.edge_dim))

    def forward(
        self, states: torch.Tensor, arcs: Arcs, previous: torch.Tensor | None = None, beta: float = 0.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the new states, float (n, heads, dim), and the attention, float (a, heads)."""
        states = F.dropout(states, self.shape.dropout, self.training)
        values = self.map(states)
        ends = self._logits(states, values)
        source, target = (ends, ends) if self.shape.shared else ends.chunk(2, dim=1)
        logits = Logits(source, target, self._kind_logits(), self.shape.slope)
        rate = self.shape.attention_dropout if self.training else 0.0
        found, attention = attend(values.view(-1, self.heads, self.dim), logits, arcs, rate, previous, beta)
        found = found.flatten(1)
        if self.residual is not None:
            found = found + self.residual(states)
        if self.bias is not None:
            found = found + self.bias
        return found.view(-1, self.heads, self.dim), attention

    def _logits(self, states: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the logits of sources, then of targets, float (n, 2 * heads), by one product.

        With shared vectors both are the same, float (n, heads).
        """
        own = torch.eye(self.heads, device=values.device, dtype=values.dtype)
        # Values of a head times the vectors of that head alone.
        vectors = torch.einsum("hds,hk->hdsk", self.vectors, own).reshape(self.heads * self.dim, -1)
        # From the smaller table of the two.
        return (
            states @ (self.map.weight.T @ vectors) if states.shape[1] < values.shape[1] else values @ vectors
        )

    def _kind_logits(self) -> torch.Tensor | None:
        """Return the logits of edge types, float (kinds, heads)."""
        if not self.shape.kinds:
            return None
        mapped = self.kind_map(self.kinds.weight).view(-1, self.heads, self.shape.edge_dim)
        return (mapped * self.kind_vectors).sum(2)


def _linear(given: int, size: int) -> nn.Linear:
    made = nn.Linear(given, size, bias=False)
    nn.init.xavier_normal_(made.weight, gain=sqrt(2))
    return made


def _vectors(heads: int, dim: int) -> torch.Tensor:
    # Initialised as the published layer is, whose vectors have a leading dimension of one.
    return nn.init.xavier_normal_(torch.empty(1, heads, dim), gain=sqrt(2))[0]
