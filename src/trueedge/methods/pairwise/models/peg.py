"""The model of PEG: messages weighted by the distance between node positions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import nn

from trueedge.graph import Graph
from trueedge.training.links.inputs import Input, States
from trueedge.training.links.messages import Messages, csr
from trueedge.training.links.model import Encoder, LinkModel, MlpPredictor
from trueedge.training.links.objectives import PairObjective
from trueedge.training.links.schedule import Schedule

# Numbers gathered at a time to compute distances.
BLOCK = 1 << 24


class Positions(nn.Module):
    """Node positions in the training graph, and in the graph without each fold of its edges.

    Attributes:
        fold: which positions are used: 0 for the whole graph, i for the graph without fold i.
    """

    table: torch.Tensor

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.fold = 0
        self.register_buffer("table", table, persistent=False)
        self._lengths: WeakKeyDictionary[Messages, tuple[int, torch.Tensor]] = WeakKeyDictionary()

    def here(self) -> torch.Tensor:
        """Return the positions of all nodes, float (n, dim)."""
        return self.table[self.fold]

    def lengths(self, messages: Messages) -> torch.Tensor:
        """Return the squared distance between the ends of each arc, float (arcs,)."""
        fold, found = self._lengths.get(messages, (-1, self.table))
        if fold != self.fold:
            where = self.here()
            step = max(1, BLOCK // max(1, where.shape[1]))
            arcs = zip(messages.indices.split(step), messages.targets.split(step), strict=True)
            parts = [(where[source] - where[target]).square().sum(dim=1) for source, target in arcs]
            found = torch.cat(parts)
            self._lengths[messages] = (self.fold, found)
        return found


class PegLayer(nn.Module):
    """A graph convolution whose messages are weighted by an MLP of their distance."""

    def __init__(self, size: int, out: int, hidden: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, out, bias=False)
        self.bias = nn.Parameter(torch.zeros(out))
        self.weigh = self.weights_of(hidden)
        nn.init.xavier_uniform_(self.linear.weight)

    def weights_of(self, hidden: int) -> nn.Sequential:
        """Return the MLP from squared distances to weights."""
        return nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Sigmoid())

    def forward(self, states: Input, messages: Messages, lengths: torch.Tensor) -> torch.Tensor:
        """Return the new states, float (n, out)."""
        root = (messages.degrees + 1.0).rsqrt().unsqueeze(1)
        own = root * states.project(self.linear.weight)
        return root * self.weighted_sum(own, messages, lengths) + self.bias

    def weighted_sum(self, own: torch.Tensor, messages: Messages, lengths: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of the states of every node and its neighbours, float (n, out)."""
        # A node is at no distance from itself.
        weights = self.weigh(torch.cat([lengths, lengths.new_zeros(1)]).unsqueeze(1)).squeeze(1)
        return messages.weighted_sum(weights[:-1], own) + weights[-1] * own


