"""Attention to entries whose key and value depend only on the node, not on the pair.

Keys are rows of one table and are not stored per entry: logits are sampled products of pairs and nodes, and
all sums, also of gradients, are products with the sparse matrix of weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from trueedge.methods.pairwise.models.attention import Segments, pair_vectors
from trueedge.training.links.messages import csr


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which pairs have which nodes as entries.

    Attributes:
        segments: the pair of each entry.
        nodes: int64 (k,), ascending within a pair.
        num_nodes: the number of nodes.
    """

    segments: Segments
    nodes: torch.Tensor
    num_nodes: int

    @cached_property
    def order(self) -> torch.Tensor:
        """The entries by node, int64 (k,)."""
        return torch.argsort(self.nodes, stable=True)

    @cached_property
    def turned(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Where each node's entries begin, and the pair of each: the transpose."""
        bounds = torch.arange(self.num_nodes + 1, device=self.nodes.device)
        return torch.searchsorted(self.nodes[self.order], bounds), self.segments.rows[self.order]

    def matrix(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sparse matrix (pairs, nodes) of some values (k,)."""
        return csr(self.segments.indptr, self.nodes, values.contiguous(), self.num_nodes)

    def transpose(self, values: torch.Tensor) -> torch.Tensor:
        """Return the transpose of :meth:`matrix`, (nodes, pairs)."""
        return csr(*self.turned, values[self.order], self.segments.count)

    def sample(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Return the dot products of rows of pairs and rows of nodes at the entries, float (k,)."""
        zeros = self.matrix(torch.zeros(len(self.nodes), device=left.device))
        found = torch.sparse.sampled_addmm(zeros, left.contiguous(), right.contiguous().t())
        values: torch.Tensor = found.values()
        return values


def node_logits(
    table: torch.Tensor, queries: torch.Tensor, vector: torch.Tensor, pattern: Pattern
) -> torch.Tensor:
    """Return :func:`attention_logits` for keys by node, float (nodes, heads * d): float (k, heads)."""
    logits: torch.Tensor = _Logits.apply(table, *pair_vectors(queries, vector), pattern, len(vector))
    return logits


def node_sum(weights: torch.Tensor, table: torch.Tensor, pattern: Pattern) -> torch.Tensor:
    """Return :func:`weighted_sum` for values by node, float (nodes, heads * d): float (pairs, heads * d)."""
    total: torch.Tensor = _Sum.apply(weights, table, pattern)
    return total


class _Logits(torch.autograd.Function):
    """key · plain + |key| · bent, a head at a time."""

    @staticmethod
    def forward(
        ctx: Any, table: torch.Tensor, plain: torch.Tensor, bent: torch.Tensor, pattern: Pattern, heads: int
    ) -> torch.Tensor:
        ctx.pattern, ctx.heads = pattern, heads
        ctx.save_for_backward(table, plain, bent)
        parts = (part.chunk(heads, dim=1) for part in (table, plain, bent))
        found = [
            pattern.sample(straight, keys) + pattern.sample(folded, keys.abs())
            for keys, straight, folded in zip(*parts, strict=True)
        ]
        return torch.stack(found, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        pattern, heads = ctx.pattern, ctx.heads
        found: list[tuple[torch.Tensor, ...]] = []
        parts = (part.chunk(heads, dim=1) for part in ctx.saved_tensors)
        for head, (keys, straight, folded) in enumerate(zip(*parts, strict=True)):
            matrix, turned = (make(gradients[0][:, head]) for make in (pattern.matrix, pattern.transpose))
            of_keys = turned @ straight.contiguous() + keys.sign() * (turned @ folded.contiguous())
            found.append((of_keys, matrix @ keys.contiguous(), matrix @ keys.abs()))
        return *(torch.cat(part, dim=1) for part in zip(*found, strict=True)), None, None


class _Sum(torch.autograd.Function):
    """The product of the matrix of weights and the table, a head at a time."""

    @staticmethod
    def forward(ctx: Any, weights: torch.Tensor, table: torch.Tensor, pattern: Pattern) -> torch.Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(weights, table)
        parts = table.chunk(weights.shape[1], dim=1)
        sums = [pattern.matrix(weights[:, i]) @ part.contiguous() for i, part in enumerate(parts)]
        return torch.cat(sums, dim=1)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        (weights, table), pattern = ctx.saved_tensors, ctx.pattern
        received = gradients[0].chunk(weights.shape[1], dim=1)
        keys = table.chunk(weights.shape[1], dim=1)
        of_weights = [pattern.sample(part, own) for part, own in zip(received, keys, strict=True)]
        of_table = [pattern.transpose(weights[:, i]) @ part.contiguous() for i, part in enumerate(received)]
        return torch.stack(of_weights, dim=1), torch.cat(of_table, dim=1), None
