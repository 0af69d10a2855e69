"""Times in recommendation: does a model know what happened after a test interaction?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import split_by_time
from trueedge.audit.check import Finding, Skipped, check, graded_share, percent, picture
from trueedge.audit.items_subject import FEWEST_USERS, ItemSubject, Timed

KINDS = ("items",)
# A time split of each user has none. A twentieth can be repeats and equal times; with a half, a model is
# tested on the past more than on the future (Ji et al., A Critical Study on Data Leakage in Recommender
# System Offline Evaluation, TOIS 2023).
FUTURE_LOOK, FUTURE_BROKEN = 0.05, 0.5
# An item that nobody had used is not in any real list: few are worth saying.
NEW_LOOK, NEW_BROKEN = 0.01, 0.1
# Within a hundredth of the whole time, the order is that of a form or a list, and not of tastes that change.
SESSION = 0.01


@check(
    "future-of-users",
    "leaks",
    title="test interactions before the last training interaction of the user",
    question="Does a model know what a user did after the test interaction?",
    rule=f"look: more than {percent(FUTURE_LOOK)} of the test interactions are older than the newest training"
    f" interaction of their user; broken: more than {percent(FUTURE_BROKEN)}",
    advice=split_by_time,
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
    verdict = graded_share(share, FUTURE_LOOK, FUTURE_BROKEN, len(newer))
    return Finding(
        "future-of-users",
        verdict,
        percent(share),
        f"{percent(share)} of {_said(timed)} are older than the newest training interaction of their user,"
        f" and on average {percent(float(part.mean()))} of the user's training interactions are newer",
        {
            "share": share,
            "share of newer training interactions": float(part.mean()),
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
    advice=split_by_time,
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
    # Even if each user's latest interactions are held out, others go on: popularity is known in advance.
    older = np.searchsorted(np.sort(timed.train_times), timed.test_times, side="right")
    newer = 1 - float(older.mean()) / len(timed.train)
    return Finding(
        "future-of-items",
        graded_share(share, NEW_LOOK, NEW_BROKEN, len(later)),
        percent(share),
        f"{percent(share)} of {_said(timed)} are older than all training interactions of their item; at the"
        f" time of a test interaction, {percent(unknown)} of the ranked items with training interactions had"
        f" none yet, and {percent(newer)} of all training interactions are newer",
        {
            "share": share,
            "items that nobody had used": unknown,
            "newer training interactions": newer,
            "cold": float(never.mean()),
        },
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


@check(
    "single-sessions",
    "data",
    title="users who were active once",
    question="Does the order of a user's interactions say anything about time?",
    rule=f"look: half of the users with several training interactions have all of them within"
    f" {percent(SESSION)} of the whole time",
    advice="Do not read the order of interactions as time",
    fewest={"users": FEWEST_USERS},
    picture=picture(
        "Users by the time from their first to their last training interaction",
        "bars",
        "users",
        "share of the whole time",
    ),
    kinds=KINDS,
)
def _sessions(subject: ItemSubject) -> Finding | Skipped:
    timed = subject.timed
    if isinstance(timed, str):
        return Skipped(timed)
    spans = _spans(timed)
    if not len(spans):
        return Skipped("no user has two training interactions at different times")
    median, short = float(np.median(spans)), float((spans < SESSION).mean())
    ends = np.array([0.0001, 0.001, 0.01, 0.1])
    names = [f"up to {100 * one:g} %" for one in ends] + ["more"]
    return Finding(
        "single-sessions",
        "look" if median < SESSION else "ok",
        percent(median),
        f"the median user has all training interactions within {percent(median)} of the whole time, and"
        f" {percent(short)} of the users within {percent(SESSION)}",
        {"median": median, "users": short},
        {
            "share of the whole time": np.array(names),
            "users": np.bincount(np.searchsorted(ends, spans), minlength=len(names)),
        },
        f"{len(spans):,} users",
    )


def _spans(timed: Timed) -> NDArray[np.float64]:
    """Return the time from the first to the last training interaction of each user, as a share of all.

    Users with one training interaction are left out.
    """
    users, times = timed.train[:, 0], timed.train_times
    order = np.lexsort((times, users))
    starts = np.flatnonzero(np.diff(users[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    whole = float(np.ptp(times))
    if not whole:
        return np.empty(0)
    spans: NDArray[Any] = (times[order][ends] - times[order][starts]) / whole
    return np.asarray(spans[ends > starts])


def _said(timed: Timed) -> str:
    return "the test interactions" if timed.held_out else "randomly held-out interactions"


def _looked(timed: Timed) -> str:
    if timed.held_out:
        return f"{len(timed.test):,} test interactions"
    return (
        f"{len(timed.test):,} training interactions that stand for the random test part, whose times the task"
        " does not keep"
    )
