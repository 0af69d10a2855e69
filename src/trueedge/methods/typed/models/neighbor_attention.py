"""Attention over the neighbours in a large graph, without an array of arcs times numbers in a state."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_array

SLOPE = 0.2


class NeighborGraph:
    """Which nodes attend to which, sorted by the node that receives.

    Attributes:
        indptr: int64 (n + 1,), where the arcs of each receiver begin.
        source, target: int64 (a,), sender and receiver of each arc.
    """

    def __init__(self, matrix: csr_array, device: str | torch.device = "cpu") -> None:
        self.shape = matrix.shape
        counts = np.diff(matrix.indptr)
        self.indptr = torch.from_numpy(matrix.indptr.astype(np.int64)).to(device)
        self.source = torch.from_numpy(matrix.indices.astype(np.int64)).to(device)
        self.target = torch.from_numpy(np.repeat(np.arange(len(counts)), counts)).to(device)

    @classmethod
    def with_loops(cls, matrix: csr_array, device: str | torch.device = "cpu") -> NeighborGraph:
        """Return the graph of a square matrix with every node as a neighbour of itself."""
        loops = csr_array((np.ones(matrix.shape[0], dtype=bool), *_diagonal(matrix.shape[0])))
        return cls(csr_array(matrix + loops), device)

    @cached_property
    def small(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Row starts and columns as int32, for which sparse products are faster."""
        return self.indptr.int(), self.source.int()

    @cached_property
    def by_source(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The arcs by sender: where each sender's begin, their receivers (both int32), and their numbers."""
        ordered, order = torch.sort(self.source, stable=True)
        starts = torch.searchsorted(ordered, torch.arange(self.shape[1] + 1, device=ordered.device))
        return starts.int(), self.target[order].int(), order


def attend(
    values: torch.Tensor, left: torch.Tensor, right: torch.Tensor, graph: NeighborGraph, dropout: float = 0.0
) -> torch.Tensor:
    """Return the mean of the neighbours' values with softmax weights, float (n, heads, dim).

    The weights of the neighbours j of i are a softmax of LeakyReLU(left_i + right_j).

    Args:
        values: float (m, heads, dim), what senders send.
        left: float (n, heads), of receivers.
        right: float (m, heads), of senders.
        graph: who receives from whom.
        dropout: share of weights set to zero after the softmax.
    """
    arcs, heads = len(graph.source), left.shape[1]
    kept = None
    if dropout:
        kept = torch.rand(arcs, heads, device=values.device) >= dropout
    result: torch.Tensor = _Attention.apply(values, left, right, graph, kept, 1.0 / (1.0 - dropout))
    return result


class _Attention(torch.autograd.Function):
    """Arrays of arcs times heads are all that is stored; messages are summed by sparse products."""

    @staticmethod
    def forward(ctx: Any, values, left, right, graph, kept, scale):  # type: ignore[no-untyped-def]
        logits = left.index_select(0, graph.target) + right.index_select(0, graph.source)
        ctx.falling = logits < 0
        logits = F.leaky_relu(logits, SLOPE, inplace=True)
        top = torch.segment_reduce(logits, "max", offsets=graph.indptr, axis=0)
        logits = logits.sub_(_finite(top).index_select(0, graph.target)).exp_()
        total = torch.segment_reduce(logits, "sum", offsets=graph.indptr, axis=0)
        alpha = logits.div_(total.index_select(0, graph.target))
        ctx.graph, ctx.kept, ctx.scale = graph, kept, scale
        ctx.save_for_backward(values, alpha)
        return _products(*graph.small, _dropped(alpha, kept, scale), values, graph.shape)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor):  # type: ignore[no-untyped-def]
        (values, alpha), graph, slope = ctx.saved_tensors, ctx.graph, slopes[0]
        starts, receivers, order = graph.by_source
        weights = _dropped(alpha, ctx.kept, ctx.scale).index_select(0, order)
        by_value = _products(starts, receivers, weights, slope, graph.shape[::-1])
        by_alpha = _dropped(_dots(graph, slope, values), ctx.kept, ctx.scale)
        by_logit = alpha * by_alpha
        inner = torch.segment_reduce(by_logit, "sum", offsets=graph.indptr, axis=0)
        by_logit -= alpha * inner.index_select(0, graph.target)
        by_logit = torch.where(ctx.falling, by_logit * SLOPE, by_logit)
        by_left = torch.segment_reduce(by_logit, "sum", offsets=graph.indptr, axis=0)
        by_right = torch.segment_reduce(
            by_logit.index_select(0, order), "sum", offsets=starts.long(), axis=0
        )
        return by_value, by_left, by_right, None, None, None


def _products(starts, columns, weights, values, shape):  # type: ignore[no-untyped-def]
    """Return, for each head, the product of its sparse matrix of weights with its values."""
    out = values.new_empty(shape[0], *values.shape[1:])
    for head, own in enumerate(weights.t().contiguous()):
        out[:, head] = _sparse(starts, columns, own, shape) @ values[:, head].contiguous()
    return out


def _dots(graph: NeighborGraph, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return the dot product of the two ends' rows for each arc and head, float (a, heads)."""
    ones = torch.ones(len(graph.source), device=left.device)
    pattern = _sparse(*graph.small, ones, graph.shape)
    found = []
    for head in range(left.shape[1]):
        ends = left[:, head].contiguous(), right[:, head].t().contiguous()
        found.append(torch.sparse.sampled_addmm(pattern, *ends, beta=0.0).values())
    return torch.stack(found, dim=1)


def _sparse(starts, columns, weights, shape):  # type: ignore[no-untyped-def]
    with warnings.catch_warnings():
        # torch calls its sparse CSR tensors a beta feature.
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(starts, columns, weights, tuple(shape), check_invariants=False)


def _dropped(weights: torch.Tensor, kept: torch.Tensor | None, scale: float) -> torch.Tensor:
    return weights if kept is None else weights * kept * scale


def _finite(top: torch.Tensor) -> torch.Tensor:
    """Return the largest logit of each receiver; zero where it has no neighbours."""
    return torch.where(torch.isfinite(top), top, 0.0)


def _diagonal(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(count, dtype=np.int32), np.arange(count + 1, dtype=np.int32)
