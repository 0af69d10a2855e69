"""Attention along edges: dot products of their ends, softmax over the edges of a target, weighted sums.

On the CPU compiled loops do the work without storing a vector for each edge, and their sums have a fixed
order. On a GPU torch's own operations do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from trueedge.kernels.neighbors import edge_products as kernels


class EdgeList(nn.Module):
    """Edges from rows of one table to rows of another, sorted by target.

    Args:
        source: int64 (edges,), a row of the table of sources.
        target: int64 (edges,), a row of the table of targets, ascending.
        num_sources: the number of rows of the table of sources.
        num_targets: the number of rows of the table of targets.

    Attributes:
        starts: int64 (targets + 1,), where the edges of each target begin and end.
        by_source: int64 (edges,), the edges sorted by source.
        source_starts: int64 (sources + 1,), where those of each source begin and end.
    """

    source: torch.Tensor
    target: torch.Tensor
    starts: torch.Tensor
    by_source: torch.Tensor
    source_starts: torch.Tensor

    def __init__(
        self, source: torch.Tensor, target: torch.Tensor, num_sources: int, num_targets: int
    ) -> None:
        super().__init__()
        self.num_sources, self.num_targets = num_sources, num_targets
        arrays = {
            "source": source,
            "target": target,
            "starts": _starts(target, num_targets),
            "by_source": torch.argsort(source, stable=True),
            "source_starts": _starts(source, num_sources),
        }
        for name, array in arrays.items():
            self.register_buffer(name, array, persistent=False)

    def dot(self, targets: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
        """Return the dot product of both ends of each edge, float (edges, heads).

        Args:
            targets: float (targets, heads, size).
            sources: float (sources, heads, size).
        """
        found: torch.Tensor = _Dot.apply(targets.contiguous(), sources.contiguous(), self)
        return found

    def softmax(self, logits: torch.Tensor) -> torch.Tensor:
        """Return the softmax over the edges of each target, float (edges, heads)."""
        found: torch.Tensor = _Softmax.apply(logits.contiguous(), self)
        return found

    def sum(self, weights: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
        """Return the weighted sum of the sources of each target, float (targets, heads, size).

        Args:
            weights: float (edges, heads).
            sources: float (sources, heads, size).
        """
        found: torch.Tensor = _Sum.apply(weights.contiguous(), sources.contiguous(), self)
        return found


def _starts(rows: torch.Tensor, count: int) -> torch.Tensor:
    starts = torch.zeros(count + 1, dtype=torch.int64, device=rows.device)
    starts[1:] = torch.cumsum(torch.bincount(rows, minlength=count), 0)
    return starts


def _compiled(array: torch.Tensor) -> bool:
    return bool(array.device.type == "cpu" and array.dtype == torch.float32)


def _dots(targets: torch.Tensor, sources: torch.Tensor, edges: EdgeList) -> torch.Tensor:
    if _compiled(targets):
        given = (one.numpy() for one in (targets, sources, edges.source, edges.starts))
        return torch.from_numpy(kernels.dots(*given))
    return (targets.index_select(0, edges.target) * sources.index_select(0, edges.source)).sum(dim=-1)


def _sums_by_target(weights: torch.Tensor, sources: torch.Tensor, edges: EdgeList) -> torch.Tensor:
    if _compiled(weights):
        none = edges.source[:0]
        given = (one.numpy() for one in (weights, sources, edges.source, edges.starts, none))
        return torch.from_numpy(kernels.sums(*given))
    received = weights.unsqueeze(-1) * sources.index_select(0, edges.source)
    return sources.new_zeros(edges.num_targets, *sources.shape[1:]).index_add_(0, edges.target, received)


def _sums_by_source(weights: torch.Tensor, targets: torch.Tensor, edges: EdgeList) -> torch.Tensor:
    if _compiled(weights):
        given = (weights, targets, edges.target, edges.source_starts, edges.by_source)
        return torch.from_numpy(kernels.sums(*(one.numpy() for one in given)))
    received = weights.unsqueeze(-1) * targets.index_select(0, edges.target)
    return targets.new_zeros(edges.num_sources, *targets.shape[1:]).index_add_(0, edges.source, received)


class _Dot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, targets: torch.Tensor, sources: torch.Tensor, edges: EdgeList) -> torch.Tensor:
        ctx.save_for_backward(targets, sources)
        ctx.edges = edges
        return _dots(targets, sources, edges)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        targets, sources = ctx.saved_tensors
        slope = slopes[0].contiguous()
        return _sums_by_target(slope, sources, ctx.edges), _sums_by_source(slope, targets, ctx.edges), None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: torch.Tensor, sources: torch.Tensor, edges: EdgeList) -> torch.Tensor:
        ctx.save_for_backward(weights, sources)
        ctx.edges = edges
        return _sums_by_target(weights, sources, edges)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weights, sources = ctx.saved_tensors
        slope = slopes[0].contiguous()
        # Constant weights, as a graph convolution has them, need no gradient.
        by_weight = _dots(slope, sources, ctx.edges) if ctx.needs_input_grad[0] else None
        by_source = _sums_by_source(weights, slope, ctx.edges) if ctx.needs_input_grad[1] else None
        return by_weight, by_source, None


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, edges: EdgeList) -> torch.Tensor:
        ctx.edges = edges
        if _compiled(logits):
            weights = torch.from_numpy(kernels.softmax(logits.numpy(), edges.starts.numpy()))
        else:
            heads, count = logits.shape[1], edges.num_targets
            where = edges.target.unsqueeze(1).expand(-1, heads)
            most = logits.new_full((count, heads), -torch.inf).scatter_reduce_(0, where, logits, "amax")
            powers = torch.exp(logits - most.index_select(0, edges.target))
            total = logits.new_zeros(count, heads).index_add_(0, edges.target, powers)
            weights = powers / total.index_select(0, edges.target)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (weights,) = ctx.saved_tensors
        edges, slope = ctx.edges, slopes[0].contiguous()
        if _compiled(slope):
            given = (one.numpy() for one in (weights, slope, edges.starts))
            return torch.from_numpy(kernels.softmax_gradient(*given)), None
        product = weights * slope
        mean = weights.new_zeros(edges.num_targets, weights.shape[1]).index_add_(0, edges.target, product)
        return product - weights * mean.index_select(0, edges.target), None
