"""Neural Common Neighbor with completion: neighbours of one end count by their missing edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.utils.checkpoint import checkpoint

from trueedge.methods.pairwise.models.common_neighbors import CommonNeighborModel, product_of_ends
from trueedge.training.links.inputs import Input
from trueedge.training.links.messages import Messages
from trueedge.training.links.model import Encoder
from trueedge.training.links.pair_sets import BOTH, FIRST, NodeSets, joint_neighbors, runs

# The CPU is as fast with small blocks, and pads less.
CPU_BLOCK = 1 << 11


@dataclass(frozen=True)
class Completion:
    """How a missing edge counts.

    Its logit x becomes ``p = sigmoid(scale (x - offset))``, and that ``weight prior p / (prior p + 1 - p)``.
    With the values here that is the probability itself.

    Attributes:
        block: edges scored at a time; bounds the memory.
        with_gradient: backpropagate through the probabilities.
    """

    block: int
    with_gradient: bool = False
    scale: float = 1.0
    offset: float = 0.0
    prior: float = 1.0
    weight: float = 1.0

    def weigh(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the weights of edges with some logits."""
        likely = torch.sigmoid(self.scale * (logits - self.offset))
        return self.weight * self.prior * likely / (self.prior * likely + 1.0 - likely)


@dataclass(frozen=True)
class Around:
    """The neighbours of pairs.

    Attributes:
        sets: the neighbours of either end.
        places: int64 (k,), the positions of neighbours of one end only.
        missing: int64 (k, 2), the missing edge of each of these.
    """

    sets: NodeSets
    places: torch.Tensor
    missing: torch.Tensor


class CompletedModel(CommonNeighborModel):
    """Neural Common Neighbor with completion.

    The block bounds the memory: pairs are processed in runs whose neighbourhoods have at most that many
    entries (or one pair at a time), as are missing edges. With gradients, a run is computed again in the
    backward pass, unless there is only one.

    Wang, Yang, Zhang: Neural Common Neighbor with Completion for Link Prediction, ICLR 2024.
    """

    pairs_at_a_time = 1 << 12

    def __init__(self, inputs: Input, encoder: Encoder, predictor: nn.Module, completion: Completion) -> None:
        super().__init__(inputs, encoder, predictor)
        self.completion = completion

    def score(self, states: torch.Tensor, pairs: torch.Tensor, messages: Messages) -> torch.Tensor:
        """Return a logit for each pair, float (m,)."""
        ends, others = states.chunk(2, dim=1)
        degrees = messages.indptr.diff()[pairs].sum(dim=1)
        parts = list(runs(degrees, self.completion.block))
        again = len(parts) > 1 and torch.is_grad_enabled() and states.requires_grad
        sums = []
        for part in parts:
            asked: Any = (ends, others, pairs[part], messages)
            if not again:
                sums.append(self.completed_sums(*asked))
                continue
            # The most expensive part is not computed again if it has no gradient.
            known = not self.completion.with_gradient
            around = self.around(pairs[part], messages) if known else None
            counts = None if around is None else self.counts(ends, others, messages, around)
            sums.append(checkpoint(self.completed_sums, *asked, counts, use_reentrant=False))
        logits: torch.Tensor = self.predictor(product_of_ends(ends, pairs), torch.cat(sums))
        return logits

    def completed_sums(
        self,
        ends: torch.Tensor,
        others: torch.Tensor,
        pairs: torch.Tensor,
        messages: Messages,
        counts: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the sum over neighbours, those of one end weighted by their missing edge, float (m, d).

        Args:
            ends: float (n, d), the states of nodes as ends.
            others: float (n, d), their states as neighbours.
            pairs: int (m, 2).
            messages: the message graph.
            counts: the weights of the missing edges, if known.
        """
        around = self.around(pairs, messages)
        if counts is None:
            counts = self.counts(ends, others, messages, around)
        weights = torch.ones(len(around.sets.nodes), device=others.device).index_put((around.places,), counts)
        return around.sets.sums(others, weights)

    @staticmethod
    def around(pairs: torch.Tensor, messages: Messages) -> Around:
        """Return the neighbours of pairs, and their missing edges."""
        sets, sides = joint_neighbors(messages, pairs)
        places = torch.nonzero(sides != BOTH).squeeze(1)
        other_end = torch.where(sides[places] == FIRST, 1, 0)
        missing = torch.stack([sets.nodes[places], pairs[sets.rows[places], other_end]], dim=1)
        return Around(sets, places, missing)

    def counts(
        self, ends: torch.Tensor, others: torch.Tensor, messages: Messages, around: Around
    ) -> torch.Tensor:
        """Return the weights of the missing edges around pairs, float (k,)."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.completion.with_gradient):
            return self.weigh_missing(ends, others, around.missing, messages)

    def weigh_missing(
        self, ends: torch.Tensor, others: torch.Tensor, missing: torch.Tensor, messages: Messages
    ) -> torch.Tensor:
        """Return the weights of missing edges (k, 2) by their common neighbours, in blocks: float (k,)."""
        block = self.completion.block
        if not self.training and missing.device.type == "cpu":
            block = min(block, CPU_BLOCK)
        again = len(missing) > block and torch.is_grad_enabled()
        counts = []
        for start in range(0, len(missing), block):
            asked = missing[start : start + block]
            count = len(asked)
            if not self.training:
                # Full blocks, since rounding depends on shape and position.
                asked = F.pad(asked, (0, 0, 0, block - count))
            given: Any = (ends, others, asked, messages)
            found = (
                checkpoint(self.score_with, *given, use_reentrant=False) if again else self.score_with(*given)
            )
            counts.append(self.completion.weigh(found.float())[:count])
        return torch.cat(counts) if counts else ends.new_zeros(0)
