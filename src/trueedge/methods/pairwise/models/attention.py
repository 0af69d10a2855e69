"""Attention of pairs to ragged sets of nodes: logits, a softmax over each set, and a weighted sum.

The logit a · LeakyReLU(key ⊙ query) is, with LeakyReLU(x) = s x + t |x|, the sum of two dot products with
vectors of the pair, key · (s a ⊙ query) + |key| · (t a ⊙ |query|). So only the keys are stored per entry for
the gradient, and sums over entries are products with a sparse matrix whose rows are the pairs: in a fixed
order, and without atomic additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from trueedge.training.links.messages import csr

SLOPE = 0.2
HALF_SUM, HALF_DIFFERENCE = (1 + SLOPE) / 2, (1 - SLOPE) / 2


@dataclass(frozen=True, eq=False)
class Segments:
    """The pair of each entry: ``rows``, int64 (k,), ascending, of ``count`` pairs; k is not 0."""

    rows: torch.Tensor
    count: int

    @cached_property
    def indptr(self) -> torch.Tensor:
        """Where each pair's entries begin and end, int64 (count + 1,)."""
        return torch.searchsorted(self.rows, torch.arange(self.count + 1, device=self.rows.device))

    @cached_property
    def columns(self) -> torch.Tensor:
        """The number of each entry, int64 (k,)."""
        return torch.arange(len(self.rows), device=self.rows.device)


def attention_logits(
    keys: torch.Tensor, queries: torch.Tensor, vector: torch.Tensor, sets: Segments
) -> torch.Tensor:
    """Return the logits of entries, float (k, heads).

    Args:
        keys: float (k, heads * d).
        queries: float (pairs, heads * d).
        vector: float (heads, d), the weights of the rectified products.
        sets: the pair of each entry.
    """
    logits: torch.Tensor = _Logits.apply(keys, *pair_vectors(queries, vector), sets, len(vector))
    return logits


def pair_vectors(queries: torch.Tensor, vector: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the factors of keys and of absolute keys in a logit, float (pairs, heads * d) each."""
    weights = vector.reshape(1, -1)
    return HALF_SUM * weights * queries, HALF_DIFFERENCE * weights * queries.abs()


def softmax(logits: Sequence[torch.Tensor], sets: Sequence[Segments]) -> list[torch.Tensor]:
    """Return weights (k, heads) that sum to 1 over the entries of a pair in all sets."""
    if not logits:
        return []
    tops = []
    with torch.no_grad():
        for one, group in zip(logits, sets, strict=True):
            floor = torch.full((group.count, one.shape[1]), -torch.inf, device=one.device)
            rows = group.rows.unsqueeze(1).expand_as(one)
            tops.append(floor.scatter_reduce(0, rows, one, "amax"))
        top = torch.stack(tops).amax(dim=0)
    weights = [torch.exp(one - top[group.rows]) for one, group in zip(logits, sets, strict=True)]
    ones = [torch.ones(len(one), one.shape[1], device=one.device) for one in weights]
    total = sum(weighted_sum(one, unit, group) for one, unit, group in zip(weights, ones, sets, strict=True))
    assert isinstance(total, torch.Tensor)
    share = 1.0 / total.clamp(min=torch.finfo(total.dtype).tiny)
    return [one * _Spread.apply(share, group) for one, group in zip(weights, sets, strict=True)]


def weighted_sum(weights: torch.Tensor, values: torch.Tensor, sets: Segments) -> torch.Tensor:
    """Return the sum of each pair's values (k, heads * d), weighted (k, heads): float (pairs, heads * d)."""
    total: torch.Tensor = _WeightedSum.apply(weights, values, sets)
    return total


class _Logits(torch.autograd.Function):
    """key · plain + |key| · bent, a head at a time."""

    @staticmethod
    def forward(
        ctx: Any, keys: torch.Tensor, plain: torch.Tensor, bent: torch.Tensor, sets: Segments, heads: int
    ) -> torch.Tensor:
        ctx.sets, ctx.heads = sets, heads
        ctx.save_for_backward(keys, plain, bent)
        product = plain[sets.rows].mul_(keys).addcmul_(bent[sets.rows], keys.abs())
        return product.view(len(keys), heads, -1).sum(dim=2)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        (keys, plain, bent), sets, gradient = ctx.saved_tensors, ctx.sets, gradients[0]
        of_keys = plain[sets.rows].addcmul_(bent[sets.rows], keys.sign())
        of_keys.view(len(keys), ctx.heads, -1).mul_(gradient.unsqueeze(2))
        return of_keys, _gathered(gradient, keys, sets), _gathered(gradient, keys.abs(), sets), None, None


class _WeightedSum(torch.autograd.Function):
    """The product with the matrix of weights, a head at a time."""

    @staticmethod
    def forward(ctx: Any, weights: torch.Tensor, values: torch.Tensor, sets: Segments) -> torch.Tensor:
        ctx.sets = sets
        ctx.save_for_backward(weights, values)
        return _gathered(weights, values, sets)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        (weights, values), received = ctx.saved_tensors, gradients[0][ctx.sets.rows]
        entries, heads = weights.shape
        of_weights = (received * values).view(entries, heads, -1).sum(dim=2)
        if ctx.needs_input_grad[1]:
            received.view(entries, heads, -1).mul_(weights.unsqueeze(2))
        return of_weights, received if ctx.needs_input_grad[1] else None, None


class _Spread(torch.autograd.Function):
    """Repeats a pair's row for each of its entries; the gradient is summed in order."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor, sets: Segments) -> torch.Tensor:
        ctx.sets = sets
        return values[sets.rows]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        gradient = gradients[0]
        return _gathered(torch.ones(len(gradient), 1, device=gradient.device), gradient, ctx.sets), None


def _gathered(weights: torch.Tensor, values: torch.Tensor, sets: Segments) -> torch.Tensor:
    """Return the weighted sum over each pair's entries: weights (k, heads), values (k, heads * d)."""
    parts = values.chunk(weights.shape[1], dim=1)
    sums = [
        csr(sets.indptr, sets.columns, weights[:, head].contiguous(), len(values)) @ part.contiguous()
        for head, part in enumerate(parts)
    ]
    return sums[0] if len(sums) == 1 else torch.cat(sums, dim=1)
