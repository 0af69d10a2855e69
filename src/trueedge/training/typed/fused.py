"""Attention over arcs in one pass, for GPUs.

A program computes one head of one node: it reads the arcs of the node in tiles and keeps nothing but sums.
Nodes with many arcs are begun first. After them, all nodes of one head follow each other, so that the head's
values stay in the cache.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from trueedge.training.typed.attention_inputs import ArcIndex, Logits, Mixing

# Arcs whose logits are read at a time.
ARCS = 64
# Numbers of values read at a time, and the threads that read them, in groups of 32.
TILE = 1024
WARPS = 2


def attention(values: Any, logits: Logits, index: ArcIndex, mixing: Mixing) -> tuple[Any, Any, Any]:
    """Return the weighted sums, the softmax and the attention.

    Args:
        values: float32 (n, heads, dim), contiguous, as everything else.
        logits: what attention is computed from.
        index: who receives from whom.
        mixing: how the softmax becomes attention.
    """
    nodes, heads, dim = values.shape
    total, softmax = torch.empty_like(values), values.new_empty(len(index.source), heads)
    plain = mixing.kept is None and mixing.previous is None
    weights = softmax if plain else torch.empty_like(softmax)
    if nodes:
        _attend[(nodes * heads,)](
            *(values, logits.source, logits.target, _or(logits.kind, values)),
            *(index.source, index.kind, index.indptr, index.rows),
            *(_or(mixing.kept, index.source), _or(mixing.previous, values)),
            *(total, softmax, weights, *_order(nodes, index.long_rows), heads, dim),
            *(logits.slope, mixing.share, mixing.beta),
            **_sizes(dim),
            ARCS=ARCS,
            TYPED=logits.kind is not None,
            DROPS=mixing.kept is not None,
            MIXES=mixing.previous is not None,
            num_warps=WARPS,
        )
    return total, softmax, weights


def gradients(
    values: Any, logits: Logits, index: ArcIndex, mixing: Mixing, softmax: Any, weights: Any, slope: Any
) -> list[Any]:
    """Return the gradients with respect to values and the logits of sources, targets and kinds.

    Args:
        softmax, weights: as :func:`attention` returned them.
        slope: with respect to the sums, float32 (n, heads, dim).
    """
    nodes, heads, dim = values.shape
    by_values, by_weights = torch.empty_like(values), torch.empty_like(weights)
    by_source, by_target = torch.zeros_like(logits.source), torch.empty_like(logits.target)
    by_kind = None if logits.kind is None else torch.zeros_like(logits.kind)
    if nodes:
        _value_slopes[(nodes * heads,)](
            *(values, weights, slope, index.target, index.order, index.out_indptr, index.out_rows),
            *(by_values, by_weights, *_order(nodes, index.long_out_rows), heads, dim),
            **_sizes(dim),
            num_warps=WARPS,
        )
        _logit_slopes[(nodes * heads,)](
            *(softmax, logits.source, logits.target, _or(logits.kind, values)),
            *(index.source, index.kind, index.indptr, index.rows, _or(mixing.kept, index.source)),
            *(by_weights, by_source, by_target, *_order(nodes, index.long_rows), heads),
            *(logits.slope, mixing.share),
            ARCS=ARCS,
            TYPED=logits.kind is not None,
            DROPS=mixing.kept is not None,
            num_warps=1,
        )
    if by_kind is not None and len(index.chunks):
        _kind_slopes[(len(index.chunks),)](
            *(by_weights, index.by_kind, index.chunks, by_kind, heads),
            ARCS=ARCS,
            HEADS=triton.next_power_of_2(heads),
            num_warps=4,
        )
    return [by_values, by_source, by_target, by_kind]


def _sizes(dim: int) -> dict[str, int]:
    block = triton.next_power_of_2(dim)
    return {"BLOCK": block, "TILE": max(1, min(ARCS, TILE // block))}


def _order(nodes: int, long_rows: int) -> tuple[int, int]:
    """Return how many nodes are begun first, and how many others there are to divide by."""
    return long_rows, max(1, nodes - long_rows)


def _or(tensor: Any, other: Any) -> Any:
    """Return a tensor that is not read if there is none."""
    return other if tensor is None else tensor


@triton.jit
def _place(rows, long_rows, others, heads):  # type: ignore[no-untyped-def]
    """Return the node and the head of a program."""
    program = tl.program_id(0).to(tl.int64)
    rest = program - long_rows * heads
    is_long = rest < 0
    head = tl.where(is_long, program % heads, rest // others)
    number = tl.where(is_long, program // heads, long_rows + rest % others)
    return tl.load(rows + number).to(tl.int64), head


@triton.jit  # type: ignore[untyped-decorator]
def _raw(  # type: ignore[no-untyped-def]
    source_logits, kind_logits, own, source, kind, arc, there, heads, head, TYPED: tl.constexpr
):
    """Return the sources of arcs, and the sums of their logits."""
    sender = tl.load(source + arc, mask=there, other=0).to(tl.int64)
    raw = own + tl.load(source_logits + sender * heads + head, mask=there, other=0.0)
    if TYPED:
        label = tl.load(kind + arc, mask=there, other=0).to(tl.int64)
        raw += tl.load(kind_logits + label * heads + head, mask=there, other=0.0)
    return sender, raw


@triton.jit  # type: ignore[untyped-decorator]
def _attend(  # type: ignore[no-untyped-def]
    values,
    source_logits,
    target_logits,
    kind_logits,
    source,
    kind,
    indptr,
    rows,
    kept,
    previous,
    total_to,
    softmax_to,
    weights_to,
    long_rows,
    others,
    heads,
    dim,
    negative,
    share,
    beta,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
    ARCS: tl.constexpr,
    TYPED: tl.constexpr,
    DROPS: tl.constexpr,
    MIXES: tl.constexpr,
):
    row, head = _place(rows, long_rows, others, heads)
    begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
    own = tl.load(target_logits + row * heads + head)
    # A lane keeps its own maximum and sum; they are put together once.
    many = tl.arange(0, ARCS)
    tops = tl.full((ARCS,), float("-inf"), tl.float32)
    sums = tl.zeros((ARCS,), tl.float32)
    for first in range(begin, end, ARCS):
        arc = first + many
        there = arc < end
        _, raw = _raw(source_logits, kind_logits, own, source, kind, arc, there, heads, head, TYPED)
        raw = tl.where(raw > 0, raw, negative * raw)
        higher = tl.where(there, tl.maximum(tops, raw), tops)
        sums = tl.where(there, sums * tl.exp(tops - higher) + tl.exp(raw - higher), sums)
        tops = higher
    top = tl.max(tops, 0)
    scale = 1.0 / tl.sum(tl.where(sums > 0, sums * tl.exp(tops - top), 0.0), 0)
    column, each = tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < dim
    # Summed up over the tile once, at the end.
    total = tl.zeros((TILE, BLOCK), tl.float32)
    for first in range(begin, end, TILE):
        arc = first + each
        there = arc < end
        sender, raw = _raw(source_logits, kind_logits, own, source, kind, arc, there, heads, head, TYPED)
        raw = tl.where(raw > 0, raw, negative * raw)
        weight = tl.where(there, tl.exp(raw - top) * scale, 0.0)
        place = arc * heads + head
        if DROPS or MIXES:
            tl.store(softmax_to + place, weight, mask=there)
            weight *= share
        if DROPS:
            weight = tl.where(tl.load(kept + place, mask=there, other=0) != 0, weight, 0.0)
        if MIXES:
            weight += beta * tl.load(previous + place, mask=there, other=0.0)
        tl.store(weights_to + place, weight, mask=there)
        # Dropout removes about half.
        use = (weight != 0)[:, None] & inside[None, :]
        where = (sender * heads + head)[:, None] * dim + column[None, :]
        total += weight[:, None] * tl.load(values + where, mask=use, other=0.0)
    tl.store(total_to + (row * heads + head) * dim + column, tl.sum(total, 0), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _value_slopes(  # type: ignore[no-untyped-def]
    values,
    weights,
    slopes,
    target,
    order,
    out_indptr,
    out_rows,
    values_to,
    weights_to,
    long_rows,
    others,
    heads,
    dim,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
):
    """Read the gradient of each arc's target once, for the gradients of values and of weights."""
    row, head = _place(out_rows, long_rows, others, heads)
    begin, end = tl.load(out_indptr + row), tl.load(out_indptr + row + 1)
    column, each = tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < dim
    own_place = (row * heads + head) * dim + column
    own = tl.load(values + own_place, mask=inside, other=0.0)
    # Summed up over the tile once, at the end.
    total = tl.zeros((TILE, BLOCK), tl.float32)
    for first in range(begin, end, TILE):
        there = first + each < end
        arc = tl.load(order + first + each, mask=there, other=0).to(tl.int64)
        receiver = tl.load(target + arc, mask=there, other=0).to(tl.int64)
        weight = tl.load(weights + arc * heads + head, mask=there, other=0.0)
        use = (weight != 0)[:, None] & inside[None, :]
        where = (receiver * heads + head)[:, None] * dim + column[None, :]
        slope = tl.load(slopes + where, mask=use, other=0.0)
        total += weight[:, None] * slope
        tl.store(weights_to + arc * heads + head, tl.sum(slope * own[None, :], 1), mask=there)
    tl.store(values_to + own_place, tl.sum(total, 0), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _logit_slopes(  # type: ignore[no-untyped-def]
    softmax,
    source_logits,
    target_logits,
    kind_logits,
    source,
    kind,
    indptr,
    rows,
    kept,
    slopes,
    source_to,
    target_to,
    long_rows,
    others,
    heads,
    negative,
    share,
    ARCS: tl.constexpr,
    TYPED: tl.constexpr,
    DROPS: tl.constexpr,
):
    """Replace the gradients of weights by those of the sums of logits, and add these up by node."""
    row, head = _place(rows, long_rows, others, heads)
    begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
    own = tl.load(target_logits + row * heads + head)
    many = tl.arange(0, ARCS)
    means = tl.zeros((ARCS,), tl.float32)
    for first in range(begin, end, ARCS):
        arc = first + many
        there = arc < end
        place = arc * heads + head
        slope = share * tl.load(slopes + place, mask=there, other=0.0)
        if DROPS:
            slope = tl.where(tl.load(kept + place, mask=there, other=0) != 0, slope, 0.0)
        means += slope * tl.load(softmax + place, mask=there, other=0.0)
    mean = tl.sum(means, 0)
    totals = tl.zeros((ARCS,), tl.float32)
    for first in range(begin, end, ARCS):
        arc = first + many
        there = arc < end
        place = arc * heads + head
        slope = share * tl.load(slopes + place, mask=there, other=0.0)
        if DROPS:
            slope = tl.where(tl.load(kept + place, mask=there, other=0) != 0, slope, 0.0)
        slope = tl.load(softmax + place, mask=there, other=0.0) * (slope - mean)
        sender, raw = _raw(source_logits, kind_logits, own, source, kind, arc, there, heads, head, TYPED)
        slope = tl.where(raw > 0, slope, negative * slope)
        totals += tl.where(there, slope, 0.0)
        if TYPED:
            tl.store(slopes + place, slope, mask=there)
        tl.atomic_add(source_to + sender * heads + head, slope, mask=there, sem="relaxed")
    tl.store(target_to + row * heads + head, tl.sum(totals, 0))


@triton.jit  # type: ignore[untyped-decorator]
def _kind_slopes(  # type: ignore[no-untyped-def]
    slopes, by_kind, chunks, kind_to, heads, ARCS: tl.constexpr, HEADS: tl.constexpr
):
    """Add up the gradients of a chunk of arcs of one kind."""
    chunk = tl.program_id(0)
    kind = tl.load(chunks + chunk * 3).to(tl.int64)
    begin, end = tl.load(chunks + chunk * 3 + 1), tl.load(chunks + chunk * 3 + 2)
    many, head = tl.arange(0, ARCS), tl.arange(0, HEADS)
    total = tl.zeros((HEADS,), tl.float32)
    for first in range(begin, end, ARCS):
        there = first + many < end
        arc = tl.load(by_kind + first + many, mask=there, other=0).to(tl.int64)
        use = there[:, None] & (head < heads)[None, :]
        total += tl.sum(tl.load(slopes + arc[:, None] * heads + head[None, :], mask=use, other=0.0), 0)
    tl.atomic_add(kind_to + kind * heads + head, total, mask=head < heads, sem="relaxed")
