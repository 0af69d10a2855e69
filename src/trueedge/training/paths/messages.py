"""Messages along the edges of a step, and their aggregation.

Messages are not kept for the gradient, which computes them again: on FB15k-237 those of a batch would take
gigabytes. Compiled loops on a CPU and Triton's kernels on a GPU never store a message at all; without Triton,
torch's own operations do the same.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from trueedge.errors import unknown
from trueedge.kernels.paths import aggregation as kernels
from trueedge.training.paths.steps import Step

# Messages of a row that one thread of a GPU reads.
PIECE = 64
MESSAGES = {"distmult": kernels.DISTMULT, "transe": kernels.TRANSE, "rotate": kernels.ROTATE}


def sum_messages(
    states: torch.Tensor, relations: torch.Tensor, step: Step, message: str = "distmult"
) -> torch.Tensor:
    """Return the sum of the messages that each row of a step receives, float (rows, dim).

    Args:
        states: float (n, dim), of all rows.
        relations: float (queries * 2R, dim).
        step: who receives from whom.
        message: how a state h and a relation r become a message: their product (distmult), their sum
            (transe), or their product as complex numbers, real parts first (rotate).
    """
    total: torch.Tensor = _Sum.apply(states.contiguous(), relations.contiguous(), step, _kind(message))
    return total


def message_statistics(
    states: torch.Tensor, relations: torch.Tensor, step: Step, message: str = "distmult"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return sum, sum of squares, maximum and minimum of the messages, each float (rows, dim).

    Messages that attain an extreme share its gradient. A row without messages has a maximum of -inf and a
    minimum of inf. The arguments are those of :func:`sum_messages`.
    """
    found: tuple[torch.Tensor, ...] = _Statistics.apply(
        states.contiguous(), relations.contiguous(), step, _kind(message)
    )
    total, square, most, least = found
    return total, square, most, least


def _kind(message: str) -> int:
    if message not in MESSAGES:
        raise unknown("message function", message, MESSAGES)
    return MESSAGES[message]


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int
    ) -> torch.Tensor:
        ctx.save_for_backward(states, relations)
        ctx.step, ctx.kind = step, kind
        if _compiled(states):
            return torch.from_numpy(kernels.sum_messages(_arrays(states, relations, step), kind))
        if (fused := _fused(states, kind)) is not None:
            return fused.statistics(states, relations, step, kind, extremes=False)[0]
        return _reduce(_messages(states, relations, step, kind), "sum", step.ends)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, relations = ctx.saved_tensors
        step, kind, slope = ctx.step, ctx.kind, slopes[0].contiguous()
        if _compiled(states):
            found = kernels.sum_gradients(_arrays(states, relations, step), kind, slope.numpy())
            return torch.from_numpy(found[0]), torch.from_numpy(found[1]), None, None
        if (fused := _fused(states, kind)) is not None:
            return *fused.gradients(states, relations, step, kind, (slope,)), None, None
        return *_spread(slope[step.targets()], states, relations, step, kind), None, None


class _Statistics(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int
    ) -> tuple[torch.Tensor, ...]:
        ctx.step, ctx.kind = step, kind
        if _compiled(states):
            arrays = kernels.message_statistics(_arrays(states, relations, step), kind)
            total, square, most, least, at_most, at_least = map(torch.from_numpy, arrays)
            ctx.save_for_backward(states, relations, most, least, at_most, at_least)
            return total, square, most, least
        if (fused := _fused(states, kind)) is not None:
            total, square, most, least = fused.statistics(states, relations, step, kind)
            ctx.save_for_backward(states, relations, most, least)
            return total, square, most, least
        received = _messages(states, relations, step, kind)
        total, most, least = (_reduce(received, how, step.ends) for how in ("sum", "max", "min"))
        square = _reduce(received.square_(), "sum", step.ends)
        ctx.save_for_backward(states, relations, most, least)
        return total, square, most, least

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        states, relations, most, least, *ties = ctx.saved_tensors
        step, kind = ctx.step, ctx.kind
        if _compiled(states):
            by_total, by_square, by_most, by_least = (slope.contiguous() for slope in slopes)
            by_most, by_least = by_most / ties[0].clamp(min=1), by_least / ties[1].clamp(min=1)
            found = kernels.statistics_gradients(
                _arrays(states, relations, step),
                kind,
                (by_total.numpy(), by_square.numpy(), by_most.numpy(), by_least.numpy()),
                (most.numpy(), least.numpy()),
            )
            return torch.from_numpy(found[0]), torch.from_numpy(found[1]), None, None
        if (fused := _fused(states, kind)) is not None:
            given = tuple(slope.contiguous() for slope in slopes)
            return *fused.gradients(states, relations, step, kind, given, (most, least)), None, None
        received, row = _messages(states, relations, step, kind), step.targets()
        slope = slopes[0][row] + 2 * received * slopes[1][row]
        for extreme, its_slope in ((most, slopes[2]), (least, slopes[3])):
            attained = (received == extreme[row]).to(received.dtype)
            shared = its_slope / _reduce(attained, "sum", step.ends).clamp(min=1)
            slope += attained * shared[row]
        return *_spread(slope, states, relations, step, kind), None, None


