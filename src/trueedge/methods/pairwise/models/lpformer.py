"""LPFormer: a pair attends to the nodes that PageRank finds near it.

Shomer et al.: LPFormer: An Adaptive Graph Transformer for Link Prediction, KDD 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.pairwise.models.attention import attention_logits, softmax, weighted_sum
from trueedge.methods.pairwise.models.chosen_nodes import Chosen, Thresholds, choose
from trueedge.methods.pairwise.models.feature_dropout import FeatureDropout
from trueedge.methods.pairwise.models.near_ranks import NearRanks
from trueedge.methods.pairwise.models.node_attention import Pattern, node_logits, node_sum
from trueedge.methods.pairwise.models.relative_encoding import KindEncoding, RelativeEncoding
from trueedge.training.links.convolutions import GcnLayer
from trueedge.training.links.inputs import Input, States
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder, LinkModel

KINDS = 3


@dataclass(frozen=True)
class Ranking:
    """How nodes are chosen by PageRank.

    Attributes:
        alpha: the teleport probability.
        eps: the error bound per unit of degree.
        mask: remove a hidden pair's own edge from it.
        dropout: the share of chosen nodes dropped in training.
    """

    thresholds: Thresholds
    alpha: float = 0.15
    eps: float = 1e-7
    mask: bool = True
    dropout: float = 0.0


class NormedEncoder(Encoder):
    """Graph convolutions, each followed by normalisation, dropout and ReLU."""

    def __init__(
        self,
        sizes: list[int],
        dropout: float,
        feature_dropout: float,
        norm: bool = True,
        relu: bool = True,
        residual: bool = False,
    ) -> None:
        super().__init__()
        self.start = FeatureDropout(feature_dropout)
        self.layers = nn.ModuleList(GcnLayer(*pair) for pair in pairwise(sizes))
        self.norms = nn.ModuleList(nn.LayerNorm(size) if norm else nn.Identity() for size in sizes[1:])
        self.last = nn.LayerNorm(sizes[-1])
        self.dropout, self.relu, self.residual = dropout, relu, residual
        self.dim = sizes[-1]

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        states: Input = self.start(inputs)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            found = F.dropout(norm(layer(states, messages)), self.dropout, self.training)
            found = F.relu(found) if self.relu else found
            if self.residual and isinstance(states, States) and states.dim == found.shape[1]:
                found = found + states.values
            states = States(found)
        assert isinstance(states, States)
        normed: torch.Tensor = self.last(states.values)
        return normed


class AttentionLayer(nn.Module):
    """Attention of a pair to its chosen nodes; key and value are the same map of [h_u ‖ rpe]."""

    def __init__(self, dim: int, heads: int, query: int, dropout: float, ablation: str) -> None:
        super().__init__()
        out = heads * dim
        self.of_query = nn.Linear(query, out)
        self.of_states = nn.Linear(dim, out)
        self.of_place = nn.Linear(dim, out, bias=False)
        self.vector = nn.Parameter(torch.empty(heads, dim))
        self.bias = nn.Parameter(torch.zeros(out))
        self.norm = nn.LayerNorm(out)
        self.dropout, self.ablation = dropout, ablation
        # Initialised like one map of both halves.
        bound = (6.0 / (2 * dim + out)) ** 0.5
        for weight in (self.of_states.weight, self.of_place.weight):
            nn.init.uniform_(weight, -bound, bound)
        nn.init.xavier_uniform_(self.of_query.weight)
        nn.init.xavier_uniform_(self.vector)
        for bias in (self.of_query.bias, self.of_states.bias):
            nn.init.zeros_(bias)

    def forward(
        self, query: torch.Tensor, states: torch.Tensor, chosen: list[Chosen], encodings: nn.ModuleList
    ) -> torch.Tensor:
        """Return the attention output of each pair, float (pairs, heads * dim).

        Args:
            query: float (pairs, heads * dim), from :meth:`ask`.
            states: float (n, dim).
            chosen: the nodes, by kind.
            encodings: the relative encoding of each kind.
        """
        mapped = self.of_states(states).float()
        entries = [self._entries(one, mapped, encodings[one.kind]) for one in chosen]
        if self.ablation == "no-learnable-attention":
            weights = [torch.ones(len(one.nodes), len(self.vector), device=query.device) for one in chosen]
        else:
            asking = torch.ones_like(query) if self.ablation == "no-features-in-attention" else query
            logits = [one.logits(asking, self.vector) for one in entries]
            weights = softmax(logits, [one.segments for one in chosen])
        total = self.bias.expand(len(query), -1)
        for one, weight in zip(entries, weights, strict=True):
            total = total + one.sum(weight)
        return F.dropout(self.norm(total), self.dropout, self.training)

    def ask(self, *asking: torch.Tensor) -> torch.Tensor:
        """Return the sum of the queries of some states, float (pairs, heads * dim)."""
        query = self.of_query(asking[0])
        for one in asking[1:]:
            query = query + self.of_query(one)
        return query.float()

    def _entries(self, chosen: Chosen, mapped: torch.Tensor, encoding: nn.Module) -> Entries:
        """Return keys and values: a row for each entry, or for each node where no entry has any PageRank."""
        near = mapped if chosen.unreached else F.embedding(chosen.nodes, mapped)
        if self.ablation == "no-learnable-attention":
            return Entries(chosen, near, near)
        ranks = mapped.new_zeros(1, 2) if chosen.unreached else chosen.ranks
        place = encoding(ranks, self.of_place.weight).float()
        values = near + place
        keys = values
        if self.ablation == "no-features-in-attention":
            keys = place.expand_as(near)
        elif self.ablation == "no-rpe-in-attention":
            keys = near
        return Entries(chosen, keys, values)


@dataclass(frozen=True, eq=False)
class Entries:
    """Chosen nodes of one kind with keys and values, float (k, heads * dim), or (n, ...) if unreached."""

    chosen: Chosen
    keys: torch.Tensor
    values: torch.Tensor

    @cached_property
    def pattern(self) -> Pattern:
        """Which pairs have which nodes."""
        return Pattern(self.chosen.segments, self.chosen.nodes, len(self.keys))

    def logits(self, queries: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        """Return the logits, float (k, heads)."""
        if self.chosen.unreached:
            return node_logits(self.keys, queries, vector, self.pattern)
        return attention_logits(self.keys, queries, vector, self.chosen.segments)

    def sum(self, weights: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum over each pair's nodes, float (pairs, heads * dim)."""
        if self.chosen.unreached:
            return node_sum(weights, self.values, self.pattern)
        return weighted_sum(weights, self.values, self.chosen.segments)


