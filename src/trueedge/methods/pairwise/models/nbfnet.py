"""The model of NBFNet: node states relative to a source, by generalised Bellman-Ford rounds."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.checkpoint import checkpoint

from trueedge.methods.pairwise.models.reach import Reach, Round
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import LinkModel

# Rows of a matrix product after training; fixed, since rounding depends on the shape.
ROWS = {"cpu": 1 << 12, "cuda": 1 << 15}
# Numbers in the messages of all rounds at a time; training takes about ten times their memory.
BLOCK = {"cpu": 1 << 25, "cuda": 1 << 27}
# Messages of one round if every node is reached from every source.
WORST = {"cpu": 1 << 25, "cuda": 1 << 28}


class BellmanFordLayer(nn.Module):
    """One round: messages from neighbours, multiplied by a learned vector, aggregated and mapped."""

    LEAST = 1e-6
    LEAST_SCALE = 1e-2

    def __init__(self, dim: int, aggregation: str, dropout: float) -> None:
        super().__init__()
        self.dim, self.aggregation, self.dropout = dim, aggregation, dropout
        self.relation = nn.Linear(dim, dim)
        self.linear = nn.Linear((13 if aggregation == "pna" else 2) * dim, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(
        self, states: torch.Tensor, query: torch.Tensor, step: Round, scales: torch.Tensor
    ) -> torch.Tensor:
        """Return the new states, float (rows, dim).

        Args:
            states: float (rows before, dim).
            query: float (dim,), the initial state of a source, which is also added to it in each round.
            step: who receives from whom.
            scales: float (n, 2), the degree scalers of PNA.
        """
        own = F.embedding(step.own, states)
        received = F.embedding(step.senders, states * self.relation(query))
        start = step.is_source.unsqueeze(1) * query
        weight, bias = self.linear.weight, self.linear.bias
        hidden = self._map(own, weight[:, : self.dim], bias)
        if self.aggregation == "sum":
            total = _reduce(received, "sum", step) + start
            hidden = hidden + self._map(total, weight[:, self.dim :], None)
        else:
            # Scaling after the map takes a third of the memory.
            parts = weight[:, self.dim :].unflatten(1, (3, -1)).transpose(0, 1).flatten(0, 1)
            plain, larger, smaller = self._map(self._statistics(received, start, step), parts, None).chunk(
                3, 1
            )
            up, down = scales[step.nodes].unsqueeze(2).unbind(1)
            hidden = hidden + plain + up * larger + down * smaller
        hidden = F.dropout(F.relu(self.norm(hidden)), self.dropout, self.training)
        return hidden + own

    def _statistics(self, received: torch.Tensor, start: torch.Tensor, step: Round) -> torch.Tensor:
        """Return mean, maximum, minimum and standard deviation of received messages, float (rows, 4 dim)."""
        count = (step.ends.diff() + 1.0).unsqueeze(1)
        mean = (_reduce(received, "sum", step) + start) / count
        square = (_reduce(received.square(), "sum", step) + start.square()) / count
        most = torch.maximum(_Extreme.apply(received, "max", step), start)
        least = torch.minimum(_Extreme.apply(received, "min", step), start)
        spread = (square - mean.square()).clamp(min=self.LEAST).sqrt()
        return torch.cat([mean, most, least, spread], dim=1)

    def _map(self, values: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        if self.training:
            return F.linear(values, weight, bias)
        rows = ROWS[values.device.type]
        padded = F.pad(values, (0, 0, 0, -len(values) % rows))
        return torch.cat([F.linear(block, weight, bias) for block in padded.split(rows)])[: len(values)]


class BellmanFord(nn.Module):
    """Node states relative to sources."""

    def __init__(self, layers: int, dim: int, aggregation: str, dropout: float) -> None:
        super().__init__()
        self.dim = dim
        self.query = nn.Parameter(torch.randn(dim))
        self.layers = nn.ModuleList(BellmanFordLayer(dim, aggregation, dropout) for _ in range(layers))

    def forward(self, messages: Messages, sources: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the state of each target relative to its source, float (m, dim).

        Each source is processed once for all of its targets.
        """
        nodes = messages.num_nodes
        asked, place = torch.unique(sources * nodes + targets, return_inverse=True)
        worst = WORST[asked.device.type] // (nodes + len(messages.indices))
        return F.embedding(place, self._in_parts(messages, asked, max(1, worst), whole=True))

    def _in_parts(self, messages: Messages, asked: torch.Tensor, most: int, whole: bool) -> torch.Tensor:
        """Process at most ``most`` sources at a time, as memory allows; parts are recomputed in training."""
        sources = torch.unique_consecutive(asked // messages.num_nodes)
        if len(sources) <= most:
            reach = Reach(messages, asked, len(self.layers))
            if len(sources) == 1 or reach.size * self.dim <= BLOCK[asked.device.type]:
                if whole or not self.training:
                    return self._seen(messages, reach)
                again: torch.Tensor = checkpoint(self._seen, messages, reach, use_reentrant=False)
                return again
        middle = int(torch.searchsorted(asked, sources[len(sources) // 2] * messages.num_nodes))
        halves = (asked[:middle], asked[middle:])
        return torch.cat([self._in_parts(messages, half, most, whole=False) for half in halves])

    def _seen(self, messages: Messages, reach: Reach) -> torch.Tensor:
        scales = pna_scales(messages, BellmanFordLayer.LEAST_SCALE)
        states = reach.first.unsqueeze(1) * self.query
        for layer, step in zip(self.layers, reach.rounds, strict=True):
            states = layer(states, self.query, step, scales)
        return F.embedding(reach.asked, states)


class NbfModel(LinkModel):
    """An MLP on the mean of two states: each end relative to the other."""

    # Numbers read by the MLP at a time; large, since a source is processed once per block.
    BLOCK = 1 << 23

    def __init__(self, encoder: BellmanFord) -> None:
        nn.Module.__init__(self)
        self.encoder = encoder
        size = 2 * encoder.dim
        self.pairs_at_a_time = max(64, self.BLOCK // size)
        self.predictor = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, 1))

    def encode(self, messages: Messages) -> torch.Tensor:
        """Return empty states: a node has no state without a source."""
        return torch.empty(messages.num_nodes, 0, device=messages.indices.device)

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair of nodes, float (m,)."""
        del states
        seen = self.encoder(messages, pairs.t().flatten(), pairs.flip(1).t().flatten())
        both = (seen[: len(pairs)] + seen[len(pairs) :]) / 2
        query = self.encoder.query.expand(len(pairs), -1)
        logits: torch.Tensor = self.predictor(torch.cat([both, query], dim=1))
        return logits.squeeze(1)


def pna_scales(messages: Messages, least: float) -> torch.Tensor:
    """Return the logarithm of each node's degree over its mean, and one over it: float (n, 2).

    Corso et al.: Principal Neighbourhood Aggregation for Graph Nets, NeurIPS 2020.
    """
    logs = torch.log1p(messages.degrees)
    scale = logs / logs.mean().clamp(min=1e-6)
    return torch.stack([scale, 1.0 / scale.clamp(min=least)], dim=1)


class _Extreme(torch.autograd.Function):
    """The entrywise maximum or minimum of received messages; ties share the gradient.

    The gradient of ``torch.segment_reduce`` is wrong for ties: each gets all of it if negative (torch 2.13).
    """

    @staticmethod
    def forward(ctx: Any, received: torch.Tensor, how: str, step: Round) -> torch.Tensor:
        found = _reduce(received, how, step)
        ctx.step = step
        ctx.save_for_backward(received, found)
        return found

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        received, found = ctx.saved_tensors
        ties = (received == found[ctx.step.rows]).to(received.dtype)
        shares = gradients[0] / _reduce(ties, "sum", ctx.step).clamp(min=1.0)
        return ties * shares[ctx.step.rows], None, None


def _reduce(received: torch.Tensor, how: str, step: Round) -> torch.Tensor:
    found: torch.Tensor = torch.segment_reduce(received, how, offsets=step.ends, axis=0, unsafe=True)
    return found
