"""Duplicates in recommendation: users with the same items, items with the same users."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, chance_share, check, graded, percent, picture, smallest
from trueedge.audit.items_subject import ItemSubject
from trueedge.graph.interactions import lists_of

KINDS = ("items",)
# One interaction in common is no sign of a copy.
FEWEST = 2
# A hundredth is worth saying; with a tenth, test items can be read off the copies.
SAME_LOOK, SAME_BROKEN = 0.01, 0.1
CHANCE = 0.001


def _same_two(count: int) -> float:
    """Return the probability that two random choices of two out of so many are the same."""
    return 1 / max(math.comb(count, 2), 1)


@check(
    "identical-users",
    "likeness",
    title="users with the same items as another user",
    question="Are users in the data twice?",
    rule=f"look: more than {percent(SAME_LOOK)} of the users have {FEWEST} or more items in all parts"
    f" together, and exactly those of another user; broken: more than {percent(SAME_BROKEN)}",
    advice="Merge copies before the interactions are split",
    fewest={"items": smallest(_same_two, CHANCE)},
    picture=picture("Copies by how many have the same items", "bars", "users"),
    kinds=KINDS,
)
def _users(subject: ItemSubject) -> Finding:
    return _identical(
        subject, "identical-users", subject.whole, subject.data.num_users, ("users", "items"), 0
    )


@check(
    "identical-items",
    "likeness",
    title="items with the same users as another item",
    question="Are items in the data twice, under different ids?",
    rule=f"look: more than {percent(SAME_LOOK)} of the items have {FEWEST} or more users in all parts"
    f" together, and exactly those of another item; broken: more than {percent(SAME_BROKEN)}",
    advice="Merge copies before the interactions are split",
    fewest={"users": smallest(_same_two, CHANCE)},
    picture=picture("Copies by how many have the same users", "bars", "items"),
    kinds=KINDS,
)
def _items(subject: ItemSubject) -> Finding:
    turned = np.ascontiguousarray(subject.whole[:, ::-1])
    return _identical(subject, "identical-items", turned, subject.data.num_items, ("items", "users"), 1)


def _identical(
    subject: ItemSubject,
    name: str,
    pairs: NDArray[np.int32],
    count: int,
    nouns: tuple[str, str],
    column: int,
) -> Finding:
    starts, others = lists_of(pairs, count)
    sizes = group_sizes(starts, others)
    same = sizes > 1
    share = float(same.mean())
    of_test = float(same[subject.test[:, column]].mean())
    longest = int(np.diff(starts)[same].max(initial=0))
    told = f"no two {nouns[0]} have the same {FEWEST} or more {nouns[1]}"
    if same.any():
        told = (
            f"{int(same.sum()):,} of {count:,} {nouns[0]} have exactly the {nouns[1]} of another one (up to"
            f" {longest:,} {nouns[1]}); they are in {percent(of_test)} of the test interactions"
        )
    return Finding(
        name,
        graded(share, SAME_LOOK, SAME_BROKEN, chance_share(SAME_LOOK, count)),
        percent(share),
        told,
        {
            "share": share,
            nouns[0]: float(same.sum()),
            f"most {nouns[1]} of a copy": float(longest),
            "share of test interactions": of_test,
        },
        grouped(sizes, f"{nouns[0]} with the same {nouns[1]}", nouns[0]),
        f"{count:,} {nouns[0]}",
    )


def grouped(sizes: NDArray[np.int64], axis: str, noun: str) -> dict[str, NDArray[Any]]:
    """Return how many there are in groups of 2, of 3 to 9, and of 10 or more."""
    bars = {"2": sizes == 2, "3–9": (sizes > 2) & (sizes < 10), "10+": sizes >= 10}
    return {axis: np.array(list(bars)), noun: np.array([int(one.sum()) for one in bars.values()])}


def group_sizes(starts: NDArray[np.int64], members: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many lists are the same as each one, itself included, int64 (n,); 1 for short ones."""
    found: dict[bytes, int] = {}
    group = np.full(len(starts) - 1, -1, dtype=np.int64)
    for number in np.flatnonzero(np.diff(starts) >= FEWEST).tolist():
        key = members[starts[number] : starts[number + 1]].tobytes()
        group[number] = found.setdefault(key, len(found))
    sizes = np.bincount(group[group >= 0], minlength=1)
    return np.where(group >= 0, sizes[group], 1)
