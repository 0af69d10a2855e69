"""Neural Common Neighbor with completion: neighbours of one end count as likely as the missing edge."""

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

# A processor is as fast with few at a time, and the last block is filled up with less.
CPU_BLOCK = 1 << 11


@dataclass(frozen=True)
class Completion:
    """How a missing edge counts.

    Its logit x becomes ``p = sigmoid(scale (x - offset))``, and that ``weight prior p / (prior p + 1 - p)``.
    With the values here that is the probability itself.

    Attributes:
        block: edges that are scored at a time, which bounds the memory.
        with_gradient: let the loss teach through the probabilities too.
    """

    block: int
    with_gradient: bool = False
    scale: float = 1.0
    offset: float = 0.0
    prior: float = 1.0
    weight: float = 1.0

    def weigh(self, logits: torch.Tensor) -> torch.Tensor:
        """Return what edges of some logits count."""
        likely = torch.sigmoid(self.scale * (logits - self.offset))
        return self.weight * self.prior * likely / (self.prior * likely + 1.0 - likely)


@dataclass(frozen=True)
class Around:
    """What lies around some pairs.

    Attributes:
        sets: the neighbours of either end.
        places: int64 (k,), those of one end alone.
        missing: int64 (k, 2), the edge that each of them lacks.
    """

    sets: NodeSets
    places: torch.Tensor
    missing: torch.Tensor


class CompletedModel(CommonNeighborModel):
    """Neural Common Neighbor with completion.

    Memory is bounded by the block: pairs are taken in runs whose neighbourhoods come to no more entries than
    that (or one pair at a time), and no more missing edges are scored together. Where a gradient is wanted, a
    run is computed once more on the way back, unless there is but one.

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
            # What costs most is not done once more where it has no gradient.
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
        """The sum over the neighbours of both ends, and of one as far as the edge is likely, float (m, d).

        Args:
            ends: float (n, d), the states of nodes as ends.
            others: float (n, d), their states as neighbours.
            pairs: int (m, 2).
            messages: what neighbours are read off.
            counts: what the missing edges count, where that is known already.
        """
        around = self.around(pairs, messages)
        if counts is None:
            counts = self.counts(ends, others, messages, around)
        weights = torch.ones(len(around.sets.nodes), device=others.device).index_put((around.places,), counts)
        return around.sets.sums(others, weights)

    @staticmethod
    def around(pairs: torch.Tensor, messages: Messages) -> Around:
        """Return the neighbours of pairs, and which of them lack an edge."""
        sets, sides = joint_neighbors(messages, pairs)
        places = torch.nonzero(sides != BOTH).squeeze(1)
        other_end = torch.where(sides[places] == FIRST, 1, 0)
        missing = torch.stack([sets.nodes[places], pairs[sets.rows[places], other_end]], dim=1)
        return Around(sets, places, missing)

    def counts(
        self, ends: torch.Tensor, others: torch.Tensor, messages: Messages, around: Around
    ) -> torch.Tensor:
        """Return what the missing edges around pairs count, float (k,)."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.completion.with_gradient):
            return self.weigh_missing(ends, others, around.missing, messages)

    def weigh_missing(
        self, ends: torch.Tensor, others: torch.Tensor, missing: torch.Tensor, messages: Messages
    ) -> torch.Tensor:
        """What missing edges (k, 2) count, by their own common neighbours, a block at a time, float (k,)."""
        block = self.completion.block
        if not self.training and missing.device.type == "cpu":
            block = min(block, CPU_BLOCK)
        again = len(missing) > block and torch.is_grad_enabled()
        counts = []
        for start in range(0, len(missing), block):
            asked = missing[start : start + block]
            count = len(asked)
            if not self.training:
                # A whole block each time: products of matrices round by their shape, and exp by its place.
                asked = F.pad(asked, (0, 0, 0, block - count))
            given: Any = (ends, others, asked, messages)
            found = (
                checkpoint(self.score_with, *given, use_reentrant=False) if again else self.score_with(*given)
            )
            counts.append(self.completion.weigh(found.float())[:count])
        return torch.cat(counts) if counts else ends.new_zeros(0)
