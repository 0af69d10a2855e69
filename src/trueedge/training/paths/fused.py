"""Messages of a GPU, computed and aggregated by one kernel; gradients compute them again.

The kernels are triton's, which comes with torch for NVIDIA GPUs. A program handles the messages of a row.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import torch

from trueedge.kernels.paths.aggregation import DISTMULT
from trueedge.training.paths.steps import Step

try:
    import triton
    import triton.language as tl
except ImportError:
    AVAILABLE = False
else:
    AVAILABLE = True

# Messages that a program reads at a time.
WIDTH = 16


@cache
def usable(device: torch.device) -> bool:
    """Return whether the kernels run on a device: triton compiles them there, and needs a compiler."""
    if not AVAILABLE or device.type != "cuda":
        return False
    zeros, ends = torch.zeros(1, 2, device=device), torch.tensor([0, 1], device=device)
    place = torch.zeros(1, dtype=torch.int32, device=device)
    try:
        return bool(
            forward(zeros, zeros, Step(place, place, ends, 0, 1), DISTMULT, whole=False)[0].sum() == 0
        )
    except Exception as error:
        warnings.warn(f"triton's kernels do not run here, so training is slower: {error}", stacklevel=2)
        return False


def forward(
    states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int, whole: bool
) -> tuple[torch.Tensor, ...]:
    """Return the sum of the messages of each row.

    With ``whole``, also the sum of squares, the maximum and the minimum, and how many messages attain these:
    each float (rows, dim).
    """
    rows, dim = step.last - step.first, states.shape[1]
    found = tuple(states.new_empty(rows, dim) for _ in range(6 if whole else 1))
    if rows:
        _forward[(rows,)](
            states,
            relations,
            step.source,
            step.relation,
            step.ends,
            *(found if whole else found * 6),
            dim,
            PRODUCT=kind == DISTMULT,
            WHOLE=whole,
            DIM=triton.next_power_of_2(dim),
            WIDTH=WIDTH,
            num_warps=1,
        )
    return found


def backward(
    states: torch.Tensor, relations: torch.Tensor, step: Step, kind: int, read: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the gradients with respect to states and relations.

    Args:
        read: the gradient with respect to the sum. Or those with respect to sum, sum of squares, maximum and
            minimum, the last two shared among the messages that attain them; then these maxima and minima.
    """
    rows, dim, whole = step.last - step.first, states.shape[1], len(read) > 1
    by_state, by_relation = torch.zeros_like(states), torch.zeros_like(relations)
    if rows:
        _backward[(rows,)](
            states,
            relations,
            step.source,
            step.relation,
            step.ends,
            *(read if whole else read * 6),
            by_state,
            by_relation,
            dim,
            PRODUCT=kind == DISTMULT,
            WHOLE=whole,
            DIM=triton.next_power_of_2(dim),
            WIDTH=WIDTH,
            num_warps=1,
        )
    return by_state, by_relation


