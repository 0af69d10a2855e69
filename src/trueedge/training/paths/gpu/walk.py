"""How a kernel walks along the edges that enter the entity of a row."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

# Edges read at a time, and the threads that read them, in groups of 32: for short rows and for long ones.
SHORT_TILE, SHORT_WARPS = 8, 1
LONG_TILE, LONG_WARPS = 64, 8
# Edges that a program counts at a time.
COUNTED = 64


def walk_arguments(plan: Any) -> tuple[tuple[Any, ...], dict[str, bool]]:
    """Return what all kernels that walk begin with, and their switches."""
    edges = plan.edges
    arrays = (
        edges.head,
        # Never read if nothing is removed.
        edges.head if edges.kept is None else edges.kept.view(torch.uint8),
        edges.ends,
        plan.row_of,
        plan.described,
        plan.num_queries,
    )
    return arrays, {"HAS_KEPT": edges.kept is not None}


def launch(kernel: Any, step: Any, arguments: tuple[Any, ...], switches: dict[str, Any]) -> None:
    """Run a kernel on all rows of a step, with more threads for long rows."""
    plan = step.plan
    arrays, more = walk_arguments(plan)
    chosen = plan.long_rows[step.first_long : step.last_long]
    if len(chosen):
        kernel[(len(chosen),)](
            *(*arrays, chosen, plan.longest, *arguments),
            **{**more, **switches, "CHOSEN": True, "TILE": LONG_TILE, "num_warps": LONG_WARPS},
        )
    kernel[(step.last - step.first,)](
        *(*arrays, plan.long_rows, plan.longest, *arguments),
        **{**more, **switches, "CHOSEN": False, "TILE": SHORT_TILE, "num_warps": SHORT_WARPS},
    )


def count_messages(plan: Any) -> Any:
    """Return the number of messages that each row receives, int32 (rows,)."""
    counts = torch.zeros(plan.num_rows, dtype=torch.int32, device=plan.row_of.device)
    arrays, switches = walk_arguments(plan)
    if plan.num_rows:
        _count[(plan.num_rows,)](*arrays, counts, **switches, TILE=COUNTED, num_warps=1)
    return counts


@triton.jit
def describe(row, ends, described):  # type: ignore[no-untyped-def]
    """Return the query and entity of a row, its bound of senders, and where its edges begin and end."""
    query = tl.load(described + row * 3).to(tl.int64)
    entity = tl.load(described + row * 3 + 1).to(tl.int64)
    bound = tl.load(described + row * 3 + 2).to(tl.int64)
    return query, entity, bound, tl.load(ends + entity), tl.load(ends + entity + 1)


@triton.jit  # type: ignore[untyped-decorator]
def senders(  # type: ignore[no-untyped-def]
    edge, there, query, bound, head, kept, row_of, queries, HAS_KEPT: tl.constexpr
):
    """Return which edges are kept, which of them pass a message, and the rows that these come from."""
    if HAS_KEPT:
        there = there & (tl.load(kept + edge, mask=there, other=0) != 0)
    place = tl.load(head + edge, mask=there, other=0).to(tl.int64) * queries + query
    sender = tl.load(row_of + place, mask=there, other=-1).to(tl.int64)
    return there, there & (sender >= 0) & (sender < bound), sender


@triton.jit(do_not_specialize=["queries"])  # type: ignore[untyped-decorator]
def _count(  # type: ignore[no-untyped-def]
    head,
    kept,
    ends,
    row_of,
    described,
    queries,
    counts,
    HAS_KEPT: tl.constexpr,
    TILE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    query, _entity, bound, begin, end = describe(row, ends, described)
    each = tl.arange(0, TILE)
    count = tl.zeros((TILE,), tl.int32)
    for first in range(begin, end, TILE):
        edge = first + each
        _there, used, _sender = senders(edge, edge < end, query, bound, head, kept, row_of, queries, HAS_KEPT)
        count += used.to(tl.int32)
    tl.store(counts + row, tl.sum(count, 0))