@cache
def _triton() -> Any:
    """Return the module of kernels for GPUs, or None without Triton."""
    try:
        from trueedge.training.paths import fused
    except ImportError:
        return None
    return fused


def _fused(states: torch.Tensor, kind: int) -> Any:
    """Return the module of kernels for GPUs if it can take such messages, else None."""
    fits = states.device.type == "cuda" and states.dtype == torch.float32 and kind != kernels.ROTATE
    return _triton() if fits else None


def _compiled(tensor: torch.Tensor) -> bool:
    """Return whether the compiled loops take a tensor."""
    return bool(tensor.device.type == "cpu")


def _arrays(states: torch.Tensor, relations: torch.Tensor, step: Step) -> kernels.Messages:
    assert step.parts is not None
    return kernels.Messages(
        states.detach().numpy(),
        relations.detach().numpy(),
        step.source.numpy(),
        step.relation.numpy(),
        step.ends.numpy(),
        step.parts,
    )


def _messages(states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int) -> torch.Tensor:
    sent, by = states.index_select(0, step.source), relations.index_select(0, step.relation)
    if kind == kernels.DISTMULT:
        return sent.mul_(by)
    if kind == kernels.TRANSE:
        return sent.add_(by)
    (real, imaginary), (cosine, sine) = sent.chunk(2, 1), by.chunk(2, 1)
    return torch.cat([real * cosine - imaginary * sine, real * sine + imaginary * cosine], dim=1)


def _spread(
    slope: torch.Tensor, states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients with respect to states and relations, from those of the messages."""
    by_state, by_relation = torch.zeros_like(states), torch.zeros_like(relations)
    if kind == kernels.TRANSE:
        of_state, of_relation = slope, slope
    else:
        sent, by = states.index_select(0, step.source), relations.index_select(0, step.relation)
        if kind == kernels.DISTMULT:
            of_state, of_relation = by.mul_(slope), sent.mul_(slope)
        else:
            of_state, of_relation = _turned_back(slope, by), _turned_back(slope, sent)
    by_state.index_add_(0, step.source, of_state)
    by_relation.index_add_(0, step.relation, of_relation)
    return by_state, by_relation


def _turned_back(slope: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    """Return the product with the complex conjugate."""
    (real, imaginary), (cosine, sine) = slope.chunk(2, 1), by.chunk(2, 1)
    return torch.cat([real * cosine + imaginary * sine, imaginary * cosine - real * sine], dim=1)


def _reduce(values: torch.Tensor, how: str, ends: torch.Tensor) -> torch.Tensor:
    """Reduce the values of each row in two levels, since one thread of a GPU reads all of a segment."""
    counts = ends.diff()
    row_pieces = F.pad(((counts + PIECE - 1) // PIECE).cumsum(0), (1, 0))
    number = torch.arange(int(row_pieces[-1]), device=ends.device)
    row = torch.searchsorted(row_pieces, number, right=True) - 1
    pieces = torch.cat([ends[row] + PIECE * (number - row_pieces[row]), ends[-1:]])
    return _segments(_segments(values, how, pieces), how, row_pieces)


def _segments(values: torch.Tensor, how: str, ends: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.segment_reduce(values, how, offsets=ends, axis=0, unsafe=True)
    return found
