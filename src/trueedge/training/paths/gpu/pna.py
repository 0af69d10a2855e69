"""Principal neighbourhood aggregation in one pass over the edges.

A program reads the messages of one row, in tiles, and writes mean, maximum, minimum and standard deviation.
The initial state and degree messages count as :class:`trueedge.methods.paths.models.aggregation.Pna` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl

from trueedge.training.paths.gpu.walk import describe, launch, senders


@dataclass(frozen=True)
class Statistics:
    """What is aggregated, and how.

    Attributes:
        product: whether a message is the product of state and relation, or their sum.
        start: whether the initial state counts as a message.
        degree: whether a degree message stands for each pruned edge.
        least_variance, least_scale: lower bounds of the variance and of the divisor of a scale.
    """

    product: bool
    start: bool
    degree: bool
    least_variance: float
    least_scale: float


def aggregate(
    states: Any, relations: Any, query: Any, degree: Any, step: Any, how: Statistics, ties: bool
) -> tuple[Any, Any, Any]:
    """Return statistics (rows, 4 dim), numbers (rows, 4), and ties (rows, 2 dim) if the gradient needs them.

    The numbers of a row are its scale, the inverse of the scale, how many messages it has, at least 1, and
    how many edges are pruned. Its ties are how many messages attain the maximum and the minimum, along edges.

    Args:
        states: float (all rows, dim).
        relations: float (queries * 2R, dim).
        query: float (queries, dim), the initial states of the sources.
        degree: float (dim,), the degree message.
    """
    rows, dim = step.last - step.first, states.shape[1]
    found = states.new_empty(rows, 4 * dim)
    numbers = states.new_empty(rows, 4)
    attained = states.new_empty(rows if ties else 0, 2 * dim)
    if rows:
        edges = step.plan.edges
        arguments = (
            *(edges.relation, states, relations, query, degree if how.degree else query, step.plan.sources),
            *(edges.mean_log_degree, found, numbers, attained, step.first, step.reached),
            *(edges.num_relations, dim, how.least_variance, how.least_scale),
        )
        launch(_aggregate, step, arguments, {**switches_of(how, dim), "TIES": ties})
    return found, numbers, attained


def switches_of(how: Statistics, dim: int) -> dict[str, Any]:
    """Return the switches of the kernels that aggregate."""
    return {
        "BLOCK": triton.next_power_of_2(dim),
        "PRODUCT": how.product,
        "START": how.start,
        "DEGREE": how.degree,
    }


@triton.jit(do_not_specialize=["queries", "longest", "first_row", "reached"])  # type: ignore[untyped-decorator]
def _aggregate(  # type: ignore[no-untyped-def]
    head,
    kept,
    ends,
    row_of,
    described,
    queries,
    chosen,
    longest,
    relation,
    states,
    relations,
    starts,
    degree,
    sources,
    mean_log_degree,
    found_to,
    numbers_to,
    ties_to,
    first_row,
    reached,
    num_relations,
    dim,
    least_variance,
    least_scale,
    HAS_KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
    CHOSEN: tl.constexpr,
    TILE: tl.constexpr,
    PRODUCT: tl.constexpr,
    START: tl.constexpr,
    DEGREE: tl.constexpr,
    TIES: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    if CHOSEN:
        row = tl.load(chosen + program).to(tl.int64)
    else:
        row = program + first_row
    place = row - first_row
    query, entity, bound, begin, end = describe(row, ends, described)
    if not CHOSEN:  # noqa: SIM102
        # A constant of the kernel, then a condition of the row: another launch chooses long rows.
        if end - begin >= longest:
            return
    column, each = tl.arange(0, BLOCK), tl.arange(0, TILE)
    inside = column < dim
    # Each place of a tile has its own sums and extremes, which become one at the end.
    totals = tl.zeros((TILE, BLOCK), tl.float32)
    squares = tl.zeros((TILE, BLOCK), tl.float32)
    tops = tl.full((TILE, BLOCK), float("-inf"), tl.float32)
    bottoms = tl.full((TILE, BLOCK), float("inf"), tl.float32)
    at_tops = tl.zeros((TILE, BLOCK), tl.float32)
    at_bottoms = tl.zeros((TILE, BLOCK), tl.float32)
    enter = tl.zeros((TILE,), tl.float32)
    count = tl.zeros((TILE,), tl.float32)
    edge = begin + each
    there, used, sender = senders(edge, edge < end, query, bound, head, kept, row_of, queries, HAS_KEPT)
    label = query * num_relations + tl.load(relation + edge, mask=used, other=0)
    for first in range(begin, end, TILE):
        use = used[:, None] & inside[None, :]
        # A state that no path has reached is 0, and so is its product with a relation.
        full = use & (sender < reached)[:, None]
        sent = tl.load(states + sender[:, None] * dim + column[None, :], mask=full, other=0.0)
        told = full if PRODUCT else use
        by = tl.load(relations + label[:, None] * dim + column[None, :], mask=told, other=0.0)
        enter += there.to(tl.float32)
        count += used.to(tl.float32)
        # Find the next tile while these arrive: each of these loads waits for the one before.
        edge = first + TILE + each
        there, used, sender = senders(edge, edge < end, query, bound, head, kept, row_of, queries, HAS_KEPT)
        label = query * num_relations + tl.load(relation + edge, mask=used, other=0)
        # Where there is no message, both are 0.
        message = sent * by if PRODUCT else sent + by
        totals += message
        squares += message * message
        high = tl.where(use, message, float("-inf"))
        low = tl.where(use, message, float("inf"))
        if TIES:
            at_tops = tl.where(high > tops, 1.0, at_tops + tl.where(use & (high == tops), 1.0, 0.0))
            at_bottoms = tl.where(low < bottoms, 1.0, at_bottoms + tl.where(use & (low == bottoms), 1.0, 0.0))
        tops, bottoms = tl.maximum(tops, high), tl.minimum(bottoms, low)
    total, square = tl.sum(totals, 0), tl.sum(squares, 0)
    most, least = tl.max(tops, 0), tl.min(bottoms, 0)
    number = tl.sum(count, 0)
    pruned = tl.sum(enter, 0) - number
    along_most, along_least = most, least
    logged = number + 1.0
    if START:
        own = inside & (tl.load(sources + query) == entity)
        start = tl.load(starts + query * dim + column, mask=own, other=0.0)
        total += start
        square += start * start
        most, least = tl.maximum(most, start), tl.minimum(least, start)
        number += 1.0
    if DEGREE:
        extra = tl.load(degree + column, mask=inside, other=0.0)
        total += pruned * extra
        square += pruned * (extra * extra)
        most = tl.where(pruned > 0, tl.maximum(most, extra), most)
        least = tl.where(pruned > 0, tl.minimum(least, extra), least)
        number += pruned
        logged += pruned
    if TIES:
        at_most = tl.sum(tl.where(tops == along_most[None, :], at_tops, 0.0), 0)
        at_least = tl.sum(tl.where(bottoms == along_least[None, :], at_bottoms, 0.0), 0)
        at = place * 2 * dim + column
        tl.store(ties_to + at, tl.where(along_most == most, at_most, 0.0), mask=inside)
        tl.store(ties_to + at + dim, tl.where(along_least == least, at_least, 0.0), mask=inside)
    most = tl.where(tl.abs(most) == float("inf"), 0.0, most)
    least = tl.where(tl.abs(least) == float("inf"), 0.0, least)
    divisor = tl.maximum(number, 1.0)
    mean = total / divisor
    deviation = tl.sqrt(tl.maximum(square / divisor - mean * mean, least_variance))
    at = place * 4 * dim + column
    tl.store(found_to + at, mean, mask=inside)
    tl.store(found_to + at + dim, most, mask=inside)
    tl.store(found_to + at + 2 * dim, least, mask=inside)
    tl.store(found_to + at + 3 * dim, deviation, mask=inside)
    # With the initial state as a message, log(number) has the same argument as log(degree + 1).
    scale = tl.log(logged) / tl.load(mean_log_degree)
    tl.store(numbers_to + place * 4, scale)
    tl.store(numbers_to + place * 4 + 1, 1.0 / tl.maximum(scale, least_scale))
    tl.store(numbers_to + place * 4 + 2, divisor)
    tl.store(numbers_to + place * 4 + 3, pruned)
