"""The knowledge graph of a recommendation task: which items it describes, and whether that tells anything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import KNOWLEDGE
from trueedge.audit.check import Finding, Skipped, chance_share, check, graded, percent, picture
from trueedge.audit.items_duplicates import group_sizes, grouped
from trueedge.audit.items_subject import ItemSubject
from trueedge.graph.knowledge import KnowledgeGraph

KINDS = ("items",)
# A method that reads triples has nothing to read for these items.
BARE_LOOK, BARE_BROKEN = 0.05, 0.5
# Models add the inverse of each triple: with a tenth there already, they count facts twice.
INVERSE_LOOK = 0.1
# A tail of a relation that half of the items have tells hardly anything about them.
HUB = 0.5
EMPTY_LOOK, EMPTY_BROKEN = 0.5, 0.9
SAME_LOOK, SAME_BROKEN = 0.05, 0.5
SHOWN = 8
LONGEST_NAME = 28

Answer = Callable[[ItemSubject], Finding | Skipped]


def with_knowledge(run: Callable[[ItemSubject, KnowledgeGraph], Finding | Skipped]) -> Answer:
    """Skip a check if there is no knowledge graph."""

    def answer(subject: ItemSubject) -> Finding | Skipped:
        if subject.knowledge is None:
            return Skipped("there is no knowledge graph")
        return run(subject, subject.knowledge)

    return answer


@check(
    "items-without-triples",
    "data",
    title="items without triples",
    question="Does the knowledge graph describe the items?",
    rule=f"look: more than {percent(BARE_LOOK)} of the items have no triple; broken: more than"
    f" {percent(BARE_BROKEN)}",
    advice="Report items without triples separately",
    picture=picture("Triples by what they connect", "bars", "triples"),
    kinds=KINDS,
)
@with_knowledge
def _bare(subject: ItemSubject, knowledge: KnowledgeGraph) -> Finding:
    items = subject.data.num_items
    degrees = (knowledge.in_degrees + knowledge.out_degrees)[:items]
    bare = degrees == 0
    share, of_test = float(bare.mean()), float(bare[subject.test[:, 1]].mean())
    head, tail = knowledge.triples[:, 0] < items, knowledge.triples[:, 2] < items
    kinds = {
        "two items": int((head & tail).sum()),
        "one item": int((head ^ tail).sum()),
        "no item": int((~head & ~tail).sum()),
    }
    return Finding(
        "items-without-triples",
        graded(share, BARE_LOOK, BARE_BROKEN, chance_share(BARE_LOOK, items)),
        percent(share),
        f"{int(bare.sum()):,} of {items:,} items have no triple, and {percent(of_test)} of the test"
        f" interactions are with them; an item has a median of {np.median(degrees):g} triples;"
        f" {kinds['two items']:,} of {knowledge.num_triples:,} triples connect two items and"
        f" {kinds['no item']:,} none",
        {
            "share": share,
            "items": float(bare.sum()),
            "share of test interactions": of_test,
            "median triples": float(np.median(degrees)),
            **{f"triples of {name}": float(value) for name, value in kinds.items()},
        },
        {"triples connect": np.array(list(kinds)), "triples": np.array(list(kinds.values()))},
        f"{knowledge.num_triples:,} triples",
    )


@check(
    "inverse-triples",
    "data",
    title="triples whose inverse is in the knowledge graph",
    question="Does the knowledge graph say things twice?",
    rule=f"look: for more than {percent(INVERSE_LOOK)} of the triples (h, r, t), there is a triple (t, s, h)",
    advice="Keep one direction of each triple: models add the other one",
    picture=picture("Triples whose inverse is there", "bars", "share of the triples", "relation"),
    kinds=KINDS,
)
@with_knowledge
def _inverse(subject: ItemSubject, knowledge: KnowledgeGraph) -> Finding:
    del subject
    head, relation, tail = knowledge.triples.T.astype(np.int64)
    entities = knowledge.num_entities
    forward, backward = head * entities + tail, tail * entities + head
    found = np.isin(forward, backward) & (head != tail)
    again = knowledge.num_triples - len(np.unique(forward))
    share = float(found.mean())
    sizes = np.bincount(relation, minlength=knowledge.num_relations)
    shares = np.bincount(relation[found], minlength=len(sizes)) / np.maximum(sizes, 1)
    top = np.argsort(-sizes, kind="stable")[:SHOWN]
    both = int(((sizes > 0) & (shares > 0.5)).sum())
    verdict = graded(share, INVERSE_LOOK, 1.0, chance_share(INVERSE_LOOK, knowledge.num_triples))
    return Finding(
        "inverse-triples",
        verdict,
        percent(share),
        f"{int(found.sum()):,} of {knowledge.num_triples:,} triples (h, r, t) have (t, s, h) there too;"
        f" {both:,} of {int((sizes > 0).sum()):,} relations consist mostly of such triples, and {again:,}"
        " triples repeat a pair of head and tail under another relation",
        {
            "share": share,
            "triples": float(found.sum()),
            "relations": float(both),
            "triples of a repeated pair": float(again),
        },
        {"relation": np.array([short_name(knowledge, one) for one in top]), "share": shares[top]}
        if found.any()
        else {},
        f"{knowledge.num_triples:,} triples",
    )


@check(
    "empty-triples",
    "data",
    title="triples that tell no item from another",
    question="Can the triples connect some items, but not all?",
    rule=f"look: more than {percent(EMPTY_LOOK)} of the triples have an entity that no other triple has, a"
    f" relation that no other triple has, or a tail that {percent(HUB)} or more of the items with triples"
    f" have under their relation; broken: more than {percent(EMPTY_BROKEN)}",
    advice="Leave these triples out",
    picture=picture("Triples by what they say", "bars", "triples"),
    kinds=KINDS,
)
@with_knowledge
def _empty(subject: ItemSubject, knowledge: KnowledgeGraph) -> Finding:
    items = subject.data.num_items
    head, relation, tail = knowledge.triples.T.astype(np.int64)
    degrees = knowledge.in_degrees + knowledge.out_degrees
    ends = (degrees == 1) & (np.arange(len(degrees)) >= items)
    alone = ends[head] | ends[tail]
    lonely = np.bincount(relation, minlength=knowledge.num_relations) == 1
    single = lonely[relation]
    hub, names = hubs(knowledge, items)
    empty = alone | single | hub
    share = float(empty.mean())
    kinds = {
        "an own entity": alone,
        "an own relation": single & ~alone,
        "a common tail": hub & ~alone & ~single,
        "others": ~empty,
    }
    told = f" ({', '.join(names)})" if names else ""
    return Finding(
        "empty-triples",
        graded(share, EMPTY_LOOK, EMPTY_BROKEN, chance_share(EMPTY_LOOK, knowledge.num_triples)),
        percent(share),
        f"{int(alone.sum()):,} of {knowledge.num_triples:,} triples have an entity that no other triple has,"
        f" {int(single.sum()):,} a relation that no other triple has, and {int(hub.sum()):,} a tail that"
        f" {percent(HUB)} or more of the items have{told}; {int((~empty).sum()):,} triples are left",
        {
            "share": share,
            "entities of one triple": float(ends.sum()),
            "relations of one triple": float(lonely.sum()),
            **{f"triples with {name}": float(one.sum()) for name, one in list(kinds.items())[:3]},
        },
        {
            "triples with": np.array(list(kinds)),
            "triples": np.array([int(one.sum()) for one in kinds.values()]),
        },
        f"{knowledge.num_triples:,} triples",
    )


def hubs(knowledge: KnowledgeGraph, items: int) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which triples join most items with one entity, bool (m,), and the names of these."""
    both = knowledge.both_directions.astype(np.int64)
    of_items = both[:, 0] < items
    keys = both[:, 1] * knowledge.num_entities + both[:, 2]
    names, place, counts = np.unique(keys[of_items], return_inverse=True, return_counts=True)
    described = len(np.unique(both[of_items, 0]))
    many = counts >= max(HUB * described, 2)
    hub = np.zeros(len(both), dtype=np.bool_)
    hub[np.flatnonzero(of_items)] = many[place]
    told = []
    for one in np.flatnonzero(many)[np.argsort(-counts[many], kind="stable")][:3].tolist():
        relation, entity = divmod(int(names[one]), knowledge.num_entities)
        short = short_name(knowledge, relation % knowledge.num_relations)
        told.append(f"{knowledge.entities[entity]} of {short} ({counts[one]:,} items)")
    return hub[: knowledge.num_triples] | hub[knowledge.num_triples :], told


