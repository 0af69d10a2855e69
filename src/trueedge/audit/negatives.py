"""Negatives: are they distinct, and do they come from the whole graph?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    Verdict,
    chance_share,
    check,
    graded,
    percent,
    picture,
    smallest,
)
from trueedge.audit.leaks import PART_WORDS, repeats_in_lists
from trueedge.audit.subject import LinkSubject, View
from trueedge.randomness import generator

# A repeat adds no comparison: a hundredth is careless, and with a tenth a list is shorter than it says.
REPEATS_LOOK, REPEATS_BROKEN = 0.01, 0.1
# Of the nodes that drawing uniformly or by degree would reach, the fewer of the two: half of them missing is
# worth a look, and below a tenth the benchmark is about other nodes than the graph's.
COVERAGE_LOOK, COVERAGE_BROKEN = 0.5, 0.1
# An eighth of the ids: the width of the band that ties broken by position leave behind.
BAND = 0.125
# The densest band, as a multiple of what drawing uniformly or by degree gives: hard negatives favour some
# nodes, but ids mean nothing. Half as much again is more than communities numbered in a row bring about.
BAND_LOOK, BAND_BROKEN = 1.5, 3.0
REPLICAS, DRAWS = 30, 100_000
BLOCKS = 64


def chance_coverage(negatives: int) -> float:
    """Return how far the nodes that two ends of so few pairs reach are from their mean, as a share of it."""
    return STANDARD_ERRORS / math.sqrt(2 * negatives)


def drawn_ends(view: View) -> NDArray[np.int64]:
    """The ends of negatives that were drawn: those not the positive's, or both of shared negatives."""
    if not view.per_positive:
        return view.negatives.reshape(-1)
    source, target = view.positives[:, None, 0], view.positives[:, None, 1]
    first, second = view.negatives[..., 0], view.negatives[..., 1]
    kept_first = (first == source) | ((first == target) & (second != target))
    kept_second = ~kept_first & ((second == target) | (second == source))
    neither = ~kept_first & ~kept_second
    return np.concatenate([second[kept_first], first[kept_second], first[neither], second[neither]])


def densest_band(counts: NDArray[np.int64]) -> tuple[float, int, int]:
    """The largest share of counts in a contiguous eighth of the ids, with its first and last id.

    Args:
        counts: int64 (n,), how often each node occurs.
    """
    width = max(1, int(np.ceil(BAND * len(counts))))
    before = np.concatenate([[0], np.cumsum(counts)])
    inside = before[width:] - before[:-width]
    start = int(inside.argmax())
    return float(inside[start] / before[-1]), start, start + width - 1


@check(
    "distinct-negatives",
    "negatives",
    title="negatives that repeat within a list",
    question="Are the negatives within each list distinct?",
    rule=f"look: more than {percent(REPEATS_LOOK)} repeated; broken: more than {percent(REPEATS_BROKEN)}",
    advice="Draw the negatives again, without replacement",
    picture=picture(
        "Lists by their share of repeats", "bars", "share of the lists", "share of a list that is repeated"
    ),
)
def _distinct(subject: LinkSubject) -> Finding:
    task = subject.task
    shares = {
        name: repeats_in_lists(subject.listed_for_leaks(name), task.num_nodes) for name in subject.judged
    }
    name = max(shares, key=lambda part: float(shares[part].mean()))
    share = float(shares[name].mean())
    count = subject.listed_for_leaks(name).negatives.size // 2
    lists = f"; in the worst list {percent(float(shares[name].max()))}" if len(shares[name]) > 1 else ""
    return Finding(
        "distinct-negatives",
        graded(share, REPEATS_LOOK, REPEATS_BROKEN, chance_share(REPEATS_LOOK, count)),
        percent(share),
        f"{percent(share)} of the {PART_WORDS[name]} negatives are repeated within their list{lists}",
        {"share": share, "worst list": float(shares[name].max())},
        _by_repeats(shares[name]),
        subject.looked_for_leaks(),
    )


