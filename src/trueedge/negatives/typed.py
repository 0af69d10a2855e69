"""Negatives of typed links: for each head, tails of the right type, two steps away or anywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError, unknown
from trueedge.graph.typed import HeteroGraph
from trueedge.randomness import generator

KINDS = ("two-hop", "random")
# Heads whose candidates are listed at a time.
_BLOCK = 512


def typed_negatives(
    graph: HeteroGraph,
    relation: int,
    positives: NDArray[np.integer],
    known: Sequence[NDArray[np.integer]],
    kind: str = "two-hop",
    seed: int = 0,
) -> NDArray[np.int32]:
    """Draw for each head as many distinct tails as it has positives, int32 (m, 2); none is a known link.

    Heads with too few tails two steps away get random ones besides, and heads that are linked to every tail
    get none. The pairs of a head stand together.

    Args:
        graph: steps are taken along its edges of all relations, in both directions.
        relation: the relation of the links.
        positives: int (p, 2), source and target of each link.
        known: further links of the relation, each int (m, 2); the edges of the graph are known too.
        kind: ``two-hop`` or ``random``.
        seed: the same seed gives the same pairs on every machine.

    Lv et al., Are We Really Making Much Progress?, KDD 2021, Section 4.2.2; there, tails are drawn with
    repetition.
    """
    from scipy.sparse import csr_array

    if kind not in KINDS:
        raise unknown("kind of typed negatives", kind, KINDS)
    _, _, tail_type = graph.relations[relation]
    first, last = (int(one) for one in graph.starts[tail_type : tail_type + 2])
    links = np.concatenate([graph.edges[relation], positives, *known]).astype(np.int64)
    steps = np.concatenate([*graph.edges, positives, *known]).astype(np.int64)
    count = graph.num_nodes
    both = np.concatenate([steps, steps[:, ::-1]])
    adjacency = csr_array((np.ones(len(both), np.int32), both.T), shape=(count, count))
    is_link = csr_array((np.ones(len(links), np.int32), links.T), shape=(count, count))
    if graph.relations[relation].source == tail_type:
        # Between nodes of one type, a link in the other direction is a link.
        is_link = is_link + is_link.T
    to_tails = adjacency[:, first:last]
    heads, wanted = np.unique(positives[:, 0], return_counts=True)
    rng = generator(seed, "typed negatives", kind, relation)
    found: list[NDArray[np.int64]] = []
    for begin in range(0, len(heads), _BLOCK):
        block = heads[begin : begin + _BLOCK]
        near = adjacency[block] @ to_tails if kind == "two-hop" else None
        for row, head in enumerate(block):
            taken = np.append(is_link.indices[is_link.indptr[head] : is_link.indptr[head + 1]], head)
            amount = int(wanted[begin + row])
            chosen = np.empty(0, dtype=np.int64)
            if near is not None:
                close = near.indices[near.indptr[row] : near.indptr[row + 1]] + first
                close = np.setdiff1d(close, taken)
                chosen = rng.permutation(close)[:amount].astype(np.int64)
            if len(chosen) < amount:
                chosen = _filled(rng, chosen, taken, first, last, amount)
            found.append(np.column_stack([np.full(len(chosen), head), chosen]))
    made = np.concatenate(found).astype(np.int32)
    if not len(made):
        name = graph.relations[relation].name
        raise InputError(
            f"{graph.name}: the heads of {name!r} are linked to every node, there are no negatives"
        )
    return made


def _filled(
    rng: np.random.Generator,
    chosen: NDArray[np.int64],
    taken: NDArray[np.integer],
    first: int,
    last: int,
    amount: int,
) -> NDArray[np.int64]:
    """Add random tails that are neither chosen nor taken, up to an amount."""
    refused = np.union1d(chosen, taken)
    free = last - first - int(np.count_nonzero((refused >= first) & (refused < last)))
    amount = min(amount, len(chosen) + free)
    if 4 * amount >= free:
        rest = np.setdiff1d(np.arange(first, last), refused)
        return np.concatenate([chosen, rng.permutation(rest)[: amount - len(chosen)]])
    while len(chosen) < amount:
        drawn = rng.integers(first, last, size=2 * (amount - len(chosen)))
        fresh = drawn[~np.isin(drawn, refused)]
        _, place = np.unique(fresh, return_index=True)
        chosen = np.concatenate([chosen, fresh[np.sort(place)]])[:amount]
        refused = np.union1d(refused, chosen)
    return chosen
