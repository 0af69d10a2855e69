"""Messages and their statistics in one pass over the edges, for GPUs.

A program reads the messages of one receiving row, in tiles, and keeps nothing but their statistics. Triton
comes with torch's builds for GPUs; without it, plain torch does the same, several times slower.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from trueedge.kernels.paths.aggregation import DISTMULT
from trueedge.training.paths.steps import Step

# Messages read at a time, and the threads that read them, in groups of 32: measured on an H200.
TILE = 8
WARPS = 1


def statistics(states: Any, relations: Any, step: Step, kind: int, extremes: bool = True) -> list[Any]:
    """Return the sum and, with ``extremes``, sum of squares, maximum and minimum of messages."""
    rows, dim = step.last - step.first, states.shape[1]
    found = [states.new_empty(rows, dim) for _ in range(4 if extremes else 1)]
    # Without extremes only the first is written.
    places = found if extremes else found * 4
    if rows:
        _statistics[(rows,)](
            *(states, relations, step.source, step.relation, step.ends, *places, dim),
            BLOCK=triton.next_power_of_2(dim),
            TILE=TILE,
            num_warps=WARPS,
            PRODUCT=kind == DISTMULT,
            EXTREMES=extremes,
        )
    return found


def gradients(
    states: Any,
    relations: Any,
    step: Step,
    kind: int,
    slopes: tuple[Any, ...],
    extremes: tuple[Any, ...] = (),
) -> tuple[Any, Any]:
    """Return the gradients with respect to states and relations.

    Args:
        slopes: of the results of :func:`statistics`, float (rows, dim).
        extremes: maximum and minimum, if they were asked for; messages that attain one share its gradient.
    """
    rows, dim = step.last - step.first, states.shape[1]
    by_state, by_relation = torch.zeros_like(states), torch.zeros_like(relations)
    given = (*slopes, *extremes) if extremes else tuple(slopes) * 6
    if rows:
        _gradients[(rows,)](
            *(states, relations, step.source, step.relation, step.ends, *given, by_state, by_relation, dim),
            BLOCK=triton.next_power_of_2(dim),
            TILE=TILE,
            num_warps=WARPS,
            PRODUCT=kind == DISTMULT,
            EXTREMES=bool(extremes),
        )
    return by_state, by_relation


@triton.jit  # type: ignore[untyped-decorator]
def _statistics(  # type: ignore[no-untyped-def]
    states,
    relations,
    source,
    relation,
    ends,
    total_to,
    square_to,
    most_to,
    least_to,
    dim,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
    PRODUCT: tl.constexpr,
    EXTREMES: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(ends + row), tl.load(ends + row + 1)
    column, each = tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < dim
    total = tl.zeros((BLOCK,), tl.float32)
    square = tl.zeros((BLOCK,), tl.float32)
    most = tl.full((BLOCK,), float("-inf"), tl.float32)
    least = tl.full((BLOCK,), float("inf"), tl.float32)
    for first in range(begin, end, TILE):
        there = first + each < end
        sender = tl.load(source + first + each, mask=there, other=0).to(tl.int64)
        label = tl.load(relation + first + each, mask=there, other=0).to(tl.int64)
        use = there[:, None] & inside[None, :]
        sent = tl.load(states + sender[:, None] * dim + column[None, :], mask=use, other=0.0)
        by = tl.load(relations + label[:, None] * dim + column[None, :], mask=use, other=0.0)
        message = sent * by if PRODUCT else sent + by
        total += tl.sum(tl.where(use, message, 0.0), 0)
        if EXTREMES:
            square += tl.sum(tl.where(use, message * message, 0.0), 0)
            most = tl.maximum(most, tl.max(tl.where(use, message, float("-inf")), 0))
            least = tl.minimum(least, tl.min(tl.where(use, message, float("inf")), 0))
    place = row * dim + column
    tl.store(total_to + place, total, mask=inside)
    if EXTREMES:
        tl.store(square_to + place, square, mask=inside)
        tl.store(most_to + place, most, mask=inside)
        tl.store(least_to + place, least, mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _gradients(  # type: ignore[no-untyped-def]
    states,
    relations,
    source,
    relation,
    ends,
    total_slope,
    square_slope,
    most_slope,
    least_slope,
    most_at,
    least_at,
    state_to,
    relation_to,
    dim,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
    PRODUCT: tl.constexpr,
    EXTREMES: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(ends + row), tl.load(ends + row + 1)
    column, each = tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < dim
    place = row * dim + column
    by_total = tl.load(total_slope + place, mask=inside, other=0.0)
    if EXTREMES:
        by_square = tl.load(square_slope + place, mask=inside, other=0.0)
        by_most = tl.load(most_slope + place, mask=inside, other=0.0)
        by_least = tl.load(least_slope + place, mask=inside, other=0.0)
        most = tl.load(most_at + place, mask=inside, other=0.0)
        least = tl.load(least_at + place, mask=inside, other=0.0)
        at_most = tl.zeros((BLOCK,), tl.float32)
        at_least = tl.zeros((BLOCK,), tl.float32)
        for first in range(begin, end, TILE):
            there = first + each < end
            sender = tl.load(source + first + each, mask=there, other=0).to(tl.int64)
            label = tl.load(relation + first + each, mask=there, other=0).to(tl.int64)
            use = there[:, None] & inside[None, :]
            sent = tl.load(states + sender[:, None] * dim + column[None, :], mask=use, other=0.0)
            by = tl.load(relations + label[:, None] * dim + column[None, :], mask=use, other=0.0)
            message = sent * by if PRODUCT else sent + by
            at_most += tl.sum(tl.where(use & (message == most[None, :]), 1.0, 0.0), 0)
            at_least += tl.sum(tl.where(use & (message == least[None, :]), 1.0, 0.0), 0)
        by_most = by_most / tl.maximum(at_most, 1.0)
        by_least = by_least / tl.maximum(at_least, 1.0)
    for first in range(begin, end, TILE):
        there = first + each < end
        sender = tl.load(source + first + each, mask=there, other=0).to(tl.int64)
        label = tl.load(relation + first + each, mask=there, other=0).to(tl.int64)
        use = there[:, None] & inside[None, :]
        from_state = sender[:, None] * dim + column[None, :]
        from_relation = label[:, None] * dim + column[None, :]
        sent = tl.load(states + from_state, mask=use, other=0.0)
        by = tl.load(relations + from_relation, mask=use, other=0.0)
        slope = tl.broadcast_to(by_total[None, :], (TILE, BLOCK))
        if EXTREMES:
            message = sent * by if PRODUCT else sent + by
            slope += 2.0 * message * by_square[None, :]
            slope += tl.where(message == most[None, :], by_most[None, :], 0.0)
            slope += tl.where(message == least[None, :], by_least[None, :], 0.0)
        if PRODUCT:
            tl.atomic_add(state_to + from_state, slope * by, mask=use, sem="relaxed")
            tl.atomic_add(relation_to + from_relation, slope * sent, mask=use, sem="relaxed")
        else:
            tl.atomic_add(state_to + from_state, slope, mask=use, sem="relaxed")
            tl.atomic_add(relation_to + from_relation, slope, mask=use, sem="relaxed")