class LinearPegLayer(PegLayer):
    """The layer without an activation in the MLP, so that a weight is sigmoid(slope * length + offset).

    The slope and the offset are still learned as those of two linear layers, as in the published code.
    """

    def weights_of(self, hidden: int) -> nn.Sequential:
        """Return the two linear layers from squared distances to weights, and the sigmoid."""
        return nn.Sequential(nn.Linear(1, hidden), nn.Linear(hidden, 1), nn.Sigmoid())

    def weighted_sum(self, own: torch.Tensor, messages: Messages, lengths: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of the states of every node and its neighbours, float (n, out)."""
        first, last = self.weigh[0], self.weigh[1]
        slope, offset = last.weight @ first.weight, last.weight @ first.bias + last.bias
        total: torch.Tensor = _SigmoidSum.apply(messages, lengths, slope.squeeze(), offset.squeeze(), own)
        return total + torch.sigmoid(offset) * own


class _SigmoidSum(torch.autograd.Function):
    """A product with a matrix of sigmoid(slope * length + offset) on the adjacency's arcs.

    The gradients of the slope and of the offset are products with a matrix too. A layer on ogbl-ddi takes
    0.25 s of one core, forward and backward; with an MLP and a gradient for each arc it takes 3.8 s.
    """

    @staticmethod
    def forward(
        ctx: Any,
        messages: Messages,
        lengths: torch.Tensor,
        slope: torch.Tensor,
        offset: torch.Tensor,
        states: torch.Tensor,
    ) -> torch.Tensor:
        weights = torch.sigmoid(slope * lengths + offset)
        ctx.messages = messages
        ctx.save_for_backward(lengths, weights, states)
        return csr(messages.indptr, messages.indices, weights, messages.num_nodes) @ states

    @staticmethod
    def backward(
        ctx: Any, *gradients: torch.Tensor
    ) -> tuple[None, None, torch.Tensor, torch.Tensor, torch.Tensor]:
        messages, (lengths, weights, states), gradient = ctx.messages, ctx.saved_tensors, gradients[0]

        def product(values: torch.Tensor) -> torch.Tensor:
            return csr(messages.indptr, messages.indices, values, messages.num_nodes) @ states

        change = weights * (1.0 - weights)
        of_slope, of_offset = ((gradient * product(one)).sum() for one in (change * lengths, change))
        indptr, indices, places = messages.transposed
        turned = csr(indptr, indices, weights[places], messages.num_nodes)
        return None, None, of_slope, of_offset, turned @ gradient


class PegEncoder(Encoder):
    """A stack of layers without activations, as published."""

    def __init__(
        self, positions: Positions, sizes: list[int], hidden: int, layer: type[PegLayer] = PegLayer
    ) -> None:
        super().__init__()
        self.positions = positions
        self.layers = nn.ModuleList(layer(*pair, hidden) for pair in pairwise(sizes))
        self.dim = sizes[-1]

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        lengths = self.positions.lengths(messages)
        states = inputs
        for layer in self.layers:
            states = States(layer(states, messages, lengths))
        assert isinstance(states, States)
        return states.values


class PegPredictor(nn.Module):
    """A weighted sum of the dot product of two states and the squared distance of two positions."""

    LEAST, MOST = 1e-5, 100.0

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, ends: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair, float (m,).

        Args:
            ends: float (m, 2, dim), the states of the ends.
            places: float (m, 2, d), their positions.
        """
        if self.training:
            with torch.no_grad():
                # As published, the weight of the dot product stays positive.
                self.linear.weight[0, 0].clamp_(self.LEAST, self.MOST)
        product = (ends[:, 0] * ends[:, 1]).sum(dim=1)
        distance = (places[:, 0] - places[:, 1]).square().sum(dim=1)
        weight, bias = self.linear.weight[0], self.linear.bias
        return weight[0] * product + weight[1] * distance + bias


class MlpPegPredictor(nn.Module):
    """A weighted sum of an MLP on the entrywise product of two states and the squared distance.

    Args:
        dim: the size of a state, and of the hidden layers.
        layers: the number of layers of the MLP.
        dropout: its dropout rate.
    """

    def __init__(self, dim: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.mlp = MlpPredictor(dim, dim, layers, dropout)
        self.linear = nn.Linear(2, 1)

    def forward(self, ends: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair, float (m,).

        Args:
            ends: float (m, 2, dim), the states of the ends.
            places: float (m, 2, d), their positions.
        """
        product = self.mlp(*ends.unbind(1))
        distance = (places[:, 0] - places[:, 1]).square().sum(dim=1)
        logits: torch.Tensor = self.linear(torch.stack([product, distance], dim=1))
        return logits.squeeze(1)


class PegModel(LinkModel):
    """PEG: states of weighted messages, and the distance between positions."""

    def __init__(self, inputs: Input, encoder: PegEncoder, predictor: PegPredictor | MlpPegPredictor) -> None:
        super().__init__(inputs, encoder, predictor)
        self.positions = encoder.positions

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair of nodes, float (m,)."""
        del messages
        places = self.positions.here()[pairs]
        logits: torch.Tensor = self.predictor(F.embedding(pairs, states), places)
        return logits


class FoldedObjective(PairObjective):
    """A pair objective with batches from one fold of the edges each."""

    def __init__(
        self, graph: Graph, messages: Messages, schedule: Schedule, folds: list[NDArray[np.int64]]
    ) -> None:
        super().__init__(graph, messages, schedule)
        self.folds = folds
        self.fold_of = np.empty(graph.num_edges, dtype=np.int64)
        for number, fold in enumerate(folds):
            self.fold_of[fold] = number

    def steps(self, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield batches of one fold each, in a random order."""
        size, steps = self.schedule.batch_size, []
        for fold in self.folds:
            order = rng.permutation(fold)
            steps += [order[start : start + size] for start in range(0, len(order), size)]
        for place in rng.permutation(len(steps)):
            yield steps[place]

    def backward(self, model: LinkModel, step: NDArray[np.int64], rng: np.random.Generator) -> torch.Tensor:
        """Score a batch with the positions computed without its fold."""
        assert isinstance(model, PegModel)
        model.positions.fold = 1 + int(self.fold_of[step[0]])
        try:
            return super().backward(model, step, rng)
        finally:
            model.positions.fold = 0
