"""Message passing layers.

Each applies its linear map before the sum over neighbours, which gives the same result and is faster for
sparse features and small outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.inputs import Input, States
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder

Layer = Callable[[int, int], nn.Module]


class LinearLayer(nn.Module):
    """A linear map of a node's own input, without messages."""

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, out)

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the mapped states, float (n, out)."""
        del messages
        return states.project(self.linear.weight, self.linear.bias)


class GcnLayer(nn.Module):
    """The mean of a node and its neighbours, weighted by the roots of both degrees.

    Kipf, Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, out, bias=False)
        self.bias = nn.Parameter(torch.zeros(out))
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        root = (messages.degrees + 1.0).rsqrt().unsqueeze(1)
        own = root * states.project(self.linear.weight)
        return root * (messages.sum(own) + own) + self.bias


class SageLayer(nn.Module):
    """Linear maps of the node itself and of the mean of its neighbours, added.

    Hamilton, Ying, Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.neighbors = nn.Linear(size, out)
        self.own = nn.Linear(size, out, bias=False)

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        # The bias is not averaged: nodes without neighbours have it too.
        mapped = states.project(self.neighbors.weight)
        mean = messages.sum(mapped) / messages.degrees.clamp(min=1.0).unsqueeze(1)
        return mean + self.neighbors.bias + states.project(self.own.weight)


class GinLayer(nn.Module):
    """An MLP on the sum of a node and its neighbours.

    Xu, Hu, Leskovec, Jegelka: How Powerful are Graph Neural Networks?, ICLR 2019.
    """

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.first = nn.Linear(size, out)
        self.second = nn.Linear(out, out)

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        own = states.project(self.first.weight)
        hidden: torch.Tensor = F.relu(own + messages.sum(own) + self.first.bias)
        mapped: torch.Tensor = self.second(hidden)
        return mapped


class GatLayer(nn.Module):
    """A mean of a node and its neighbours with learned weights, in one head.

    Veličković et al.: Graph Attention Networks, ICLR 2018.
    """

    SLOPE = 0.2

    def __init__(self, size: int, out: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, out, bias=False)
        self.from_source = nn.Parameter(torch.empty(out, 1))
        self.from_target = nn.Parameter(torch.empty(out, 1))
        self.bias = nn.Parameter(torch.zeros(out))
        for weight in (self.linear.weight, self.from_source, self.from_target):
            nn.init.xavier_uniform_(weight)

    def forward(self, states: Input, messages: Messages) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        mapped = states.project(self.linear.weight)
        source, target = (mapped @ self.from_source).squeeze(1), (mapped @ self.from_target).squeeze(1)
        targets, indices = messages.targets, messages.indices
        # By an embedding, whose gradient is summed in a fixed order.
        ends = F.embedding(indices, source.unsqueeze(1)) + F.embedding(targets, target.unsqueeze(1))
        logits = F.leaky_relu(ends.squeeze(1), self.SLOPE)
        own = F.leaky_relu(source + target, self.SLOPE)
        with torch.no_grad():
            top = own.scatter_reduce(0, targets, logits, "amax")
        weights = torch.exp(logits - top[targets])
        own = torch.exp(own - top)
        ones = torch.ones(len(own), 1, dtype=own.dtype, device=own.device)
        total = messages.weighted_sum(weights, ones).squeeze(1) + own
        summed = messages.weighted_sum(weights, mapped) + own.unsqueeze(1) * mapped
        return summed / total.unsqueeze(1) + self.bias


class StackedEncoder(Encoder):
    """A stack of layers with ReLU and dropout between them."""

    def __init__(self, layer: Layer, sizes: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layer(*pair) for pair in pairwise(sizes))
        self.dropout = dropout
        self.dim = sizes[-1]

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        states = inputs
        for layer in self.layers[:-1]:
            hidden = F.relu(layer(states, messages.far))
            states = States(F.dropout(hidden, self.dropout, self.training))
        last: torch.Tensor = self.layers[-1](states, messages)
        return last
