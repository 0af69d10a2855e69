"""Leaks of recommendation: test interactions in training, in the knowledge graph, or before training ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, Verdict, check, graded, percent, picture
from trueedge.audit.items_subject import ItemSubject, Timed
from trueedge.audit.repeated import repeated_finding
from trueedge.graph.knowledge import KnowledgeGraph

if TYPE_CHECKING:
    from scipy.sparse import csr_array

KINDS = ("items",)
# An interaction in a thousand cannot move the third digit of a metric; more than that can.
REPEATED_BROKEN = 0.001
# An entity stands for a user if both have this part of their items in common, and at least five: a user
# with fewer can have those of one director by chance, and one of strong taste half of a genre.
SAME_ITEMS, FEWEST_ITEMS = 0.7, 5
REVEALED_LOOK, REVEALED_BROKEN = 0.001, 0.01
USERS_AT_A_TIME = 4_096
# A time split of each user has none. A twentieth can be repeats and equal times; with a half, a model is
# tested on the past more than on the future (Ji et al., A Critical Study on Data Leakage in Recommender
# System Offline Evaluation, TOIS 2023).
FUTURE_LOOK, FUTURE_BROKEN = 0.05, 0.5
# An item that nobody had used is not in any real list: few are worth saying.
NEW_LOOK, NEW_BROKEN = 0.01, 0.1


@check(
    "repeated-interactions",
    "leaks",
    title="interactions in several parts",
    question="Can a model see the answers in training, and does an answer count twice?",
    rule=f"look: any test or validation interaction is also in another part, or twice in its part; broken:"
    f" more than {percent(REPEATED_BROKEN)} of them",
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
    return repeated_finding(
        "repeated-interactions", counts, "interactions", REPEATED_BROKEN, subject.looked()
    )


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


@check(
    "future-of-users",
    "leaks",
    title="test interactions before the last training interaction of the user",
    question="Does a model know what a user did after the test interaction?",
    rule=f"look: more than {percent(FUTURE_LOOK)} of the test interactions are older than the newest training"
    f" interaction of their user; broken: more than {percent(FUTURE_BROKEN)}",
    picture=picture(
        "Test interactions by the share of their user's training interactions that are newer",
        "bars",
        "share of test interactions",
    ),
    kinds=KINDS,
)
def _future_of_users(subject: ItemSubject) -> Finding | Skipped:
    timed = subject.timed
    if isinstance(timed, str):
        return Skipped(timed)
    newer, count = _newer(timed, subject.data.num_users)
    share = float((newer > 0).mean())
    part = newer / np.maximum(count, 1)
    bins = np.minimum(np.ceil(part * 5).astype(np.int64), 5)
    verdict = graded(share, FUTURE_LOOK, FUTURE_BROKEN)
    advice = "" if verdict == "ok" else "; split=time holds out the latest ones"
    return Finding(
        "future-of-users",
        verdict,
        percent(share),
        f"{percent(share)} of {_said(timed)} are older than the newest training interaction of their user,"
        f" and on average {percent(float(part.mean()))} of the user's training interactions are newer"
        + advice,
        {
            "share": share,
            "share of newer training interactions": float(part.mean()),
            "median time of a user, as a share of all": _median_span(timed),
        },
        {
            "newer": np.array(["none", *(f"to {20 * one} %" for one in range(1, 6))]),
            "test interactions": np.bincount(bins, minlength=6) / len(bins),
        },
        _looked(timed),
    )


@check(
    "future-of-items",
    "leaks",
    title="test interactions with items that nobody had used yet",
    question="Are items recommended that were unknown at the time?",
    rule=f"look: more than {percent(NEW_LOOK)} of the test interactions are older than all training"
    f" interactions of their item; broken: more than {percent(NEW_BROKEN)}",
    picture=picture(
        "Test interactions by when their item was first used in training",
        "bars",
        "share of test interactions",
        "first used",
    ),
    kinds=KINDS,
)
def _future_of_items(subject: ItemSubject) -> Finding | Skipped:
    timed = subject.timed
    if isinstance(timed, str):
        return Skipped(timed)
    first = np.full(subject.data.num_items, np.inf)
    np.minimum.at(first, timed.train[:, 1], timed.train_times)
    of_test = first[timed.test[:, 1]]
    later, never = (of_test > timed.test_times) & np.isfinite(of_test), ~np.isfinite(of_test)
    share = float(later.mean())
    # What a candidate list would have held at that time.
    known = np.searchsorted(np.sort(first[np.isfinite(first)]), timed.test_times, side="right")
    unknown = 1 - float(known.mean()) / max(int(np.isfinite(first).sum()), 1)
    return Finding(
        "future-of-items",
        graded(share, NEW_LOOK, NEW_BROKEN),
        percent(share),
        f"{percent(share)} of {_said(timed)} are older than all training interactions of their item; at the"
        f" time of a test interaction, {percent(unknown)} of the ranked items with training interactions had"
        " none yet",
        {"share": share, "items that nobody had used": unknown, "cold": float(never.mean())},
        {
            "first used": np.array(["before", "later", "never"]),
            "test interactions": np.array(
                [float((~later & ~never).mean()), share, float(never.mean())], dtype=np.float64
            ),
        },
        _looked(timed),
    )


def _newer(timed: Timed, num_users: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many training interactions of its user are newer than each test one, and how many in all."""
    order = np.lexsort((timed.train_times, timed.train[:, 0]))
    counts = np.bincount(timed.train[:, 0], minlength=num_users)
    ends = np.cumsum(counts)[timed.test[:, 0]]
    # Ranks of times, so that one search serves all users.
    levels, rank = np.unique(np.concatenate([timed.train_times, timed.test_times]), return_inverse=True)
    train_rank, test_rank = rank[: len(timed.train)], rank[len(timed.train) :]
    keys = timed.train[order, 0].astype(np.int64) * len(levels) + train_rank[order]
    wanted = timed.test[:, 0].astype(np.int64) * len(levels) + test_rank
    return ends - np.searchsorted(keys, wanted, side="right"), counts[timed.test[:, 0]]


def _median_span(timed: Timed) -> float:
    """Return the median time from the first to the last training interaction of a user, as a share of all."""
    users, times = timed.train[:, 0], timed.train_times
    order = np.lexsort((times, users))
    starts = np.flatnonzero(np.diff(users[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    spans: NDArray[Any] = times[order][ends] - times[order][starts]
    return float(np.median(spans) / max(np.ptp(times), 1e-300))


def _said(timed: Timed) -> str:
    return "the test interactions" if timed.held_out else "randomly held-out interactions"


def _looked(timed: Timed) -> str:
    if timed.held_out:
        return f"{len(timed.test):,} test interactions"
    return (
        f"{len(timed.test):,} training interactions that stand for the random test part, whose times the task"
        " does not keep"
    )
