"""The gradients of principal neighbourhood aggregation, in one more pass over the edges."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from trueedge.training.paths.gpu.pna import Statistics, switches_of
from trueedge.training.paths.gpu.walk import describe, launch, senders

# Sums of the gradient of the degree message, so that few programs wait for each other.
COPIES = 64


def spread(
    states: Any,
    relations: Any,
    query: Any,
    degree: Any,
    step: Any,
    how: Statistics,
    kept: tuple[Any, Any, Any],
    slope: Any,
    by_state: Any,
) -> tuple[Any, Any, Any]:
    """Return the gradients with respect to relations, query and degree; add that of states to ``by_state``.

    Args:
        kept: the results of :func:`trueedge.training.paths.gpu.pna.aggregate`.
        slope: float (rows, 4 dim), the gradient with respect to the statistics.
        by_state: float (all rows, dim).
    """
    rows, dim = step.last - step.first, states.shape[1]
    by_relation, by_query = torch.zeros_like(relations), torch.zeros_like(query)
    by_degree = states.new_zeros(COPIES if how.degree else 0, dim)
    if rows:
        edges = step.plan.edges
        arguments = (
            *(edges.relation, states, relations, query, degree if how.degree else query, step.plan.sources),
            *kept,
            *(slope, by_state, by_relation, by_query, by_degree),
            # A little more, since the root of a GPU is not exact.
            *(step.first, step.reached, edges.num_relations, dim, 1.00001 * how.least_variance**0.5),
        )
        launch(_spread, step, arguments, {**switches_of(how, dim), "COPIES": COPIES})
    return by_relation, by_query, by_degree.sum(0) if how.degree else None


@triton.jit  # type: ignore[untyped-decorator]
def _shares(slope, at, ties, start, extra, missing, START: tl.constexpr, DEGREE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return the gradient of an extreme for a message that attains it, the initial state, the degree message.

    As in torch: at a tie, both of two get one half, and messages along edges share what they get.
    """
    along = ties > 0
    of_edges = tl.where(along, slope, 0.0)
    of_start = tl.zeros_like(slope)
    of_degree = tl.zeros_like(slope)
    others = along
    if START:
        same = start == at
        of_start = tl.where(same, tl.where(along, 0.5 * slope, slope), 0.0)
        of_edges = tl.where(same, 0.5 * of_edges, of_edges)
        others = along | same
    if DEGREE:
        same = (extra == at) & (missing > 0)
        of_degree = tl.where(same, tl.where(others, 0.5 * slope, slope), 0.0)
        of_edges = tl.where(same, 0.5 * of_edges, of_edges)
        of_start = tl.where(same, 0.5 * of_start, of_start)
    return of_edges / tl.maximum(ties, 1.0), of_start, of_degree


@triton.jit(do_not_specialize=["queries", "longest", "first_row", "reached"])  # type: ignore[untyped-decorator]
def _spread(  # type: ignore[no-untyped-def]
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
    found,
    numbers,
    ties,
    slope,
    state_to,
    relation_to,
    start_to,
    degree_to,
    first_row,
    reached,
    num_relations,
    dim,
    least_deviation,
    HAS_KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
    CHOSEN: tl.constexpr,
    TILE: tl.constexpr,
    PRODUCT: tl.constexpr,
    START: tl.constexpr,
    DEGREE: tl.constexpr,
    COPIES: tl.constexpr,
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
    at = place * 4 * dim + column
    mean = tl.load(found + at, mask=inside, other=0.0)
    most = tl.load(found + at + dim, mask=inside, other=0.0)
    least = tl.load(found + at + 2 * dim, mask=inside, other=0.0)
    deviation = tl.load(found + at + 3 * dim, mask=inside, other=1.0)
    by_mean = tl.load(slope + at, mask=inside, other=0.0)
    by_most = tl.load(slope + at + dim, mask=inside, other=0.0)
    by_least = tl.load(slope + at + 2 * dim, mask=inside, other=0.0)
    by_deviation = tl.load(slope + at + 3 * dim, mask=inside, other=0.0)
    divisor, pruned = tl.load(numbers + place * 4 + 2), tl.load(numbers + place * 4 + 3)
    # A variance at its lower bound has no gradient. The slope of a message x is constant + factor * x, and
    # more where it attains an extreme.
    factor = tl.where(deviation > least_deviation, by_deviation / deviation, 0.0) / divisor
    constant = by_mean / divisor - factor * mean
    start = tl.zeros((BLOCK,), tl.float32)
    extra = tl.zeros((BLOCK,), tl.float32)
    missing = pruned.to(tl.int32)
    if START:
        is_source = tl.load(sources + query) == entity
        start = tl.load(starts + query * dim + column, mask=inside & is_source, other=0.0)
    if DEGREE:
        extra = tl.load(degree + column, mask=inside, other=0.0)
    at_most = tl.load(ties + place * 2 * dim + column, mask=inside, other=0.0)
    at_least = tl.load(ties + place * 2 * dim + dim + column, mask=inside, other=0.0)
    to_most, start_most, degree_most = _shares(by_most, most, at_most, start, extra, missing, START, DEGREE)
    to_least, start_least, degree_least = _shares(
        by_least, least, at_least, start, extra, missing, START, DEGREE
    )
    if START:
        own = constant + factor * start + start_most + start_least
        tl.store(start_to + query * dim + column, own, mask=inside & is_source)
    if DEGREE:
        own = pruned * (constant + factor * extra) + degree_most + degree_least
        copy = (place % COPIES) * dim + column
        tl.atomic_add(degree_to + copy, own, mask=inside & (missing > 0), sem="relaxed")
    edge = begin + each
    _there, used, sender = senders(edge, edge < end, query, bound, head, kept, row_of, queries, HAS_KEPT)
    label = query * num_relations + tl.load(relation + edge, mask=used, other=0)
    for first in range(begin, end, TILE):
        use = used[:, None] & inside[None, :]
        from_state = sender[:, None] * dim + column[None, :]
        from_relation = label[:, None] * dim + column[None, :]
        # A state that no path has reached is a constant 0: it has no gradient, and gives its relation none.
        full = use & (sender < reached)[:, None]
        told = full if PRODUCT else use
        sent = tl.load(states + from_state, mask=full, other=0.0)
        by = tl.load(relations + from_relation, mask=told, other=0.0)
        edge = first + TILE + each
        _there, used, sender = senders(edge, edge < end, query, bound, head, kept, row_of, queries, HAS_KEPT)
        label = query * num_relations + tl.load(relation + edge, mask=used, other=0)
        message = sent * by if PRODUCT else sent + by
        gradient = constant[None, :] + factor[None, :] * message
        gradient += tl.where(message == most[None, :], to_most[None, :], 0.0)
        gradient += tl.where(message == least[None, :], to_least[None, :], 0.0)
        if PRODUCT:
            tl.atomic_add(state_to + from_state, gradient * by, mask=full, sem="relaxed")
            tl.atomic_add(relation_to + from_relation, gradient * sent, mask=full, sem="relaxed")
        else:
            tl.atomic_add(state_to + from_state, gradient, mask=full, sem="relaxed")
            tl.atomic_add(relation_to + from_relation, gradient, mask=use, sem="relaxed")