class PairHead(nn.Module):
    """The logit of a pair, from the product of its states, the attention output, and counts of nodes.

    In the published code, the product and the rest each go through an MLP first; in the thesis they are
    concatenated directly (equation 3.11).
    """

    def __init__(self, dim: int, pairwise_dim: int, layers: int, dropout: float, plain: bool = False) -> None:
        super().__init__()
        self.of_product = None if plain else _perceptron(dim, dim, dim)
        self.of_pair = None if plain else _perceptron(pairwise_dim, pairwise_dim, dim)
        size = dim + pairwise_dim if plain else 2 * dim
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise([*[size] * layers, 1]))
        self.dropout = dropout

    def forward(self, product: torch.Tensor, pair: torch.Tensor) -> torch.Tensor:
        """Return a logit for each pair, float (pairs,)."""
        if self.of_product is not None and self.of_pair is not None:
            product, pair = self.of_product(product), self.of_pair(pair)
        states = torch.cat([product, pair], dim=1)
        for layer in self.layers[:-1]:
            states = F.dropout(F.relu(layer(states)), self.dropout, self.training)
        logits: torch.Tensor = self.layers[-1](states)
        return logits.squeeze(1)


class LPFormerModel(LinkModel):
    """Encoder, attention, head."""

    def __init__(
        self,
        inputs: Input,
        encoder: NormedEncoder,
        ranking: Ranking,
        layers: int,
        heads: int,
        dropout: float,
        predictor_layers: int,
        predictor_dropout: float,
        ablation: str = "",
        plain_head: bool = False,
        mask_input: bool = True,
    ) -> None:
        dim, counts = encoder.dim, 0 if ablation == "no-counts" else len(ranking.thresholds.active)
        head = PairHead(dim, heads * dim + counts, predictor_layers, predictor_dropout, plain_head)
        super().__init__(inputs, encoder, head)
        kind = KindEncoding if ablation == "no-ppr-rpe" else RelativeEncoding
        if ablation == "no-ppr-rpe-by-node-type":
            self.encodings = nn.ModuleList([kind(dim)] * KINDS)
        else:
            self.encodings = nn.ModuleList(kind(dim) for _ in range(KINDS))
        sizes = [dim, *[heads * dim] * (layers - 1)]
        self.attention = nn.ModuleList(AttentionLayer(dim, heads, size, dropout, ablation) for size in sizes)
        self.ranking, self.counts, self.mask_input = ranking, counts, mask_input
        # Of the training graph, and of the last other graph.
        self._ranks: list[NearRanks] = []

    def encode(self, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes, float (n, dim)."""
        return super().encode(messages if self.mask_input else messages.whole)

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair of nodes, float (m,)."""
        # Sorted, so that both directions of a pair have equal sums.
        pairs = pairs.sort(dim=1).values
        chosen = self.chosen(pairs, messages)
        ends = F.embedding(pairs, states)
        left, right = ends[:, 0], ends[:, 1]
        first = self.attention[0]
        found = first(first.ask(left, right), states, chosen, self.encodings)
        for layer in self.attention[1:]:
            found = layer(layer.ask(found), states, chosen, self.encodings)
        if self.counts:
            found = torch.cat([found, self.count(chosen, len(pairs), found)], dim=1)
        logits: torch.Tensor = self.predictor(left * right, found)
        return logits

    def chosen(self, pairs: torch.Tensor, messages: Messages) -> list[Chosen]:
        """Return the nodes that pairs attend to."""
        ranking = self.ranking
        dropout = ranking.dropout if self.training else 0.0
        ranks = self.ranks(messages.whole)
        return choose(pairs, messages, ranks, ranking.thresholds, dropout, ranking.mask)

    def count(self, chosen: list[Chosen], pairs: int, like: torch.Tensor) -> torch.Tensor:
        """Return how many nodes of each kind that is looked for were chosen, float (pairs, kinds)."""
        counts = like.new_zeros(KINDS, pairs)
        for one in chosen:
            counts[one.kind] += one.segments.indptr.diff()
        return counts[self.ranking.thresholds.active].t()

    def ranks(self, whole: Messages) -> NearRanks:
        """Return the PageRank of a graph, computed once."""
        for known in self._ranks:
            if known.whole is whole:
                return known
        ranking = self.ranking
        found = NearRanks.of(whole, ranking.alpha, ranking.eps, ranking.thresholds.least())
        self._ranks = [*self._ranks[:1], found]
        return found


def _perceptron(size: int, hidden: int, out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Linear(hidden, out))
