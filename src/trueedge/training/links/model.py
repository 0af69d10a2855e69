"""What is trained: an input, an encoder that makes states of nodes of it, a predictor of pairs of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages


class Encoder(nn.Module, ABC):
    """States of nodes from their input and the graph. A subclass has :meth:`forward`, and ``dim``.

    Attributes:
        dim: how many numbers a state has.
    """

    dim: int

    @abstractmethod
    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim).

        Args:
            inputs: the nodes' input; ``inputs.project(weight, bias)`` is a linear map of it.
            messages: the graph; ``messages.sum(states)`` adds up the neighbours' states.
        """


class DotPredictor(nn.Module):
    """The dot product of two states."""

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair of states, float (n,)."""
        return (left * right).sum(dim=-1)


class MlpPredictor(nn.Module):
    """A perceptron on the entrywise product of two states."""

    def __init__(self, dim: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [dim, *[hidden] * (layers - 1), 1]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(sizes))
        self.dropout = dropout

    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair of states, float (n,)."""
        states = left * right
        for layer in self.layers[:-1]:
            states = F.dropout(F.relu(layer(states)), self.dropout, self.training)
        logits: torch.Tensor = self.layers[-1](states)
        return logits.squeeze(-1)


class LinkModel(nn.Module):
    """Scores pairs of nodes of a graph.

    Attributes:
        pairs_at_a_time: how many pairs are scored at a time after training; None: as many as their states
            allow.
        decay_inputs: whether weight decay applies to learned vectors of nodes too. Most of them get a
            gradient in few batches only, and would die out in between.
    """

    pairs_at_a_time: int | None = None
    decay_inputs: bool = False

    def __init__(self, inputs: Input, encoder: Encoder, predictor: nn.Module) -> None:
        super().__init__()
        self.inputs = inputs
        self.encoder = encoder
        self.predictor = predictor

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the weights in groups of one weight decay each, as torch's optimisers take them."""
        # Models of pairs alone have no inputs.
        vectors = list(self.inputs.parameters()) if hasattr(self, "inputs") else []
        if self.decay_inputs or not vectors:
            return [{"params": list(self.parameters())}]
        others = [p for p in self.parameters() if all(p is not vector for vector in vectors)]
        return [{"params": others}, {"params": vectors, "weight_decay": 0.0}]

    def encode(self, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, d)."""
        states: torch.Tensor = self.encoder(self.inputs, messages)
        return states

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair of nodes, float (m,).

        Args:
            states: float (n, d), from :meth:`encode`.
            pairs: int64 (m, 2).
            messages: the graph the states were made on; what is read off around a pair is read off this one,
                from which a training batch's own edges have been taken out.
        """
        del messages
        # An embedding's gradient adds up in a fixed order on the CPU, that of an index does not.
        ends = F.embedding(pairs, states)
        logits: torch.Tensor = self.predictor(ends[:, 0], ends[:, 1])
        return logits

    def learned(
        self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages
    ) -> tuple[torch.Tensor, ...]:
        """The logits, float (m,) each, whose losses are added up in training: those of :meth:`score`."""
        return (self.score(states, pairs, messages),)


class PairModel(LinkModel):
    """Any module from pairs (n, 2) to logits (n,), which needs neither input nor messages."""

    def __init__(self, module: nn.Module) -> None:
        nn.Module.__init__(self)
        self.predictor = module

    def encode(self, messages: Messages) -> torch.Tensor:
        """Nothing: a state of no numbers for each node."""
        return torch.empty(messages.num_nodes, 0, device=messages.indices.device)

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return what the module says."""
        del states, messages
        logits: torch.Tensor = self.predictor(pairs)
        return logits.reshape(len(pairs))


def as_model(module: nn.Module) -> LinkModel:
    """Return a model of any torch module."""
    return module if isinstance(module, LinkModel) else PairModel(module)
