"""The logits of all entities in one pass over them."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F  # noqa: N812
import triton
import triton.language as tl

# Numbers of a tile of hidden states, and the fewest rows and columns that tensor cores multiply.
SPREAD, LEAST = 4096, 16
# The largest states whose map fits into shared memory.
LARGEST_SCORED = 64


def score_entities(states: Any, plan: Any, query: Any, hidden: Any, out: Any) -> Any:
    """Return the logit of each entity, float (queries, entities); the state of one out of reach is 0.

    Args:
        states: float (rows, dim); dim is at most ``LARGEST_SCORED``.
        plan: a ``WalkedPlan``.
        query: float (queries, dim), the initial states of the sources.
        hidden, out: the two linear maps of an MLP on a state and its query.
    """
    dim, (entities, queries) = states.shape[1], plan.row_of.shape
    width = hidden.out_features
    # The part of the query is the same for all entities.
    shared = F.linear(query, hidden.weight[:, dim:], hidden.bias)
    scores = states.new_empty(queries, entities)
    block = max(triton.next_power_of_2(dim), LEAST)
    wide = max(triton.next_power_of_2(width), LEAST)
    rows = max(SPREAD // wide, LEAST)
    if entities * queries:
        _score[(triton.cdiv(entities * queries, rows),)](
            *(states, plan.row_of, shared, hidden.weight, out.weight, out.bias, scores),
            *(entities, queries, dim, width),
            ROWS=rows,
            BLOCK=block,
            WIDE=wide,
            num_warps=4,
        )
    return scores


@triton.jit(do_not_specialize=["entities", "queries"])  # type: ignore[untyped-decorator]
def _score(  # type: ignore[no-untyped-def]
    states,
    row_of,
    shared,
    weight,
    out_weight,
    out_bias,
    scores,
    entities,
    queries,
    dim,
    width,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    WIDE: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column, unit = tl.arange(0, BLOCK), tl.arange(0, WIDE)
    inside, within = column < dim, unit < width
    entity, query = place // queries, place % queries
    there = entity < entities
    row = tl.load(row_of + place, mask=there, other=-1).to(tl.int64)
    use = (row >= 0)[:, None] & inside[None, :]
    state = tl.load(states + row[:, None] * dim + column[None, :], mask=use, other=0.0)
    # The first columns of the map are those of the state.
    by = tl.load(
        weight + unit[None, :] * 2 * dim + column[:, None],
        mask=inside[:, None] & within[None, :],
        other=0.0,
    )
    own = tl.load(
        shared + query[:, None] * width + unit[None, :], mask=there[:, None] & within[None, :], other=0.0
    )
    hidden = tl.maximum(tl.dot(state, by, own, input_precision="tf32x3"), 0.0)
    by_unit = tl.load(out_weight + unit, mask=within, other=0.0)
    logit = tl.sum(hidden * by_unit[None, :], 1) + tl.load(out_bias)
    tl.store(scores + query * entities + entity, logit, mask=there)