@check(
    "identical-triples",
    "likeness",
    title="items with the same triples as another item",
    question="Can the knowledge graph tell items apart?",
    rule=f"look: more than {percent(SAME_LOOK)} of the items have the same two or more triples as another"
    f" item; broken: more than {percent(SAME_BROKEN)}",
    advice=KNOWLEDGE,
    picture=picture("Copies by how many have the same triples", "bars", "items"),
    kinds=KINDS,
)
@with_knowledge
def _same(subject: ItemSubject, knowledge: KnowledgeGraph) -> Finding:
    items = subject.data.num_items
    both = knowledge.both_directions.astype(np.int64)
    both = both[both[:, 0] < items]
    _, code = np.unique(both[:, 1] * knowledge.num_entities + both[:, 2], return_inverse=True)
    order = np.lexsort((code, both[:, 0]))
    starts = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=items))])
    sizes = group_sizes(starts, code[order].astype(np.int32))
    same = sizes > 1
    share = float(same.mean())
    return Finding(
        "identical-triples",
        graded(share, SAME_LOOK, SAME_BROKEN, chance_share(SAME_LOOK, items)),
        percent(share),
        f"{int(same.sum()):,} of {items:,} items have exactly the triples of another item",
        {"share": share, "items": float(same.sum()), "largest group": float(sizes.max())},
        grouped(sizes, "items with the same triples", "items"),
        f"{items:,} items",
    )


def short_name(knowledge: KnowledgeGraph, relation: int) -> str:
    """Return the name of a relation, shortened for a picture."""
    name = knowledge.relations[relation]
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]
