"""Whether the knowledge graph tells which items are used together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import KNOWLEDGE
from trueedge.audit.check import Finding, Skipped, Verdict, check, picture
from trueedge.audit.items_knowledge import SHOWN, hubs, short_name, with_knowledge
from trueedge.audit.items_subject import ERRORS, FEWEST_USERS, ItemSubject
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.randomness import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("items",)
# Items of one tail are used together more often, or the triples say nothing about taste.
LIFT_LOOK = 1.1
PAIRS = 50_000
PAIRS_AT_A_TIME = 4_096
# An item is compared with others that are about as popular: this many places away at most.
PLACES = 10


@check(
    "knowledge-lift",
    "data",
    title="common users of items that share an entity",
    question="Does the knowledge graph tell which items are used together?",
    rule=f"look: items with a common entity share fewer than {LIFT_LOOK} times as many users as items that"
    " are as popular; broken: no more than by chance: the triples are about other items, or say nothing about"
    " what is used together",
    advice=KNOWLEDGE,
    fewest={"users": FEWEST_USERS},
    picture=picture(
        "Common users of items that share an entity, against items as popular", "bars", "ratio", "relation"
    ),
    kinds=KINDS,
)
@with_knowledge
def _lift(subject: ItemSubject, knowledge: KnowledgeGraph) -> Finding | Skipped:
    drawn = _pairs_by_entity(subject, knowledge)
    if drawn is None:
        return Skipped("no two items have a triple with the same relation and entity")
    first, second, relation = drawn
    rng = generator(subject.seed, "audit", "as popular")
    counts = subject.data.item_counts
    order = np.lexsort((rng.random(len(counts)), counts))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    step = rng.integers(1, PLACES + 1, size=len(second)) * rng.choice([-1, 1], size=len(second))
    other = order[np.clip(place[second] + step, 0, len(order) - 1)]
    fair = (other != first) & (other != second)
    first, second, other, relation = first[fair], second[fair], other[fair], relation[fair]
    turned = subject.table(subject.data.pairs).T.tocsr()
    joined, matched = (_cosines(turned, counts, first, one) for one in (second, other))
    if not matched.any():
        return Skipped("items as popular have no common users in training")
    lift = float(joined.mean() / matched.mean())
    noise = float(ERRORS * (joined - matched).std() / np.sqrt(len(joined)) / matched.mean())
    verdict = _verdict(lift, noise)
    sizes = np.bincount(relation, minlength=knowledge.num_relations)
    top = np.argsort(-sizes, kind="stable")[: min(SHOWN, int((sizes > 0).sum()))]
    ratios = np.array([_ratio(joined[relation == one], matched[relation == one]) for one in top])
    return Finding(
        "knowledge-lift",
        verdict,
        f"{lift:.2f}×",
        f"two items with the same relation to the same entity share {lift:.2f} times as many users (mean"
        f" cosine {joined.mean():.4f}) as two items that are as popular ({matched.mean():.4f}; chance reaches"
        f" {1 + noise:.2f} times)",
        {
            "lift": lift,
            "chance": 1 + noise,
            "cosine": float(joined.mean()),
            "cosine of items as popular": float(matched.mean()),
        },
        {"relation": np.array([short_name(knowledge, one) for one in top]), "ratio": ratios},
        f"{len(joined):,} pairs of items",
        "Check that the triples are attached to the right items" if verdict == "broken" else "",
    )


def _verdict(lift: float, noise: float) -> Verdict:
    """Return the verdict for a lift, where smaller is worse and chance reaches 1 and the noise."""
    if lift >= LIFT_LOOK and lift > 1 + noise:
        return "ok"
    # With so much noise, a lift that is large enough could not be seen.
    if noise > LIFT_LOOK - 1 and lift + noise >= LIFT_LOOK:
        return "too small"
    return "broken" if lift <= 1 + noise else "look"


def _pairs_by_entity(
    subject: ItemSubject, knowledge: KnowledgeGraph
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
    """Draw items with a common relation and entity, and the relation, int64 (n,) each.

    A triple of an item is drawn, then another item of its relation and entity. Tails of most items are left
    out.
    """
    items, rng = subject.data.num_items, generator(subject.seed, "audit", "knowledge")
    both = knowledge.both_directions.astype(np.int64)
    hub, _ = hubs(knowledge, items)
    both = both[(both[:, 0] < items) & ~np.tile(hub, 2)]
    keys = both[:, 1] * knowledge.num_entities + both[:, 2]
    order = np.argsort(keys, kind="stable")
    _, starts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
    rows = np.flatnonzero(np.repeat(sizes, sizes) > 1)
    if not len(rows):
        return None
    rows = rng.choice(rows, size=PAIRS)
    begin, size = np.repeat(starts, sizes)[rows], np.repeat(sizes, sizes)[rows]
    # Another one of the group: any place but its own.
    mate = begin + (rows - begin + 1 + (rng.random(PAIRS) * (size - 1)).astype(np.int64)) % size
    first, second = both[order[rows]], both[order[mate]]
    return first[:, 0], second[:, 0], first[:, 1] % knowledge.num_relations


def _cosines(
    turned: csr_array, counts: NDArray[np.int64], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the cosine of the training users of two items each, float64 (n,)."""
    found = [np.empty(0)]
    for begin in range(0, len(first), PAIRS_AT_A_TIME):
        some = slice(begin, begin + PAIRS_AT_A_TIME)
        common = turned[first[some]].multiply(turned[second[some]]).sum(axis=1)
        found.append(np.asarray(common, dtype=np.float64).reshape(-1))
    sizes = np.sqrt(np.maximum(counts[first] * counts[second], 1))
    return np.asarray(np.concatenate(found) / sizes)


def _ratio(joined: NDArray[np.float64], matched: NDArray[np.float64]) -> float:
    return float(joined.mean() / matched.mean()) if matched.any() else float("nan")
