"""Neo-GNN: the score of a GNN, mixed with a score of the overlap of neighbourhoods."""

from __future__ import annotations

import weakref

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from trueedge.methods.pairwise.models.common_neighbors import table_sums
from trueedge.methods.pairwise.models.walk_overlap import WalkRows, walk_counts, walk_rows
from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder, LinkModel
from trueedge.training.links.pair_sets import common_neighbors

# Rows of the whole graph are cached up to this many walks.
KEPT_WALKS = 1 << 25


class StructureEncoder(Encoder):
    """Concatenates the states of a GNN with a learned weight of each node in an overlap.

    The weight of a node is ``f_node(sum over its edges of f_edge(1))`` (equations 5 and 6 of the paper).
    """

    def __init__(self, encoder: Encoder, edge_dim: int, node_dim: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.of_edges = small_perceptron(edge_dim)
        self.of_nodes = small_perceptron(node_dim)
        self.dim = encoder.dim + 1

    def forward(self, inputs: Input, messages: Messages) -> torch.Tensor:
        """Return the states of all nodes and their weights, float (n, dim)."""
        states = self.encoder(inputs, messages)
        # Every edge has the value 1, so each adds the same.
        edge = self.of_edges(torch.ones(1, 1, device=states.device))
        return torch.cat([states, self.of_nodes(messages.degrees.unsqueeze(1) * edge)], dim=1)


class MixedPredictor(nn.Module):
    """The two scores of a pair, and their mix."""

    def __init__(self, of_states: nn.Module, overlap_dim: int) -> None:
        super().__init__()
        self.of_states = of_states
        self.of_overlap = small_perceptron(overlap_dim)
        self.shares = nn.Parameter(torch.zeros(2))

    def forward(
        self, left: torch.Tensor, right: torch.Tensor, overlap: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the logits of the mix, of the overlap alone and of the states alone, float (m,) each.

        Args:
            left: float (m, d), the states of the first ends.
            right: float (m, d), those of the second.
            overlap: float (m,), of their neighbourhoods.
        """
        structure = self.of_overlap(overlap.unsqueeze(1)).squeeze(1).float()
        features = self.of_states(left, right).float()
        shares = F.log_softmax(self.shares, dim=0)
        return mixed_logits(shares, structure, features), structure, features


def mixed_logits(shares: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """Return the logit of a weighted mean of two probabilities, given by logits and log weights."""
    yes = torch.logaddexp(shares[0] + F.logsigmoid(first), shares[1] + F.logsigmoid(second))
    no = torch.logaddexp(shares[0] + F.logsigmoid(-first), shares[1] + F.logsigmoid(-second))
    return yes - no


def small_perceptron(dim: int) -> nn.Module:
    """Return an MLP from one number to one number."""
    return nn.Sequential(nn.Linear(1, dim), nn.ReLU(), nn.Linear(dim, 1))


class OverlapModel(LinkModel):
    """Neo-GNN.

    Yun et al.: Neo-GNNs: Neighborhood Overlap-aware Graph Neural Networks for Link Prediction, NeurIPS 2021.

    The overlap of two nodes is the product of their rows in ``A + beta A^2 + ...``, with each entry weighted
    by the square of its node's learned weight. Only the rows that are needed are computed.
    """

    # A multiple of the CPU's vector size, since the rounding of logarithms depends on the position.
    pairs_at_a_time = 1 << 12

    def __init__(self, inputs: Input, encoder: Encoder, predictor: nn.Module, hops: int, beta: float) -> None:
        super().__init__(inputs, encoder, predictor)
        self.weights = torch.tensor([beta**hop for hop in range(hops)], dtype=torch.float64)
        self._kept: tuple[weakref.ref[Messages], WalkRows] | None = None

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair, float (m,): that of the mix."""
        return self.learned(states, pairs, messages)[0]

    def learned(
        self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages
    ) -> tuple[torch.Tensor, ...]:
        """Return the mix and both single scores; the losses of all three are added up in training."""
        ends = F.embedding(pairs, states[:, :-1])
        overlap = self.overlap(states[:, -1:].float().square(), pairs, messages).squeeze(1)
        found: tuple[torch.Tensor, ...] = self.predictor(ends[:, 0], ends[:, 1], overlap)
        return found

    def overlap(self, weights: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return the overlaps of pairs under weights of nodes (n, 1), float (m, 1)."""
        if messages.is_dense:
            return table_sums(self.power_table(messages), pairs, weights)
        if len(self.weights) == 1:
            return common_neighbors(messages, pairs).sums(weights)
        sets, products = self.rows(pairs, messages).overlaps(pairs)
        return sets.sums(weights, products)

    def rows(self, pairs: torch.Tensor, messages: Messages) -> WalkRows:
        """Return the rows of the pairs' ends; after training, cached rows of all nodes if not too many."""
        if self.training:
            return walk_rows(messages, torch.unique(pairs), self.weights)
        if self._kept is not None and self._kept[0]() is messages:
            return self._kept[1]
        if float(walk_counts(messages, len(self.weights)).sum()) > KEPT_WALKS:
            return walk_rows(messages, torch.unique(pairs), self.weights)
        nodes = torch.arange(messages.num_nodes, device=pairs.device)
        self._kept = (weakref.ref(messages), walk_rows(messages, nodes, self.weights))
        return self._kept[1]

    def power_table(self, messages: Messages) -> torch.Tensor:
        """Return the weighted powers of a dense graph: for one hop its table, else float (n, n)."""
        links = messages.table
        if len(self.weights) == 1:
            return links
        power = one = links[:, : len(links)].float()
        total = one.clone()
        for weight in self.weights.tolist()[1:]:
            power = power @ one
            total += weight * power
        return total
