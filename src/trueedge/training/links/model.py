"""Models: an input, an encoder of node states, and a predictor of pairs."""

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
    """Computes node states of size ``dim`` from the input and the graph."""

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
    """An MLP on the entrywise product of two states.

    Args:
        dim: the size of a state.
        hidden: the size of the hidden layers.
        layers: the number of layers.
        dropout: the dropout rate.
    """

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

    Args:
        inputs: the input of each node.
        encoder: makes the state of each node from the inputs of its neighbours.
        predictor: scores a pair by two states.

    Attributes:
        pairs_at_a_time: pairs scored at a time after training; None: chosen by the size of the states.
        decay_inputs: whether weight decay applies to learned node vectors, most of which get a gradient in
            few batches only.
    """

    pairs_at_a_time: int | None = None
    decay_inputs: bool = False

    def __init__(self, inputs: Input, encoder: Encoder, predictor: nn.Module) -> None:
        super().__init__()
        self.inputs = inputs
        self.encoder = encoder
        self.predictor = predictor

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return parameter groups for torch's optimisers, by weight decay."""
        # A PairModel has no input.
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
            messages: the graph of the states, without the edges of the training batch.
        """
        del messages
        # On the CPU the gradient of an embedding is summed in a fixed order, that of indexing is not.
        # That of a slice would write zeros for all other numbers first.
        left, right = F.embedding(pairs, states).unbind(1)
        logits: torch.Tensor = self.predictor(left, right)
        return logits

    def learned(
        self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages
    ) -> tuple[torch.Tensor, ...]:
        """Return the logits, float (m,) each, whose losses are added up in training."""
        return (self.score(states, pairs, messages),)


class PairModel(LinkModel):
    """Wraps a module from pairs (n, 2) to logits (n,)."""

    def __init__(self, module: nn.Module) -> None:
        nn.Module.__init__(self)
        self.predictor = module

    def encode(self, messages: Messages) -> torch.Tensor:
        """Return empty states, float (n, 0)."""
        return torch.empty(messages.num_nodes, 0, device=messages.indices.device)

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return the module's logits, float (m,)."""
        del states, messages
        logits: torch.Tensor = self.predictor(pairs)
        return logits.reshape(len(pairs))


def as_model(module: nn.Module) -> LinkModel:
    """Return a torch module as a model."""
    return module if isinstance(module, LinkModel) else PairModel(module)