def _by_repeats(shares: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """How many lists repeat how much; nothing where all positives share one list, or none repeats."""
    if len(shares) == 1 or not shares.any():
        return {}
    counts, edges = np.histogram(shares, np.linspace(0.0, float(shares.max()) * (1 + 1e-9), 21))
    return {"repeats": (edges[:-1] + edges[1:]) / 2, "share of lists": counts / len(shares)}


@check(
    "node-coverage",
    "negatives",
    title="nodes reached by negatives",
    question="Do the negatives cover the whole graph?",
    rule=f"look: less than {percent(COVERAGE_LOOK)} of the nodes that random draws reach; broken: less than"
    f" {percent(COVERAGE_BROKEN)} of them",
    advice="Draw the negatives again, from all nodes",
    fewest={"test negatives": smallest(chance_coverage, 1.0 - COVERAGE_BROKEN)},
    picture=picture("Nodes reached by negatives", "bars", "share of the nodes"),
)
def _coverage(subject: LinkSubject) -> Finding:
    ends = drawn_ends(subject.listed_for_leaks())
    nodes = subject.task.num_nodes
    reached = len(np.unique(ends)) / nodes
    draws = len(ends)
    weights = subject.degrees / max(1, int(subject.degrees.sum()))
    uniform = float(-np.expm1(-draws / nodes))
    by_degree = float(-np.expm1(-draws * weights).mean())
    expected = min(uniform, by_degree)
    ratio = reached / expected if expected else 1.0
    return Finding(
        "node-coverage",
        graded(-ratio, -COVERAGE_LOOK, -COVERAGE_BROKEN),
        percent(reached),
        f"the negatives reach {percent(reached)} of the nodes; as many random draws would reach"
        f" {percent(uniform)} uniformly and {percent(by_degree)} by degree",
        {"reached": reached, "uniform": uniform, "by degree": by_degree, "ratio": ratio},
        {
            "negatives": np.array(["of this benchmark", "drawn uniformly", "drawn by degree"]),
            "share of nodes": np.array([reached, uniform, by_degree]),
        },
        subject.listed_for_leaks().sizes(),
    )


@check(
    "id-bands",
    "negatives",
    title="negatives that crowd in a band of node ids",
    question="Do the negatives depend on the order of node ids?",
    rule=f"look: the densest eighth of the ids holds more than {BAND_LOOK} times what chance gives; broken:"
    f" more than {BAND_BROKEN} times",
    advice="Draw the negatives again, and break ties at random instead of by node id",
    picture=picture("Drawn end nodes by node id", "lines", "share of the ends", "node id"),
)
def _bands(subject: LinkSubject) -> Finding:
    ends = drawn_ends(subject.listed_for_leaks())
    nodes = subject.task.num_nodes
    counts = np.bincount(ends, minlength=nodes)
    share, first, last = densest_band(counts)
    chance = max(_chance_band(subject, None, len(ends)), _chance_band(subject, subject.degrees, len(ends)))
    ratio = share / chance
    # So few ends are in one band by chance.
    verdict: Verdict = "too small" if BAND_LOOK * chance >= 1.0 else graded(ratio, BAND_LOOK, BAND_BROKEN)
    ids = np.linspace(0, nodes, min(BLOCKS, nodes) + 1).astype(np.int64)
    degrees = np.add.reduceat(subject.degrees, ids[:-1])
    return Finding(
        "id-bands",
        verdict,
        percent(share),
        f"{percent(share)} of the drawn end nodes have ids {first} to {last},"
        f" {percent((last - first + 1) / nodes)}"
        f" of all ids; by chance such a band holds at most {percent(chance)}",
        {"share": share, "chance": chance, "ratio": ratio, "first id": float(first), "last id": float(last)},
        {
            "first id": ids[:-1],
            "drawn": np.add.reduceat(counts, ids[:-1]) / len(ends),
            "uniform": np.diff(ids) / nodes,
            "by degree": degrees / max(1, int(degrees.sum())),
        },
        subject.listed_for_leaks().sizes(),
    )


def _chance_band(subject: LinkSubject, weights: NDArray[np.int64] | None, draws: int) -> float:
    """The densest band that drawing ends at random gives in thirty tries; by weight, or uniformly."""
    nodes, draws = subject.task.num_nodes, min(draws, DRAWS)
    rng = generator(subject.seed, "audit", "bands", "uniform" if weights is None else "degree")
    heap = None if weights is None else np.cumsum(weights)
    densest = 0.0
    for _ in range(REPLICAS):
        if heap is None or heap[-1] == 0:
            ends = rng.integers(0, nodes, size=draws)
        else:
            ends = np.searchsorted(heap, rng.integers(0, heap[-1], size=draws), side="right")
        densest = max(densest, densest_band(np.bincount(ends, minlength=nodes))[0])
    return densest
