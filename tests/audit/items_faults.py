"""Recommendation data with a fault for each check, and data without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import trueedge as te
from trueedge.graph import Interactions, KnowledgeGraph
from trueedge.tasks import ItemTask

USERS, ITEMS, GROUPS = 300, 240, 6
Made = dict[str, Any]


def pieces() -> Made:
    """Users and items of six tastes, numbered at random, used at any time; triples tell the taste."""
    rng = np.random.default_rng(0)
    taste, kind = rng.integers(0, GROUPS, USERS), rng.permutation(np.arange(ITEMS) % GROUPS)
    likes = np.where(taste[:, None] == kind[None, :], 8.0, 1.0)
    pairs = draw(rng, likes)
    makers = kind * 5 + rng.integers(0, 5, ITEMS)
    rows = [[item, 0, ITEMS + kind[item]] for item in range(ITEMS)]
    rows += [[item, 1, ITEMS + 10 + makers[item]] for item in range(ITEMS)]
    topics = rng.integers(0, 40, (ITEMS, 3))
    rows += [[item, 2, ITEMS + 50 + topic] for item in range(ITEMS) for topic in np.unique(topics[item])]
    return {
        "pairs": pairs,
        "times": rng.random(len(pairs)),
        "test": None,
        "triples": np.array(rows),
        "num_users": USERS,
        "num_items": ITEMS,
        "taste": taste,
        "kind": kind,
        "users": None,
        "entities": [f"entity {one}" for one in range(ITEMS + 90)],
    }


def draw(rng: np.random.Generator, likes: np.ndarray) -> np.ndarray:
    """Draw 15 to 25 items for each user, by the weights of its row."""
    rows = []
    for user, row in enumerate(likes):
        chosen = rng.choice(len(row), size=rng.integers(15, 26), replace=False, p=row / row.sum())
        rows += [[user, item] for item in chosen]
    return np.array(rows)


def data(change: Callable[[Made], None] | None = None) -> Interactions:
    """Return the interactions, with one change."""
    made = pieces()
    if change is not None:
        change(made)
    names = made["entities"]
    knowledge = KnowledgeGraph.from_triples(made["triples"], entities=names, repeats="drop")
    return Interactions.from_pairs(
        made["pairs"],
        made["num_users"],
        made["num_items"],
        users=made["users"],
        times=made["times"],
        test=made["test"],
        knowledge=knowledge,
        name="shop",
    )


def leaky() -> ItemTask:
    """A test part with training interactions."""
    task = te.task(data(), split="time")
    test = np.concatenate([task.hidden["test"], task.graph.pairs[:20]])
    return replace(task, hidden={**task.hidden, "test": test})


def users_as_entities(made: Made) -> None:
    """Each user is an entity, with a triple for each of its items."""
    user, item = made["pairs"].T
    entity = len(made["entities"]) + user
    made["entities"] = made["entities"] + [f"node {one}" for one in range(USERS)]
    likes = np.column_stack([entity, np.full(len(user), 3), item])
    made["triples"] = np.concatenate([made["triples"], likes])


def unseen(column: int) -> Callable[[Made], None]:
    """A published test part with all interactions of some users, or of some items."""

    def change(made: Made) -> None:
        made["test"] = np.isin(made["pairs"][:, column], np.arange(0, 240, 6))

    return change


def few_items(made: Made) -> None:
    """Two of three users have four items."""
    user = made["pairs"][:, 0]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    keep(made, (user % 3 == 0) | (place < 4))


def keep(made: Made, kept: np.ndarray) -> None:
    """Keep some of the interactions."""
    made["pairs"], made["times"] = made["pairs"][kept], made["times"][kept]


def unused(made: Made) -> None:
    """A fourth of the items is used by nobody."""
    keep(made, made["pairs"][:, 1] % 4 > 0)


def popularity_alone(made: Made) -> None:
    """All users have the same taste, for few items."""
    weights = 1.0 / np.random.default_rng(1).permutation(np.arange(1, ITEMS + 1)) ** 2.0
    made["pairs"] = draw(np.random.default_rng(2), np.tile(weights, (USERS, 1)))
    made["times"] = np.random.default_rng(3).random(len(made["pairs"]))


def sorted_items(made: Made) -> None:
    """Items are numbered by what they are."""
    place = np.empty(ITEMS, dtype=np.int64)
    place[np.argsort(made["kind"], kind="stable")] = np.arange(ITEMS)
    made["pairs"][:, 1] = place[made["pairs"][:, 1]]
    made["triples"][:, 0] = place[made["triples"][:, 0]]


def sorted_users(made: Made) -> None:
    """Users are numbered by their taste."""
    place = np.empty(USERS, dtype=np.int64)
    place[np.argsort(made["taste"], kind="stable")] = np.arange(USERS)
    made["pairs"][:, 0] = place[made["pairs"][:, 0]]


def copied_users(made: Made) -> None:
    """Each of the first 30 users is there once more."""
    again = made["pairs"][made["pairs"][:, 0] < 30] + [USERS, 0]
    made["pairs"] = np.concatenate([made["pairs"], again])
    made["times"] = np.random.default_rng(3).random(len(made["pairs"]))
    made["num_users"] = USERS + 30


def copied_items(made: Made) -> None:
    """Items 0 to 19 and 20 to 39 have the same users."""
    pairs = made["pairs"]
    pairs = np.concatenate(
        [pairs[(pairs[:, 1] < 20) | (pairs[:, 1] >= 40)], pairs[pairs[:, 1] < 20] + [0, 20]]
    )
    made["pairs"], made["times"] = pairs, np.random.default_rng(3).random(len(pairs))


def bare_items(made: Made) -> None:
    """A third of the items has no triples."""
    made["triples"] = made["triples"][made["triples"][:, 0] % 3 > 0]


def both_directions(made: Made) -> None:
    """Each triple is there in both directions."""
    head, relation, tail = made["triples"].T
    made["triples"] = np.concatenate([made["triples"], np.column_stack([tail, relation + 3, head])])


def own_entities(made: Made) -> None:
    """Most triples lead to an entity of their own, or to one that all items have."""
    count = len(made["entities"])
    made["entities"] = [*made["entities"], *(f"year {one}" for one in range(ITEMS)), "everything"]
    items = np.arange(ITEMS)
    own = np.column_stack([items, np.full(ITEMS, 3), count + items])
    common = np.column_stack([items, np.full(ITEMS, 4), np.full(ITEMS, count + ITEMS)])
    some = made["triples"][made["triples"][:, 1] == 0]
    made["triples"] = np.concatenate([some, own, common])


def same_triples(made: Made) -> None:
    """Items have no topics: there are only 30 kinds of items."""
    made["triples"] = made["triples"][made["triples"][:, 1] < 2]


def wrong_items(made: Made) -> None:
    """Triples are attached to other items."""
    place = np.random.default_rng(5).permutation(ITEMS)
    made["triples"][:, 0] = place[made["triples"][:, 0]]


def one_session(made: Made) -> None:
    """Each user did everything within a thousandth of the time."""
    begin = np.random.default_rng(6).random(USERS)
    made["times"] = begin[made["pairs"][:, 0]] + made["times"] / 1000


Case = tuple[Interactions | ItemTask, dict[str, str]]
TIME = {"split": "time"}

FAULTS: dict[str, Callable[[], Case]] = {
    "repeated-interactions": lambda: (leaky(), {}),
    "users-in-knowledge": lambda: (data(users_as_entities), TIME),
    "future-of-users": lambda: (data(), {}),
    "future-of-items": lambda: (data(), {}),
    "item-ids": lambda: (data(sorted_items), TIME),
    "user-ids": lambda: (data(sorted_users), TIME),
    "cold-users": lambda: (data(unseen(0)), {}),
    "cold-items": lambda: (data(unseen(1)), {}),
    "short-histories": lambda: (data(few_items), TIME),
    "single-sessions": lambda: (data(one_session), TIME),
    "unused-items": lambda: (data(unused), TIME),
    "shortcut-popularity": lambda: (data(popularity_alone), TIME),
    "popular-items": lambda: (data(popularity_alone), TIME),
    "item-inequality": lambda: (data(popularity_alone), TIME),
    "identical-users": lambda: (data(copied_users), TIME),
    "identical-items": lambda: (data(copied_items), TIME),
    "items-without-triples": lambda: (data(bare_items), TIME),
    "inverse-triples": lambda: (data(both_directions), TIME),
    "empty-triples": lambda: (data(own_entities), TIME),
    "identical-triples": lambda: (data(same_triples), TIME),
    "knowledge-lift": lambda: (data(wrong_items), TIME),
}
