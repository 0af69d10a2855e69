"""The end of a layer in one pass over the rows: scales, normalisation, ReLU, dropout, and the old state."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

# Numbers that a program reads at a time.
SPREAD = 1024


def update(
    states: Any,
    mapped: Any,
    numbers: Any,
    weights: tuple[Any, Any, Any],
    mask: Any,
    eps: float,
    step: Any,
    trained: bool,
) -> tuple[Any, Any]:
    """Return the new states, float (all rows, dim), and what is normalised, float (rows, dim), if trained.

    Args:
        states: float (all rows, dim); rows that receive nothing stay as they are.
        mapped: float (rows, 3 dim), to be added plainly, times the scale, and divided by the scale.
        numbers: float (rows, 4), see :func:`trueedge.training.paths.gpu.pna.aggregate`.
        weights: the additive weights of the layer, and weight and bias of the normalisation; or three None.
        mask: float (rows, dim), the factors of dropout, or None.
        eps: added to the variance.
    """
    total, dim = states.shape
    new, hidden = states.new_empty(total, dim), mapped.new_empty(len(mapped) if trained else 0, dim)
    block, rows = _tile(dim)
    if total:
        _update[(triton.cdiv(total, rows),)](
            *(states, mapped, numbers, *_given(weights, states), states if mask is None else mask),
            *(hidden, new, step.first, step.last, total, dim, eps),
            AFFINE=weights[0] is not None,
            MASKED=mask is not None,
            TRAINED=trained,
            ROWS=rows,
            BLOCK=block,
        )
    return new, hidden


def update_gradients(
    slope: Any, hidden: Any, numbers: Any, weights: tuple[Any, Any, Any], mask: Any, eps: float, step: Any
) -> tuple[Any, Any]:
    """Return the gradients with respect to ``mapped``, and to the three weights, float (3, dim).

    Args:
        slope: float (all rows, dim), the gradient with respect to the new states.
        hidden: what was normalised.
    """
    rows, dim = hidden.shape
    block, size = _tile(dim)
    programs = triton.cdiv(rows, size)
    affine = weights[0] is not None
    by_mapped = hidden.new_empty(rows, 3 * dim)
    by_weights = hidden.new_empty(programs if affine else 0, 3, dim)
    if rows:
        _update_gradients[(programs,)](
            *(slope, hidden, numbers, *_given(weights, hidden)[1:], hidden if mask is None else mask),
            *(by_mapped, by_weights, step.first, rows, dim, eps),
            AFFINE=affine,
            MASKED=mask is not None,
            ROWS=size,
            BLOCK=block,
        )
    return by_mapped, by_weights.sum(0)


def _tile(dim: int) -> tuple[int, int]:
    """Return the number of columns and rows of a program."""
    block = triton.next_power_of_2(dim)
    return block, max(1, SPREAD // block)


def _given(weights: tuple[Any, Any, Any], other: Any) -> tuple[Any, Any, Any]:
    """Return the weights, or something in their place that is never read."""
    return (other, other, other) if weights[0] is None else weights


@triton.jit(do_not_specialize=["first", "last", "total"])  # type: ignore[untyped-decorator]
def _update(  # type: ignore[no-untyped-def]
    states,
    mapped,
    numbers,
    bias,
    gain,
    shift,
    mask,
    hidden_to,
    new_to,
    first,
    last,
    total,
    dim,
    eps,
    AFFINE: tl.constexpr,
    MASKED: tl.constexpr,
    TRAINED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = column < dim
    receives = (row >= first) & (row < last)
    place = row[:, None] * dim + column[None, :]
    own = tl.load(states + place, mask=(row < total)[:, None] & inside[None, :], other=0.0)
    use = receives[:, None] & inside[None, :]
    among = row - first
    at = among[:, None] * 3 * dim + column[None, :]
    hidden = tl.load(mapped + at, mask=use, other=0.0)
    if AFFINE:
        hidden += tl.load(bias + column, mask=inside, other=0.0)[None, :]
    larger = tl.load(mapped + at + dim, mask=use, other=0.0)
    smaller = tl.load(mapped + at + 2 * dim, mask=use, other=0.0)
    hidden += tl.load(numbers + among * 4, mask=receives, other=0.0)[:, None] * larger
    hidden += tl.load(numbers + among * 4 + 1, mask=receives, other=0.0)[:, None] * smaller
    if TRAINED:
        tl.store(hidden_to + among[:, None] * dim + column[None, :], hidden, mask=use)
    mean = tl.sum(hidden, 1) / dim
    centred = tl.where(inside[None, :], hidden - mean[:, None], 0.0)
    scaled = centred * (1.0 / tl.sqrt(tl.sum(centred * centred, 1) / dim + eps))[:, None]
    if AFFINE:
        scaled = scaled * tl.load(gain + column, mask=inside, other=0.0)[None, :]
        scaled += tl.load(shift + column, mask=inside, other=0.0)[None, :]
    added = tl.maximum(scaled, 0.0)
    if MASKED:
        added = added * tl.load(mask + among[:, None] * dim + column[None, :], mask=use, other=0.0)
    new = own + tl.where(use, added, 0.0)
    tl.store(new_to + place, new, mask=(row < total)[:, None] & inside[None, :])


@triton.jit(do_not_specialize=["first", "rows"])  # type: ignore[untyped-decorator]
def _update_gradients(  # type: ignore[no-untyped-def]
    slope,
    hidden_at,
    numbers,
    gain,
    shift,
    mask,
    mapped_to,
    weights_to,
    first,
    rows,
    dim,
    eps,
    AFFINE: tl.constexpr,
    MASKED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    row = program * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    there, inside = row < rows, column < dim
    use = there[:, None] & inside[None, :]
    place = row[:, None] * dim + column[None, :]
    hidden = tl.load(hidden_at + place, mask=use, other=0.0)
    mean = tl.sum(hidden, 1) / dim
    centred = tl.where(inside[None, :], hidden - mean[:, None], 0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(centred * centred, 1) / dim + eps)
    scaled = centred * inverse[:, None]
    gradient = tl.load(slope + first.to(tl.int64) * dim + place, mask=use, other=0.0)
    if MASKED:
        gradient = gradient * tl.load(mask + place, mask=use, other=0.0)
    positive = scaled
    if AFFINE:
        weight = tl.load(gain + column, mask=inside, other=0.0)[None, :]
        positive = scaled * weight + tl.load(shift + column, mask=inside, other=0.0)[None, :]
    gradient = tl.where(positive > 0, gradient, 0.0)
    by_scaled = gradient
    if AFFINE:
        by_scaled = gradient * weight
    by_mean = tl.sum(by_scaled, 1) / dim
    along = tl.sum(by_scaled * scaled, 1) / dim
    by_hidden = (by_scaled - by_mean[:, None] - scaled * along[:, None]) * inverse[:, None]
    by_hidden = tl.where(use, by_hidden, 0.0)
    at = row[:, None] * 3 * dim + column[None, :]
    larger = tl.load(numbers + row * 4, mask=there, other=0.0)[:, None]
    smaller = tl.load(numbers + row * 4 + 1, mask=there, other=0.0)[:, None]
    tl.store(mapped_to + at, by_hidden, mask=use)
    tl.store(mapped_to + at + dim, by_hidden * larger, mask=use)
    tl.store(mapped_to + at + 2 * dim, by_hidden * smaller, mask=use)
    if AFFINE:
        sums = weights_to + program * 3 * dim + column
        tl.store(sums, tl.sum(by_hidden, 0), mask=inside)
        tl.store(sums + dim, tl.sum(gradient * scaled, 0), mask=inside)
        tl.store(sums + 2 * dim, tl.sum(gradient, 0), mask=inside)
