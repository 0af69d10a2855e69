"""Distances from the sources of a batch, and the numbers of the rows that they give."""

from __future__ import annotations

from dataclasses import dataclass
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

    Entities that are further away than ``limit`` get ``limit + 1``. In each level, all edges look for a head
    that was reached in the last one. The CPU never waits.
    """
    queries = len(sources)
    found = torch.full((edges.num_entities, queries), limit + 1, dtype=torch.uint8, device=edges.device)
    found.scatter_(0, sources.unsqueeze(0), 0)
    block = min(triton.next_power_of_2(max(queries, 1)), 64)
    tile = max(16, SPREAD // block)
    grid = (triton.cdiv(len(edges), tile), triton.cdiv(queries, block))
    if not len(edges) or not queries:
        return found
    kept = edges.head if edges.kept is None else edges.kept.view(torch.uint8)
    for level in range(1, limit + 1):
        _reach[grid](
            *(found, edges.head, edges.tail, kept, level, queries, len(edges)),
            HAS_KEPT=edges.kept is not None,
            BLOCK=block,
            TILE=tile,
            num_warps=4,
        )
    return found


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """The rows of a ``WalkedPlan``, before the CPU knows how many there are.

    Attributes:
        row_of, described, starts: as the plan has them.
        distance, long_rows: the same; what follows the last row that is reached means nothing.
        level_starts: int64 (2, layers + 2), the first row of each distance, and its place in ``long_rows``,
            counted from the number of all entities and queries.
    """

    row_of: Any
    described: Any
    starts: Any
    distance: Any
    long_rows: Any
    level_starts: Any


def number_rows(edges: Edges, found: Any, num_long: int, layers: int, delta: int) -> NumberedRows:
    """Return the rows of all entities that are reached, by distance, by degree and by query.

    Args:
        found: uint8 (entities, queries), distances.
        num_long: the rows of so many entities, those of the highest degrees, are long.
        layers: number of rounds.
        delta: how much longer than the shortest path a path may be.
    """
    device, (entities, queries) = edges.device, found.shape
    size, levels = entities * queries, layers + 2
    blocks = max(triton.cdiv(size, NUMBERED), 1)
    described = torch.empty(size, 3, dtype=torch.int32, device=device)
    row_of = torch.empty(entities, queries, dtype=torch.int32, device=device)
    distance = torch.empty(size, dtype=torch.uint8, device=device)
    starts = torch.empty(queries, dtype=torch.int64, device=device)
    long_rows = torch.empty(num_long * queries, dtype=torch.int32, device=device)
    # How many rows each program finds at each distance, and how many long ones.
    counts = torch.zeros(1 + 2 * levels * blocks, dtype=torch.int32, device=device)
    given = found, edges.by_degree, size, max(queries, 1), len(long_rows), layers
    _tally[(blocks,)](*given, counts, BLOCK=NUMBERED)
    before = counts.cumsum(0)
    arrays = described, row_of, distance, starts, long_rows
    _number[(blocks,)](*given, before, *arrays, delta, BLOCK=NUMBERED)
    level_starts = before[:-1].view(2, levels, blocks)[:, :, 0]
    return NumberedRows(row_of, described, starts, distance, long_rows, level_starts)


@triton.jit(do_not_specialize=["level", "queries", "size"])  # type: ignore[untyped-decorator]
def _reach(  # type: ignore[no-untyped-def]
    found,
    head,
    tail,
    kept,
    level,
    queries,
    size,
    HAS_KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
    TILE: tl.constexpr,
):
    edge = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    there = edge < size
    if HAS_KEPT:
        there = there & (tl.load(kept + edge, mask=there, other=0) != 0)
    sender = tl.load(head + edge, mask=there, other=0).to(tl.int64)
    receiver = tl.load(tail + edge, mask=there, other=0).to(tl.int64)
    use = there[:, None] & (column < queries)[None, :]
    before = tl.load(found + sender[:, None] * queries + column[None, :], mask=use, other=255).to(tl.int32)
    hit = use & (before == level - 1)
    # Distances only shrink to the current level, so programs may read while others write.
    place = receiver[:, None] * queries + column[None, :]
    own = tl.load(found + place, mask=hit, other=0).to(tl.int32)
    new = tl.zeros((TILE, BLOCK), tl.int32) + level
    tl.store(found + place, new.to(tl.uint8), mask=hit & (own > level))


@triton.jit
def _far(found, by_degree, place, there, queries):  # type: ignore[no-untyped-def]
    """Return query, entity and distance of a place in the order of degrees and queries."""
    query = place % queries
    entity = tl.load(by_degree + place // queries, mask=there, other=0).to(tl.int64)
    far = tl.load(found + entity * queries + query, mask=there, other=255).to(tl.int32)
    return query, entity, far


@triton.jit(do_not_specialize=["size", "queries", "long_size", "layers"])  # type: ignore[untyped-decorator]
def _tally(  # type: ignore[no-untyped-def]
    found, by_degree, size, queries, long_size, layers, counts, BLOCK: tl.constexpr
):
    program, blocks = tl.program_id(0), tl.num_programs(0)
    place = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = place < size
    _query, _entity, far = _far(found, by_degree, place, there, queries)
    # The first count is that of nothing, so that running sums are where rows begin.
    for level in range(layers + 2):
        here = there & (far == level)
        long = here & (place < long_size)
        tl.store(counts + 1 + level * blocks + program, tl.sum(here.to(tl.int32), 0))
        tl.store(counts + 1 + (layers + 2 + level) * blocks + program, tl.sum(long.to(tl.int32), 0))


@triton.jit(do_not_specialize=["size", "queries", "long_size", "layers", "delta"])  # type: ignore[untyped-decorator]
def _number(  # type: ignore[no-untyped-def]
    found,
    by_degree,
    size,
    queries,
    long_size,
    layers,
    before,
    described,
    row_of,
    distance,
    starts,
    long_rows,
    delta,
    BLOCK: tl.constexpr,
):
    program, blocks = tl.program_id(0), tl.num_programs(0)
    place = program.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = place < size
    query, entity, far = _far(found, by_degree, place, there, queries)
    row = tl.full((BLOCK,), -1, tl.int64)
    for level in range(layers + 1):
        here = far == level
        among = tl.cumsum(here.to(tl.int32), 0) - 1
        row = tl.where(here, tl.load(before + level * blocks + program) + among, row)
    reached = row >= 0
    tl.store(row_of + entity * queries + query, row.to(tl.int32), mask=there)
    bound = tl.load(before + tl.minimum(far + delta, layers + 1) * blocks, mask=reached, other=0)
    tl.store(described + row * 3, query.to(tl.int32), mask=reached)
    tl.store(described + row * 3 + 1, entity.to(tl.int32), mask=reached)
    tl.store(described + row * 3 + 2, bound.to(tl.int32), mask=reached)
    tl.store(distance + row, far.to(tl.uint8), mask=reached)
    tl.store(starts + query, row, mask=reached & (far == 0))
    # The long rows of a distance come first.
    long = reached & (place < long_size)
    first = tl.load(before + far * blocks, mask=long, other=0)
    first_long = tl.load(before + (layers + 2 + far) * blocks, mask=long, other=0) - size
    tl.store(long_rows + first_long + row - first, row.to(tl.int32), mask=long)
