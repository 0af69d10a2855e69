"""Distances from the sources of a batch, and the numbers of the rows that they give."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from trueedge.training.paths.edges import Edges

# Distances that a program reads at a time.
SPREAD = 2048
# Rows that a program numbers.
NUMBERED = 1024


def level_distances(edges: Edges, sources: Any, limit: int) -> Any:
    """Return the distance from each source to each entity, uint8 (entities, queries).

    Entities that are further away than ``limit`` get ``limit + 1``. In each level, the entities that are not
    reached yet look for a neighbour that is. The CPU never waits.
    """
    queries = len(sources)
    found = torch.full((edges.num_entities, queries), limit + 1, dtype=torch.uint8, device=edges.device)
    found.scatter_(0, sources.unsqueeze(0), 0)
    block = min(triton.next_power_of_2(max(queries, 1)), 64)
    grid = (edges.num_entities, triton.cdiv(queries, block))
    if not len(edges) or not queries:
        return found
    kept = edges.head if edges.kept is None else edges.kept.view(torch.uint8)
    for level in range(1, limit + 1):
        _reach[grid](
            *(found, edges.head, kept, edges.ends, edges.by_degree, level, queries),
            HAS_KEPT=edges.kept is not None,
            BLOCK=block,
            TILE=max(16, SPREAD // block),
            num_warps=4,
        )
    return found


def number_rows(
    edges: Edges, distance: Any, order: Any, level_starts: Any, queries: int, layers: int, delta: int
) -> tuple[Any, Any]:
    """Return what describes each row and the row of each entity, as a ``WalkedPlan`` has them.

    Args:
        distance: uint8 (entities * queries,), ascending.
        order: int64 (entities * queries,), place in ``edges.by_degree`` * queries + query.
        level_starts: int64 (layers + 2,), the first row of each distance.
    """
    size = edges.num_entities * queries
    described = torch.empty(size, 3, dtype=torch.int32, device=edges.device)
    row_of = torch.empty(edges.num_entities, queries, dtype=torch.int32, device=edges.device)
    if size:
        _number[(triton.cdiv(size, NUMBERED),)](
            *(distance, order, edges.by_degree, level_starts, described, row_of),
            *(size, queries, layers, delta),
            BLOCK=NUMBERED,
        )
    return described, row_of


@triton.jit(do_not_specialize=["level", "queries"])  # type: ignore[untyped-decorator]
def _reach(  # type: ignore[no-untyped-def]
    found,
    head,
    kept,
    ends,
    by_degree,
    level,
    queries,
    HAS_KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
):
    entity = tl.load(by_degree + tl.program_id(0)).to(tl.int64)
    column, each = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < queries
    place = entity * queries + column
    # Distances only shrink to the current level, so programs may read while others write.
    waits = (tl.load(found + place, mask=inside, other=0).to(tl.int32) > level).to(tl.int32)
    first, end = tl.load(ends + entity), tl.load(ends + entity + 1)
    reached = tl.zeros((BLOCK,), tl.int32)
    while (first < end) & (tl.sum(waits * (1 - reached), 0) > 0):
        there = first + each < end
        if HAS_KEPT:
            there = there & (tl.load(kept + first + each, mask=there, other=0) != 0)
        sender = tl.load(head + first + each, mask=there, other=0).to(tl.int64)
        use = there[:, None] & inside[None, :]
        before = tl.load(found + sender[:, None] * queries + column[None, :], mask=use, other=255)
        hit = (before.to(tl.int32) == level - 1).to(tl.int32)
        reached = tl.maximum(reached, tl.max(hit, 0))
        first += TILE
    new = waits * reached
    tl.store(found + place, (new * level).to(tl.uint8), mask=inside & (new > 0))


@triton.jit(do_not_specialize=["size", "queries", "layers", "delta"])  # type: ignore[untyped-decorator]
def _number(  # type: ignore[no-untyped-def]
    distance,
    order,
    by_degree,
    level_starts,
    described,
    row_of,
    size,
    queries,
    layers,
    delta,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = row < size
    far = tl.load(distance + row, mask=there, other=0).to(tl.int32)
    code = tl.load(order + row, mask=there, other=0)
    query, place = code % queries, code // queries
    entity = tl.load(by_degree + place, mask=there, other=0)
    bound = tl.load(level_starts + tl.minimum(far + delta, layers + 1), mask=there, other=0)
    tl.store(described + row * 3, query.to(tl.int32), mask=there)
    tl.store(described + row * 3 + 1, entity, mask=there)
    tl.store(described + row * 3 + 2, bound.to(tl.int32), mask=there)
    number = tl.where(far <= layers, row, -1)
    tl.store(row_of + entity.to(tl.int64) * queries + query, number.to(tl.int32), mask=there)
