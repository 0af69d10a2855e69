"""Attention over the arcs of a typed graph, with a term for the type of each arc.

The vectors that arcs carry would take arcs * heads * dim numbers. They are never stored: compiled loops on a
CPU and Triton's kernels on a GPU read them where they are. Without Triton, torch's own operations compute
the same, one head at a time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.kernels.neighbors import attention as kernels
from trueedge.training.typed.attention_inputs import Logits, Mixing, index_of
from trueedge.training.typed.inputs import Arcs


def attend(
    values: torch.Tensor,
    logits: Logits,
    arcs: Arcs,
    dropout: float = 0.0,
    previous: torch.Tensor | None = None,
    beta: float = 0.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the sum of the sources' values weighted by attention, and the attention.

    With dropout d, a share beta of the previous attention p, and the softmax s over the arcs of a target, the
    attention is ``(1 - beta) * d(s) + beta * p``.

    Args:
        values: float (n, heads, dim).
        logits: what attention is computed from.
        arcs: who receives from whom.
        dropout: the rate at which attention is dropped; 0 in evaluation.
        previous: the attention of the layer before, float (a, heads).
        beta: its share.

    Returns:
        float (n, heads, dim), and float (a, heads) without a gradient.
    """
    kept = None
    if dropout:
        # A third of the time of torch's Bernoulli numbers on a CPU.
        kept = (torch.rand(len(arcs), values.shape[1], device=values.device) >= dropout).view(torch.uint8)
    if previous is None or not beta:
        previous, beta = None, 0.0
    mixing = Mixing((1 - beta) / (1 - dropout), kept, previous, beta)
    if values.device.type != "cpu" and _fused(values) is None:
        return plain_attention(values, logits, arcs, mixing)
    kind = None if logits.kind is None else logits.kind.contiguous()
    given = (one.contiguous() for one in (values, logits.source, logits.target))
    found: tuple[torch.Tensor, torch.Tensor] = _Attention.apply(*given, kind, logits.slope, arcs, mixing)
    return found


def plain_attention(
    values: torch.Tensor, logits: Logits, arcs: Arcs, mixing: Mixing
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what :func:`attend` returns, by torch's own operations."""
    sums = logits.source[arcs.source] + logits.target[arcs.target]
    if logits.kind is not None:
        sums = sums + logits.kind[arcs.kind]
    raw = F.leaky_relu(sums, logits.slope)
    where = arcs.target.unsqueeze(1).expand_as(raw)
    top = torch.full_like(logits.target, -torch.inf).scatter_reduce(0, where, raw.detach(), "amax")
    powers = (raw - top[arcs.target]).exp()
    total = torch.zeros_like(logits.target).index_add(0, arcs.target, powers)
    weights = powers / total[arcs.target] * mixing.share
    if mixing.kept is not None:
        weights = weights * mixing.kept
    if mixing.previous is not None:
        weights = weights + mixing.beta * mixing.previous
    sent = (
        torch.zeros_like(values[:, head]).index_add(
            0, arcs.target, values[arcs.source, head] * weights[:, head, None]
        )
        for head in range(values.shape[1])
    )
    return torch.stack(list(sent), dim=1), weights.detach()


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        values: torch.Tensor,
        source: torch.Tensor,
        target: torch.Tensor,
        kind: torch.Tensor | None,
        slope: float,
        arcs: Arcs,
        mixing: Mixing,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        logits = Logits(source, target, kind, slope)
        if values.device.type == "cpu":
            arrays = _arrays(arcs)
            tables = kernels.attention_weights(
                arrays, _numpy_logits(logits, arcs), _numpy_mixing(mixing, values)
            )
            softmax, weights = map(torch.from_numpy, tables)
            total = torch.from_numpy(kernels.weighted_sums(arrays, tables[1], _flat(values))).view_as(values)
        else:
            total, softmax, weights = _triton().attention(values, logits, index_of(arcs), mixing)
        ctx.save_for_backward(values, source, target, kind, softmax, weights)
        ctx.slope, ctx.arcs, ctx.mixing = slope, arcs, mixing
        ctx.mark_non_differentiable(weights)
        return total, weights

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, source, target, kind, softmax, weights = ctx.saved_tensors
        logits, arcs, mixing = Logits(source, target, kind, ctx.slope), ctx.arcs, ctx.mixing
        slope = slopes[0].contiguous()
        if values.device.type == "cpu":
            arrays = _arrays(arcs)
            by_values, by_weights = kernels.sum_gradients(
                arrays, weights.numpy(), _flat(values), _flat(slope)
            )
            of_logits = kernels.weight_gradients(
                arrays,
                _numpy_logits(logits, arcs),
                _numpy_mixing(mixing, values),
                softmax.numpy(),
                by_weights,
            )
            found = [torch.from_numpy(by_values).view_as(values), *map(torch.from_numpy, of_logits)]
        else:
            found = _triton().gradients(values, logits, index_of(arcs), mixing, softmax, weights, slope)
        return *found[:3], None if kind is None else found[3], None, None, None


@cache
def _triton() -> Any:
    """Return the module of kernels for GPUs, or None without Triton."""
    try:
        from trueedge.training.typed import fused
    except ImportError:
        return None
    return fused


def _fused(values: torch.Tensor) -> Any:
    """Return the module of kernels for GPUs if it can take such values, else None."""
    return _triton() if values.device.type == "cuda" and values.dtype == torch.float32 else None


def _flat(values: torch.Tensor) -> Any:
    return values.detach().flatten(1).numpy()


def _arrays(arcs: Arcs) -> kernels.ArcArrays:
    return kernels.ArcArrays(*(one.numpy() for one in index_of(arcs)[:6]))


def _numpy_logits(logits: Logits, arcs: Arcs) -> kernels.Logits:
    kind = logits.kind
    if kind is None:
        kind = logits.source.new_zeros(arcs.num_kinds, logits.source.shape[1])
    source, target, of_kinds = (one.detach().numpy() for one in (logits.source, logits.target, kind))
    return kernels.Logits(source, target, of_kinds, logits.slope)


def _numpy_mixing(mixing: Mixing, values: torch.Tensor) -> kernels.Mixing:
    kept, previous = mixing.kept, mixing.previous
    if kept is None:
        kept = torch.empty(0, values.shape[1], dtype=torch.uint8)
    if previous is None:
        previous = values.new_empty(0, values.shape[1])
    return kernels.Mixing(mixing.share, kept.numpy(), previous.contiguous().numpy(), mixing.beta)
