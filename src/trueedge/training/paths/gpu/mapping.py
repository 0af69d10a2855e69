"""The linear map of a layer, and all that follows, in one pass over the rows.

Products of matrices are of three products of TensorFloat-32 numbers each, which is as exact as float32.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

# Numbers of a tile of states, and the fewest rows and columns that tensor cores multiply.
SPREAD, LEAST = 2048, 16


def map_and_update(
    states: Any,
    found: Any,
    numbers: Any,
    weight: Any,
    weights: tuple[Any, Any, Any],
    mask: Any,
    eps: float,
    step: Any,
    trained: bool,
) -> tuple[Any, Any]:
    """Return the new states, float (all rows, dim), and what is normalised, float (rows, dim), if trained.

    Args:
        states: float (all rows, dim); rows that receive nothing stay as they are.
        found: float (rows, 4 dim), statistics.
        numbers: float (rows, 4), see :func:`trueedge.training.paths.gpu.pna.aggregate`.
        weight: float (dim, 13 dim), of the state, and of the statistics, plain, times the scale, and divided
            by the scale.
        weights: the additive weights of the layer, and weight and bias of the normalisation; or three None.
        mask: float (rows, dim), the factors of dropout, or None.
        eps: added to the variance.
    """
    total, dim = states.shape
    new, hidden = states.new_empty(total, dim), states.new_empty(len(found) if trained else 0, dim)
    block = max(triton.next_power_of_2(dim), LEAST)
    rows = max(SPREAD // block, LEAST)
    affine = weights[0] is not None
    if total:
        _map_and_update[(triton.cdiv(total, rows),)](
            *(states, found, numbers, weight, *(weights if affine else (states, states, states))),
            *(states if mask is None else mask, hidden, new, step.first, step.last, total, dim, eps),
            AFFINE=affine,
            MASKED=mask is not None,
            TRAINED=trained,
            ROWS=rows,
            BLOCK=block,
            num_warps=4,
        )
    return new, hidden


@triton.jit
def _weights(weight, number, dim, column, inside):  # type: ignore[no-untyped-def]
    """Return a square block of the map, by input and output."""
    place = column[None, :] * 13 * dim + number * dim + column[:, None]
    return tl.load(weight + place, mask=inside[:, None] & inside[None, :], other=0.0)


@triton.jit(do_not_specialize=["first", "last", "total"])  # type: ignore[untyped-decorator]
def _map_and_update(  # type: ignore[no-untyped-def]
    states,
    found,
    numbers,
    weight,
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
    begin = tl.program_id(0).to(tl.int64) * ROWS
    row = begin + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = column < dim
    place = row[:, None] * dim + column[None, :]
    there = (row < total)[:, None] & inside[None, :]
    new = tl.load(states + place, mask=there, other=0.0)
    if (begin < last) & (begin + ROWS > first):
        receives = (row >= first) & (row < last)
        use = receives[:, None] & inside[None, :]
        among = row - first
        hidden = tl.dot(new, _weights(weight, 0, dim, column, inside), input_precision="tf32x3")
        larger = tl.zeros((ROWS, BLOCK), tl.float32)
        smaller = tl.zeros((ROWS, BLOCK), tl.float32)
        for part in tl.range(0, 4, num_stages=1):
            at = among[:, None] * 4 * dim + part * dim + column[None, :]
            one = tl.load(found + at, mask=use, other=0.0)
            by = _weights(weight, 1 + part, dim, column, inside)
            hidden = tl.dot(one, by, hidden, input_precision="tf32x3")
            by = _weights(weight, 5 + part, dim, column, inside)
            larger = tl.dot(one, by, larger, input_precision="tf32x3")
            by = _weights(weight, 9 + part, dim, column, inside)
            smaller = tl.dot(one, by, smaller, input_precision="tf32x3")
        if AFFINE:
            hidden += tl.load(bias + column, mask=inside, other=0.0)[None, :]
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
        new += tl.where(use, added, 0.0)
    tl.store(new_to + place, new, mask=there)
