"""Ids of users and items: numbers that were given in some order can tell what was used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, Skipped, check, graded, percent, picture
from trueedge.audit.items_popularity import metric_title
from trueedge.audit.items_scorers import rank_correlation
from trueedge.audit.items_subject import ERRORS, FEWEST_USERS, SCORERS, ItemSubject
from trueedge.randomness import generator

KINDS = ("items",)
# The share of the way from random scores to the better of popularity and item neighbours.
IDS_LOOK, IDS_BROKEN = 0.1, 0.5
# Users on either side whose items are compared.
NEAR = 5
# How many times more often than a random user has it.
LIFT_LOOK, LIFT_BROKEN = 1.1, 2.0


@check(
    "item-ids",
    "leaks",
    title="item ids that tell what is used",
    question="Do the ids of items tell their popularity, or which ones are used together?",
    rule="look: ranking items by their id, or by the distance to the closest id of the user's items, is more"
    f" than {percent(IDS_LOOK)} of the way from the NDCG of random scores to the better of popularity and"
    f" item neighbours; broken: more than {percent(IDS_BROKEN)}",
    advice="Shuffle ids before a method may use them",
    fewest={"users": FEWEST_USERS},
    picture=picture("Performance of ids, and of scorers to compare them with", "bars", "NDCG"),
    kinds=KINDS,
)
def _items(subject: ItemSubject) -> Finding | Skipped:
    if not subject.rankable:
        return Skipped("all test interactions are known from other parts")
    ndcg = subject.metrics[0]
    gain = {name: subject.above_chance(name) for name in SCORERS}
    worst = max(("item-ids", "nearest-ids"), key=lambda name: gain[name])
    # Without the noise, the share would be large where nothing is better than random.
    best = max(gain["popularity"], gain["neighbours"], subject.noise(worst), 1e-9)
    share = gain[worst] / best
    counts = subject.data.item_counts
    correlation = rank_correlation(np.arange(len(counts)), counts)
    values = {name: subject.evaluate(name)[ndcg] for name in SCORERS}
    # Ids that are no better than chance do no harm.
    noise = subject.noise(worst) / best
    verdict = graded(share, max(IDS_LOOK, noise), max(IDS_BROKEN, noise))
    return Finding(
        "item-ids",
        verdict,
        percent(share),
        f"{metric_title(ndcg)} of the order of item ids {values['item-ids']:.4f}, of nearest item ids"
        f" {values['nearest-ids']:.4f}, of random scores {subject.chance[ndcg]:.4f}, of popularity"
        f" {values['popularity']:.4f}; the rank correlation of id and popularity is {correlation:.2f}",
        {
            "share": share,
            "rank correlation": correlation,
            **{SCORERS[name][1]: value for name, value in values.items()},
            "chance": subject.chance[ndcg],
        },
        {
            "scorer": np.array(["random scores", *(SCORERS[name][1] for name in values)]),
            metric_title(ndcg): np.array([subject.chance[ndcg], *values.values()]),
        },
        subject.looked_users(),
    )


@check(
    "user-ids",
    "leaks",
    title="user ids that tell what is used",
    question="Do users with neighbouring ids use the same items?",
    rule=f"look: test items are more than {LIFT_LOOK} times as often among the training items of the"
    f" {2 * NEAR} users with the nearest ids as among those of random users, and more than by chance; broken:"
    f" more than {LIFT_BROKEN} times",
    advice="Shuffle ids before a method may use them",
    fewest={"users": 4 * NEAR},
    picture=picture(
        "Test interactions whose item another user has in training",
        "bars",
        "share of users",
        "distance of ids",
    ),
    kinds=KINDS,
)
def _users(subject: ItemSubject) -> Finding | Skipped:
    num_users = subject.data.num_users
    if num_users < 4 * NEAR:
        return Skipped(f"there are fewer than {4 * NEAR} users")
    train = np.sort(subject.keys(subject.data.pairs))
    user, item = subject.test[:, 0].astype(np.int64), subject.test[:, 1].astype(np.int64)
    rng = generator(subject.seed, "audit", "user ids")
    near = np.zeros(len(user))
    by_distance = []
    for distance in range(1, NEAR + 1):
        both = [_have((user + step) % num_users, item, train, subject) for step in (-distance, distance)]
        near += both[0] + both[1]
        by_distance.append(float(np.mean(both)))
    far = np.zeros(len(user))
    for _ in range(2 * NEAR):
        # Users further away than those that count as near.
        shift = rng.integers(NEAR + 1, num_users - NEAR, size=num_users)
        far += _have((user + shift[user]) % num_users, item, train, subject)
    lift = float(near.sum() / max(far.sum(), 1.0))
    # Interactions of a user depend on each other, so that noise is that of users.
    counts = np.bincount(user, minlength=num_users)
    gain = np.bincount(user, weights=near - far, minlength=num_users)[counts > 0]
    noise = ERRORS * float(gain.std()) * np.sqrt(len(gain)) / max(float(far.sum()), 1.0)
    activity = rank_correlation(np.arange(num_users), subject.data.user_counts)
    return Finding(
        "user-ids",
        graded(lift, LIFT_LOOK, LIFT_BROKEN, 1 + noise),
        f"{lift:.2f}×",
        f"a test item is {lift:.2f} times as often among the training items of a user with one of the"
        f" {2 * NEAR} nearest ids as among those of a random user ({percent(float(near.mean()) / (2 * NEAR))}"
        f" and {percent(float(far.mean()) / (2 * NEAR))} of the users); the rank correlation of user id and"
        f" number of training items is {activity:.2f}",
        {"lift": lift, "chance": 1 + noise, "rank correlation": activity},
        {
            "distance of ids": np.array([*(str(one) for one in range(1, NEAR + 1)), "random"]),
            "share of users": np.array([*by_distance, float(far.mean()) / (2 * NEAR)]),
        },
        subject.looked(),
    )


def _have(
    users: NDArray[np.int64], items: NDArray[np.int64], train: NDArray[np.int64], subject: ItemSubject
) -> NDArray[np.float64]:
    """Return 1 where a user has an item in training, float64 (n,)."""
    wanted = users * subject.data.num_items + items
    place = np.minimum(np.searchsorted(train, wanted), len(train) - 1)
    return np.asarray(train[place] == wanted, dtype=np.float64)
