"""Encoders of NCN: a linear map and weightless propagation, or graph convolutions."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.pairwise.models.feature_dropout import FeatureDropout
from trueedge.training.links.convolutions import GcnLayer
from trueedge.training.links.inputs import Input, LearnedInput, States
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder


class PropagationEncoder(Encoder):
    """A linear map, then rounds of propagation without weights; a learned mix of the rounds, or their sum.

    The encoder of Wang, Yang, Zhang: Neural Common Neighbor with Completion for Link Prediction, ICLR 2024.

    Args:
        dropout, input_dropout, tail_dropout: on the mapped input, the input, and the last round.
        normalised: normalise messages as in a GCN; else neighbours are summed.
        residual: residual connections instead of a learned mix of the rounds.
        mapped: whether there is a linear map; learned vectors need none.
    """

    def __init__(
        self,
        size: int,
        dim: int,
        layers: int,
        dropout: float,
        input_dropout: float = 0.0,
        tail_dropout: float = 0.0,
        normalised: bool = True,
        residual: bool = False,
        mapped: bool = True,
    ) -> None:
        super().__init__()
        self.input_dropout = FeatureDropout(input_dropout)
        self.linear = nn.Linear(size, dim) if mapped else None
        self.rounds, self.dropout, self.tail_dropout = layers, dropout, tail_dropout
        self.normalised = normalised
        self.mix = None if residual else nn.Parameter(torch.ones(layers))
        self.dim = dim if mapped else size

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        states = F.dropout(self._start(inputs), self.dropout, self.training)
        mixed = torch.zeros_like(states)
        for number in range(self.rounds):
            carried = self._carry(states, messages)
            if number + 1 == self.rounds:
                carried = F.dropout(carried, self.tail_dropout, self.training)
            states = states + carried if self.mix is None else carried
            if self.mix is not None:
                mixed = mixed + self.mix[number] * states
        return states if self.mix is None else mixed

    def _start(self, inputs: Input) -> torch.Tensor:
        if self.linear is not None:
            dropped: Input = self.input_dropout(inputs)
            return dropped.project(self.linear.weight, self.linear.bias)
        assert isinstance(inputs, LearnedInput)
        return inputs.vectors

    def _carry(self, states: torch.Tensor, messages: Messages) -> torch.Tensor:
        if not self.normalised:
            return messages.sum(states)
        root = (messages.degrees + 1.0).rsqrt().unsqueeze(1)
        own = root * states
        return root * (messages.sum(own) + own)


class NormalisedEncoder(Encoder):
    """Graph convolutions; all but the last are followed by normalisation, dropout and ReLU."""

    def __init__(
        self, size: int, dim: int, layers: int, dropout: float, input_dropout: float, residual: bool
    ) -> None:
        super().__init__()
        self.input_dropout = FeatureDropout(input_dropout)
        self.layers = nn.ModuleList(GcnLayer(size if n == 0 else dim, dim) for n in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(layers - 1))
        self.dropout, self.residual = dropout, residual
        self.dim = dim

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        states: torch.Tensor | None = None
        started: Input = self.input_dropout(inputs)
        for number, layer in enumerate(self.layers):
            found: torch.Tensor = layer(started if states is None else States(states), messages)
            if number < len(self.norms):
                found = F.relu(F.dropout(self.norms[number](found), self.dropout, self.training))
            states = found + states if self.residual and states is not None else found
        assert states is not None
        return states
