"""Popularity in recommendation: what it achieves alone, and how unequal items are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import POPULARITY
from trueedge.audit.check import Finding, Skipped, Verdict, check, graded, percent, picture
from trueedge.audit.items_subject import FEWEST_USERS, SCORERS, ItemSubject

KINDS = ("items",)
# The share of the way from random lists to item neighbours. With a half, most of a score is the same for
# everybody; above nine tenths, personal lists are hardly worth more.
POPULAR_LOOK, POPULAR_BROKEN = 0.5, 0.9
# What item neighbours are above random scores, at least, if tastes differ; so much must be seen.
LEARNED = 0.05
TOP, WIDE = 0.01, 0.2
TOP_LOOK, WIDE_LOOK = 0.2, 0.8
GINI_LOOK, GINI_BROKEN = 0.7, 0.95


@check(
    "shortcut-popularity",
    "shortcuts",
    title="the NDCG of popularity alone",
    question="How much of the task can be solved with one list for everybody?",
    rule=f"look: popularity is more than {percent(POPULAR_LOOK)} of the way from the NDCG of random scores to"
    f" that of item neighbours, or these are no better than random; broken: more than"
    f" {percent(POPULAR_BROKEN)}",
    advice=POPULARITY,
    fewest={"users": FEWEST_USERS},
    picture=picture("Performance of popularity, and of scorers to compare it with", "bars", "value"),
    kinds=KINDS,
)
def _popularity(subject: ItemSubject) -> Finding | Skipped:
    if not subject.rankable:
        return Skipped("all test interactions are known from other parts")
    found = {name: subject.evaluate(name) for name in ("popularity", "neighbours")}
    gain = {name: subject.above_chance(name) for name in found}
    share = gain["popularity"] / max(gain["neighbours"], 1e-9)
    learned = {name: gain[name] > subject.noise(name) for name in found}
    verdict: Verdict = "ok"
    if not learned["neighbours"]:
        verdict = "look" if subject.noise("neighbours") < LEARNED else "too small"
    if learned["popularity"]:
        verdict = graded(share, POPULAR_LOOK, POPULAR_BROKEN)
    told = "; ".join(
        f"{SCORERS[name][1]}: "
        + ", ".join(f"{metric_title(metric)} {one[metric]:.4f}" for metric in subject.metrics)
        for name, one in found.items()
    )
    chance = ", ".join(f"{value:.4f}" for value in subject.chance.values())
    way = "item neighbours are no better than random scores"
    if learned["neighbours"]:
        way = f"popularity is {percent(share)} of the way from random scores to item neighbours"
    ndcg, recall = subject.metrics
    return Finding(
        "shortcut-popularity",
        verdict,
        f"{found['popularity'][ndcg]:.4f}",
        f"{told}; random scores: {chance}: {way}",
        {
            ndcg: found["popularity"][ndcg],
            recall: found["popularity"][recall],
            "chance": subject.chance[ndcg],
            "share of the way to item neighbours": share,
            f"{ndcg} of item neighbours": found["neighbours"][ndcg],
            f"{recall} of item neighbours": found["neighbours"][recall],
        },
        {
            "metric": np.array([metric_title(metric) for metric in subject.metrics]),
            "popularity": np.array([found["popularity"][metric] for metric in subject.metrics]),
            "item neighbours": np.array([found["neighbours"][metric] for metric in subject.metrics]),
            "random scores": np.array(list(subject.chance.values())),
        },
        subject.looked_users(),
    )


def metric_title(name: str) -> str:
    """Return how a metric is written: ``NDCG@20``, ``recall@20``."""
    return name.replace("ndcg", "NDCG")


@check(
    "popular-items",
    "degree bias",
    title="test interactions with popular items",
    question="How many test interactions have one of the few most popular items?",
    rule=f"look: more than {percent(TOP_LOOK)} of the test interactions have one of the {percent(TOP)} of"
    f" items with the most training users, or more than {percent(WIDE_LOOK)} one of the {percent(WIDE)}",
    advice=POPULARITY,
    fewest={"items": round(1 / TOP)},
    picture=picture(
        "Interactions of the most popular items", "lines", "share of the interactions", "share of the items"
    ),
    kinds=KINDS,
)
def _popular(subject: ItemSubject) -> Finding:
    counts = subject.data.item_counts
    order = np.argsort(-counts, kind="stable")
    of_test = np.bincount(subject.test[:, 1], minlength=len(counts))
    shares = [_top(order, of_test, part) for part in (TOP, WIDE)]
    verdict: Verdict = "look" if shares[0] > TOP_LOOK or shares[1] > WIDE_LOOK else "ok"
    places = np.unique(np.round(np.linspace(0, 1, 51) * len(counts)).astype(np.int64))
    curves = {
        name: np.concatenate([[0.0], np.cumsum(one[order]) / max(one.sum(), 1)])[places]
        for name, one in (("training", counts), ("test", of_test))
    }
    return Finding(
        "popular-items",
        verdict,
        percent(shares[0]),
        f"{percent(shares[0])} of the test interactions have {_many(TOP, len(counts))} ({percent(TOP)}), and"
        f" {percent(shares[1])} {_many(WIDE, len(counts))} ({percent(WIDE)})",
        {"share of the top 1 %": shares[0], "share of the top 20 %": shares[1]},
        {"share of the items": places / len(counts), **curves},
        subject.looked(),
    )


def _many(part: float, count: int) -> str:
    most = max(1, round(part * count))
    return "the most popular item" if most == 1 else f"one of the {most:,} most popular items"


def _top(order: NDArray[np.int64], counts: NDArray[np.int64], part: float) -> float:
    return float(counts[order[: max(1, round(part * len(order)))]].sum() / counts.sum())


@check(
    "item-inequality",
    "degree bias",
    title="the Gini index of the items",
    question="How unequally are the training interactions divided among the items?",
    rule=f"look: a Gini index above {GINI_LOOK}; broken: above {GINI_BROKEN}",
    advice=POPULARITY,
    picture=picture("Items by their training users", "bars", "items", "training users"),
    kinds=KINDS,
)
def _inequality(subject: ItemSubject) -> Finding:
    counts = subject.data.item_counts
    value, of_users = gini(counts), gini(subject.data.user_counts)
    ends = np.array([0, 1, 4, 9, 49, 99, 499, 999])
    names = ["0", "1", "2–4", "5–9", "10–49", "50–99", "100–499", "500–999", "1000+"]
    bars = np.bincount(np.searchsorted(ends, counts), minlength=len(names))
    last = int(np.flatnonzero(bars)[-1]) + 1
    return Finding(
        "item-inequality",
        graded(value, GINI_LOOK, GINI_BROKEN),
        f"{value:.3f}",
        f"the Gini index of training users is {value:.3f} for items (0: all alike, 1: one has all) and"
        f" {of_users:.3f} for users; an item has a median of {np.median(counts):g} users and at most"
        f" {counts.max():,}",
        {
            "gini": value,
            "gini of users": of_users,
            "median users": float(np.median(counts)),
            "most users": float(counts.max()),
        },
        {"training users": np.array(names[:last]), "items": bars[:last]},
        f"{len(counts):,} items",
    )


def gini(counts: NDArray[np.int64]) -> float:
    """Return the Gini index: the mean difference of two counts, divided by twice their mean."""
    ordered = np.sort(counts).astype(np.float64)
    total, number = ordered.sum(), len(ordered)
    if not total:
        return 0.0
    return float((2 * np.arange(1, number + 1) - number - 1) @ ordered / (number * total))
