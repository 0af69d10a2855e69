"""Leaks of recommendation: test interactions in training or in the knowledge graph."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, Verdict, check, graded, percent, picture
from trueedge.audit.items_subject import ItemSubject
from trueedge.audit.repeated import repeated_finding
from trueedge.graph.knowledge import KnowledgeGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("items",)
# An interaction in a thousand cannot move the third digit of a metric; more than that can.
REPEATED_BROKEN = 0.001
# How the notes of the data tell that files repeat an interaction, or have it in two parts.
REPEATS = re.compile(r"\b(repeated|twice|too)\b")
# An entity stands for a user if both have this part of their items in common, and at least five: a user
# with fewer can have those of one director by chance, and one of strong taste half of a genre.
SAME_ITEMS, FEWEST_ITEMS = 0.7, 5
REVEALED_LOOK, REVEALED_BROKEN = 0.001, 0.01
USERS_AT_A_TIME = 4_096


@check(
    "repeated-interactions",
    "leaks",
    title="interactions in several parts",
    question="Can a model see the answers in training, and does an answer count twice?",
    rule="look: any test or validation interaction is also in another part, or twice in its part, or repeats"
    f" were left out when files were read; broken: more than {percent(REPEATED_BROKEN)} of them",
    advice="Remove these interactions from training, and train again",
    picture=picture("Interactions that are repeated", "bars", "interactions"),
    kinds=KINDS,
)
def _repeated(subject: ItemSubject) -> Finding:
    keys = {"training": subject.keys(subject.data.pairs)}
    keys |= {part: subject.keys(pairs) for part, pairs in subject.task.hidden.items()}
    counts = {"test interactions in training": _among(keys["test"], keys["training"])}
    if "valid" in keys:
        counts["validation interactions in training"] = _among(keys["valid"], keys["training"])
        counts["test interactions in validation"] = _among(keys["test"], keys["valid"])
    again = len(keys["test"]) - len(np.unique(keys["test"]))
    counts["test interactions in the test part again"] = again, len(keys["test"])
    found = repeated_finding(
        "repeated-interactions", counts, "interactions", REPEATED_BROKEN, subject.looked()
    )
    told = [note for note in subject.data.notes if REPEATS.search(note)]
    if not told:
        return found
    if found.verdict != "ok":
        return replace(found, sentence="; ".join([found.sentence, *told]))
    sentence = "; ".join(["no interaction is in two parts", *told])
    advice = "Say beside the results that repeated interactions were left out"
    return replace(found, verdict="look", sentence=sentence, advice=advice)


def _among(keys: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[int, int]:
    return int(np.isin(keys, others).sum()), len(keys)


@check(
    "users-in-knowledge",
    "leaks",
    title="test interactions that the knowledge graph reveals",
    question="Do triples of the knowledge graph tell who used what?",
    rule=f"look: an entity has the name of a user, or triples of entities that are like a user (both share"
    f" {percent(SAME_ITEMS)} of all their items, and at least {FEWEST_ITEMS}) hold more than"
    f" {percent(REVEALED_LOOK)} of the test interactions; broken: more than {percent(REVEALED_BROKEN)}",
    advice="Remove these entities from the knowledge graph",
    picture=picture("Test interactions that are in triples of entities like users", "bars", "interactions"),
    kinds=KINDS,
)
def _in_knowledge(subject: ItemSubject) -> Finding | Skipped:
    if subject.knowledge is None:
        return Skipped("there is no knowledge graph")
    links = entity_items(subject.knowledge, subject.data.num_items)
    lists = subject.table(subject.whole)
    user, entity = _alike(lists, links)
    named = _same_names(subject, subject.knowledge)
    user, entity = np.concatenate([user, named[0]]), np.concatenate([entity, named[1]])
    revealed: set[int] = set()
    held = subject.table(subject.test)
    for start in range(0, len(user), USERS_AT_A_TIME):
        some = slice(start, start + USERS_AT_A_TIME)
        both = held[user[some]].multiply(links[entity[some]]).tocoo()
        keys = user[some][both.row].astype(np.int64) * subject.data.num_items + both.col
        revealed.update(keys.tolist())
    share = len(revealed) / len(subject.test)
    users = len(np.unique(user))
    verdict: Verdict = graded(share, -1.0 if len(named[0]) else REVEALED_LOOK, REVEALED_BROKEN)
    told = f"no entity has the name of a user or {percent(SAME_ITEMS)} of the items of one"
    if users:
        names = len(np.unique(named[0]))
        by_name = f" ({names:,} by their name)" if names else ""
        told = (
            f"{users:,} of {subject.data.num_users:,} users are like an entity{by_name}, whose triples hold"
            f" {len(revealed):,} of {len(subject.test):,} test interactions"
        )
    return Finding(
        "users-in-knowledge",
        verdict,
        percent(share),
        told,
        {"share": share, "test interactions": float(len(revealed)), "users": float(users)},
        {
            "where": np.array(["in such triples", "in none"]),
            "interactions": np.array([len(revealed), len(subject.test) - len(revealed)]),
        }
        if users
        else {},
        subject.looked(),
    )


def entity_items(knowledge: KnowledgeGraph, num_items: int) -> csr_array:
    """Return which entities, items among them, have a triple with an item, float32 (entities, items)."""
    from scipy.sparse import csr_array

    head, _, tail = knowledge.triples.T
    entity = np.concatenate([tail[head < num_items], head[tail < num_items]])
    item = np.concatenate([head[head < num_items], tail[tail < num_items]])
    keys = np.unique(entity.astype(np.int64) * num_items + item)
    ones = np.ones(len(keys), dtype=np.float32)
    return csr_array((ones, np.divmod(keys, num_items)), shape=(knowledge.num_entities, num_items))


def _alike(lists: csr_array, links: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return users and entities that share most of their items, int64 (n,) each."""
    sizes, degrees = np.diff(lists.indptr), np.diff(links.indptr)
    # A larger entity cannot share so many of all items with any user.
    most = int(sizes.max(initial=0) / SAME_ITEMS)
    able = np.flatnonzero((degrees >= FEWEST_ITEMS) & (degrees <= most))
    turned = links[able].T.tocsr()
    users, entities = [], []
    for first in range(0, lists.shape[0], USERS_AT_A_TIME):
        common = (lists[first : first + USERS_AT_A_TIME] @ turned).tocoo()
        both = sizes[first + common.row] + degrees[able[common.col]] - common.data
        close = (common.data >= FEWEST_ITEMS) & (common.data >= SAME_ITEMS * both)
        users.append(first + common.row[close].astype(np.int64))
        entities.append(able[common.col[close]])
    return np.concatenate(users), np.concatenate(entities)


def _same_names(
    subject: ItemSubject, knowledge: KnowledgeGraph
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return users and the entities of their name; numbers are no names."""
    none = np.empty(0, dtype=np.int64)
    names = subject.data.users
    if names is None:
        return none, none
    place = {name: user for user, name in enumerate(names) if not name.lstrip("-").isdigit()}
    found = [
        (place[name], entity)
        for entity, name in enumerate(knowledge.entities[subject.data.num_items :], subject.data.num_items)
        if name in place
    ]
    if not found:
        return none, none
    users, entities = np.array(found, dtype=np.int64).T
    return users, entities