if AVAILABLE:

    @triton.jit  # type: ignore[untyped-decorator]
    def _forward(
        states: Any,
        relations: Any,
        source: Any,
        relation: Any,
        ends: Any,
        total: Any,
        square: Any,
        most: Any,
        least: Any,
        at_most: Any,
        at_least: Any,
        dim: Any,
        PRODUCT: tl.constexpr,
        WHOLE: tl.constexpr,
        DIM: tl.constexpr,
        WIDTH: tl.constexpr,
    ) -> None:
        row = tl.program_id(0).to(tl.int64)
        begin, end = tl.load(ends + row), tl.load(ends + row + 1)
        column = tl.arange(0, DIM)
        inside = column < dim
        kind = states.dtype.element_ty
        added, squared = tl.zeros((DIM,), kind), tl.zeros((DIM,), kind)
        top, bottom = tl.full((DIM,), float("-inf"), kind), tl.full((DIM,), float("inf"), kind)
        tops, bottoms = tl.zeros((DIM,), kind), tl.zeros((DIM,), kind)
        for k in range(begin, end, WIDTH):
            place = k + tl.arange(0, WIDTH)
            there = place < end
            mask = there[:, None] & inside[None, :]
            sender = tl.load(source + place, mask=there, other=0).to(tl.int64)
            by = tl.load(relation + place, mask=there, other=0).to(tl.int64)
            sent = tl.load(states + sender[:, None] * dim + column[None, :], mask=mask, other=0.0)
            vector = tl.load(relations + by[:, None] * dim + column[None, :], mask=mask, other=0.0)
            received = sent * vector if PRODUCT else sent + vector
            received = tl.where(mask, received, 0.0)
            added += tl.sum(received, 0)
            if WHOLE:
                squared += tl.sum(received * received, 0)
                high = tl.max(tl.where(mask, received, float("-inf")), 0)
                highs = tl.sum(tl.where(mask & (received == high[None, :]), 1.0, 0.0), 0).to(kind)
                tops = tl.where(top > high, tops, tl.where(top == high, tops + highs, highs))
                top = tl.maximum(top, high)
                low = tl.min(tl.where(mask, received, float("inf")), 0)
                lows = tl.sum(tl.where(mask & (received == low[None, :]), 1.0, 0.0), 0).to(kind)
                bottoms = tl.where(bottom < low, bottoms, tl.where(bottom == low, bottoms + lows, lows))
                bottom = tl.minimum(bottom, low)
        out = row * dim + column
        tl.store(total + out, added, mask=inside)
        if WHOLE:
            tl.store(square + out, squared, mask=inside)
            tl.store(most + out, top, mask=inside)
            tl.store(least + out, bottom, mask=inside)
            tl.store(at_most + out, tops, mask=inside)
            tl.store(at_least + out, bottoms, mask=inside)

    @triton.jit  # type: ignore[untyped-decorator]
    def _backward(
        states: Any,
        relations: Any,
        source: Any,
        relation: Any,
        ends: Any,
        by_total: Any,
        by_square: Any,
        by_most: Any,
        by_least: Any,
        most: Any,
        least: Any,
        by_state: Any,
        by_relation: Any,
        dim: Any,
        PRODUCT: tl.constexpr,
        WHOLE: tl.constexpr,
        DIM: tl.constexpr,
        WIDTH: tl.constexpr,
    ) -> None:
        row = tl.program_id(0).to(tl.int64)
        begin, end = tl.load(ends + row), tl.load(ends + row + 1)
        column = tl.arange(0, DIM)
        inside = column < dim
        out = row * dim + column
        of_total = tl.load(by_total + out, mask=inside, other=0.0)[None, :]
        of_square, of_most, of_least, top, bottom = of_total, of_total, of_total, of_total, of_total
        if WHOLE:
            of_square = tl.load(by_square + out, mask=inside, other=0.0)[None, :]
            of_most = tl.load(by_most + out, mask=inside, other=0.0)[None, :]
            of_least = tl.load(by_least + out, mask=inside, other=0.0)[None, :]
            top = tl.load(most + out, mask=inside, other=0.0)[None, :]
            bottom = tl.load(least + out, mask=inside, other=0.0)[None, :]
        for k in range(begin, end, WIDTH):
            place = k + tl.arange(0, WIDTH)
            there = place < end
            mask = there[:, None] & inside[None, :]
            sender = (
                tl.load(source + place, mask=there, other=0).to(tl.int64)[:, None] * dim + column[None, :]
            )
            by = tl.load(relation + place, mask=there, other=0).to(tl.int64)[:, None] * dim + column[None, :]
            sent = tl.load(states + sender, mask=mask, other=0.0)
            vector = tl.load(relations + by, mask=mask, other=0.0)
            slope = tl.zeros_like(sent) + of_total
            if WHOLE:
                received = sent * vector if PRODUCT else sent + vector
                slope += 2.0 * received * of_square
                slope += tl.where(received == top, of_most, 0.0)
                slope += tl.where(received == bottom, of_least, 0.0)
            if PRODUCT:
                tl.atomic_add(by_state + sender, slope * vector, mask=mask, sem="relaxed")
                tl.atomic_add(by_relation + by, slope * sent, mask=mask, sem="relaxed")
            else:
                tl.atomic_add(by_state + sender, slope, mask=mask, sem="relaxed")
                tl.atomic_add(by_relation + by, slope, mask=mask, sem="relaxed")
