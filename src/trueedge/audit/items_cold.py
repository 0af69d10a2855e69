"""Cold starts of recommendation: users, items and histories that training says little about."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Finding, chance_share, check, graded, graded_share, percent, picture
from trueedge.audit.items_subject import ItemSubject

KINDS = ("items",)
# No method that learns from interactions can rank these: a hundredth is worth saying, and with a tenth,
# results depend on how a method breaks ties.
COLD_LOOK, COLD_BROKEN = 0.01, 0.1
# The papers keep users with ten interactions or more; with fewer than five, a list is mostly popularity.
FEW = 5
FEW_LOOK, FEW_BROKEN = 0.2, 0.8
# Items without any interaction are candidates that every method ranks last: they make the task easier.
UNUSED_LOOK, UNUSED_BROKEN = 0.05, 0.5


@check(
    "cold-users",
    "likeness",
    title="test users without training items",
    question="Does training tell anything about the users of the test part?",
    rule=f"look: more than {percent(COLD_LOOK)} of the test interactions have a user without a training item;"
    f" broken: more than {percent(COLD_BROKEN)}",
    advice="Report these users separately: no method can learn from their interactions",
    picture=picture("Test interactions by their user", "bars", "test interactions", "user"),
    kinds=KINDS,
)
def _cold_users(subject: ItemSubject) -> Finding:
    return _cold(subject, "cold-users", subject.data.user_counts, 0, ("user", "users"), "training items")


@check(
    "cold-items",
    "likeness",
    title="test items without training users",
    question="Does training tell anything about the items of the test part?",
    rule=f"look: more than {percent(COLD_LOOK)} of the test interactions have an item without a training"
    f" user; broken: more than {percent(COLD_BROKEN)}",
    advice="Report these items separately: no method can learn from their interactions",
    picture=picture("Test interactions by their item", "bars", "test interactions", "item"),
    kinds=KINDS,
)
def _cold_items(subject: ItemSubject) -> Finding:
    return _cold(subject, "cold-items", subject.data.item_counts, 1, ("item", "items"), "training users")


def _cold(
    subject: ItemSubject, name: str, counts: NDArray[np.int64], column: int, noun: tuple[str, str], what: str
) -> Finding:
    ids = subject.test[:, column]
    cold = counts[ids] == 0
    share, distinct = float(cold.mean()), np.unique(ids)
    few = int((counts[distinct] == 0).sum())
    told = f"all {len(distinct):,} test {noun[1]} have {what}"
    if few:
        told = (
            f"{few:,} of {len(distinct):,} test {noun[1]} have no {what}: they are in {int(cold.sum()):,} of"
            f" {len(cold):,} test interactions"
        )
    if column and few and subject.knowledge is not None:
        triples = subject.knowledge.in_degrees + subject.knowledge.out_degrees
        known = int((triples[distinct[counts[distinct] == 0]] > 0).sum())
        told += f"; {known:,} of these items have triples, which only methods that read them can use"
    return Finding(
        name,
        graded_share(share, COLD_LOOK, COLD_BROKEN, len(cold)),
        percent(share),
        told,
        {"share": share, "test interactions": float(cold.sum()), noun[1]: float(few)},
        {
            noun[0]: np.array([f"with {what}", "without"]),
            "test interactions": np.array([int((~cold).sum()), int(cold.sum())]),
        },
        subject.looked(),
    )


@check(
    "short-histories",
    "likeness",
    title="test users with few training items",
    question="Do test users have enough training items to learn from?",
    rule=f"look: more than {percent(FEW_LOOK)} of the test users have fewer than {FEW} training items;"
    f" broken: more than {percent(FEW_BROKEN)}",
    advice="Use `--option core=5`, or report users with few items separately",
    picture=picture("Test users by their number of training items", "bars", "test users", "training items"),
    kinds=KINDS,
)
def _short(subject: ItemSubject) -> Finding:
    users = np.unique(subject.test[:, 0])
    counts = subject.data.user_counts[users]
    short = counts < FEW
    share = float(short.mean())
    of_them = float(np.isin(subject.test[:, 0], users[short]).mean())
    ends = np.array([0, 4, 9, 19, 49, 99])
    names = ["0", "1–4", "5–9", "10–19", "20–49", "50–99", "100+"]
    return Finding(
        "short-histories",
        graded_share(share, FEW_LOOK, FEW_BROKEN, len(users)),
        percent(share),
        f"{int(short.sum()):,} of {len(users):,} test users have fewer than {FEW} training items (median"
        f" {np.median(counts):g})"
        + (f"; they have {percent(of_them)} of the test interactions" if short.any() else ""),
        {
            "share": share,
            "test users": float(short.sum()),
            "median training items": float(np.median(counts)),
            "share of test interactions": of_them,
        },
        {
            "training items": np.array(names),
            "test users": np.bincount(np.searchsorted(ends, counts), minlength=len(names)),
        },
        f"{len(users):,} test users",
    )


@check(
    "unused-items",
    "data",
    title="items without any interaction",
    question="Are items ranked that nobody ever used?",
    rule=f"look: more than {percent(UNUSED_LOOK)} of the items have no interaction in any part; broken: more"
    f" than {percent(UNUSED_BROKEN)}",
    advice="Leave these items out of the candidates",
    picture=picture("Items by their interactions", "bars", "items"),
    kinds=KINDS,
)
def _unused(subject: ItemSubject) -> Finding:
    total = np.bincount(subject.whole[:, 1], minlength=subject.data.num_items)
    counts = subject.data.item_counts
    unused = total == 0
    share = float(unused.mean())
    hidden = (counts == 0) & ~unused
    return Finding(
        "unused-items",
        graded(share, UNUSED_LOOK, UNUSED_BROKEN, chance_share(UNUSED_LOOK, len(unused))),
        percent(share),
        f"{int(unused.sum()):,} of {len(unused):,} items have no interaction in any part, and"
        f" {int(hidden.sum()):,} have some only in held-out parts; {int((counts == 1).sum()):,} have a single"
        " training interaction",
        {
            "share": share,
            "items": float(unused.sum()),
            "items in held-out parts alone": float(hidden.sum()),
            "items with one training interaction": float((counts == 1).sum()),
        },
        {
            "interactions": np.array(["in training", "held out alone", "none"]),
            "items": np.array([int((counts > 0).sum()), int(hidden.sum()), int(unused.sum())]),
        },
        f"{len(unused):,} items",
    )
