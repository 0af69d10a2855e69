"""Likeness: can a single property of a pair separate negatives from positives?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import DEGREES, FEATURES, measure_distance
from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    Skipped,
    check,
    graded,
    pairs_needed,
    percent,
    picture,
)
from trueedge.audit.subject import LinkSubject, View
from trueedge.methods import create

# The gap of two distributions (Kolmogorov and Smirnov's) is what the best single threshold wins over chance:
# with a gap of d it has an AUC of (1 + d) / 2. So 0.2 is worth 0.6 to a yes or no, and 0.6 is worth 0.8.
GAP_LOOK, GAP_BROKEN = 0.2, 0.6
# Where nine in ten negatives have no common neighbour, "none" is nearly the same as "no"; it decides the task
# where most positives have one (Li et al. 2023, section 4.1).
NONE_LOOK, NONE_BROKEN, NONE_OF_POSITIVES = 0.5, 0.9, 0.5
# Negatives' cosine on the way from random pairs (0) to positives (1): chosen to be hard they are half way
# there, and a tenth of the way may be due to chance.
HARD_LOOK = 0.1
_GAP_RULE = f"look: a Kolmogorov–Smirnov distance above {GAP_LOOK}; broken: above {GAP_BROKEN}"
MOST_COUNTED = 10
GRID = 40


def gap(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the largest distance between two empirical distributions, from 0 (the same) to 1 (apart).

    Args:
        first: float64 (n,), at least one.
        second: float64 (m,), at least one.
    """
    values = np.union1d(first, second)
    below = [np.searchsorted(np.sort(one), values, side="right") / len(one) for one in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def chance_gap(first: int, second: int) -> float:
    """Return the gap that two samples of one distribution reach one time in a thousand (Smirnov 1948)."""
    return 1.95 * float(np.sqrt((first + second) / (first * second)))


def _apart(
    name: str, view: View, apart: float, sentence: str, numbers: dict[str, float], series: dict[str, Any]
) -> Finding:
    """The finding on two distributions that are so far apart."""
    noise = chance_gap(len(view.positives), view.negatives.size // 2)
    verdict = graded(apart, GAP_LOOK, GAP_BROKEN, noise)
    return Finding(name, verdict, f"{apart:.3f}", sentence, {"gap": apart, **numbers}, series, view.sizes())


@check(
    "degrees",
    "likeness",
    title="degrees of negatives and positives",
    question="Do degrees separate negatives from positives?",
    rule=_GAP_RULE,
    advice=DEGREES,
    fewest=pairs_needed(chance_gap, GAP_BROKEN),
    picture=picture(
        "Degrees of the end nodes", "lines", "share of end nodes of that degree or more", log_x=True
    ),
)
def _degrees(subject: LinkSubject) -> Finding:
    view = subject.pairs()
    degrees = subject.graph.degrees.astype(np.float64)
    above, below = degrees[view.positives].reshape(-1), degrees[view.negatives].reshape(-1)
    apart = gap(above, below)
    top = max(float(above.max()), float(below.max()), 2.0)
    grid = np.unique(np.geomspace(1.0, top, GRID).astype(np.int64))
    return _apart(
        "degrees",
        view,
        apart,
        f"the degree distributions of positives (mean {above.mean():.1f}) and negatives ({below.mean():.1f})"
        f" have a Kolmogorov–Smirnov distance of {apart:.2f}: one threshold has an AUC of"
        f" {(1 + apart) / 2:.2f}",
        {"positives": float(above.mean()), "negatives": float(below.mean())},
        {"degree": grid, "positives": _at_least(above, grid), "negatives": _at_least(below, grid)},
    )


def _at_least(values: NDArray[np.float64], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of values at or above each of a grid."""
    shares: NDArray[np.float64] = 1.0 - np.searchsorted(np.sort(values), grid, side="left") / len(values)
    return shares


@check(
    "common-neighbours",
    "likeness",
    title="common neighbours of negatives and positives",
    question="Does the number of common neighbours separate negatives from positives?",
    rule=_GAP_RULE,
    advice=measure_distance,
    fewest=pairs_needed(chance_gap, GAP_BROKEN),
    picture=picture("Common neighbours", "bars", "share of pairs"),
)
def _common_neighbours(subject: LinkSubject) -> Finding | Skipped:
    if subject.without_common_neighbours:
        return Skipped(subject.without_common_neighbours)
    view = subject.pairs()
    above, below = (scores.reshape(-1) for scores in subject.scores("cn", view))
    apart = gap(above, below)
    return _apart(
        "common-neighbours",
        view,
        apart,
        f"positives have {above.mean():.2f} common neighbours on average, negatives {below.mean():.2f}; their"
        f" distributions have a Kolmogorov–Smirnov distance of {apart:.2f}",
        {"positives": float(above.mean()), "negatives": float(below.mean())},
        _counted(above, below),
    )


def _counted(above: NDArray[np.float64], below: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """How many pairs have 0, 1, 2, … common neighbours; in doubling steps where many have more than ten."""
    largest = max(float(np.quantile(one, 0.95)) for one in (above, below))
    starts = np.arange(MOST_COUNTED + 1)
    if largest > MOST_COUNTED:
        starts = np.concatenate([[0], 2 ** np.arange(int(np.log2(largest)) + 2)])
    names = [
        str(first) if after == first + 1 else f"{first}–{after - 1}"
        for first, after in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    bounds = np.append(starts, np.inf)
    return {
        "common neighbours": np.array([*names, f"{starts[-1]}+"]),
        "positives": np.histogram(above, bounds)[0] / len(above),
        "negatives": np.histogram(below, bounds)[0] / len(below),
    }


@check(
    "no-common-neighbour",
    "likeness",
    title="negatives without a common neighbour",
    question="Does having any common neighbour separate negatives from positives?",
    rule=f"look: the share without one is more than {100 * NONE_LOOK:.1f} percentage points higher among"
    " negatives than among positives; broken:"
    f" more than {percent(NONE_BROKEN)} of the negatives and less than {percent(NONE_OF_POSITIVES)} of the"
    " positives have none",
    advice=measure_distance,
    fewest=pairs_needed(chance_gap, NONE_LOOK),
    picture=picture("Pairs with and without a common neighbour", "bars", "share of pairs"),
)
def _no_common_neighbour(subject: LinkSubject) -> Finding | Skipped:
    if subject.without_common_neighbours:
        return Skipped(subject.without_common_neighbours)
    view = subject.pairs()
    above, below = (float((scores == 0).mean()) for scores in subject.scores("cn", view))
    noise = chance_gap(len(view.positives), view.negatives.size // 2)
    verdict = graded(below - above, NONE_LOOK, 1.0, noise)
    if below > NONE_BROKEN and above < NONE_OF_POSITIVES and below - above > noise:
        verdict = "broken"
    return Finding(
        "no-common-neighbour",
        verdict,
        percent(below),
        f"{percent(below)} of the negatives and {percent(above)} of the positives have no common neighbour",
        {"negatives": below, "positives": above},
        {
            "common neighbours": np.array(["none", "one or more"]),
            "positives": np.array([above, 1.0 - above]),
            "negatives": np.array([below, 1.0 - below]),
        },
        view.sizes(),
    )


@check(
    "distances",
    "likeness",
    title="shortest paths of negatives and positives",
    question="Does distance separate negatives from positives?",
    rule=_GAP_RULE,
    advice=measure_distance,
    fewest=pairs_needed(chance_gap, GAP_BROKEN),
    picture=picture("Shortest paths", "bars", "share of pairs", "length of the shortest path"),
)
def _distances(subject: LinkSubject) -> Finding:
    view = subject.pairs(subject.path_limit)
    above, below = (scores.reshape(-1) for scores in subject.scores("shortest-path", view))
    apart = gap(above, below)
    steps = [_steps(above), _steps(below)]
    longest = max(1, *(int(one.max()) for one in steps))
    counted = [np.bincount(np.where(one < 0, longest + 1, one), minlength=longest + 2)[1:] for one in steps]
    far = [float((one < 0).mean()) for one in steps]
    # Edges of a bipartite graph are at odd distances.
    reach, name = (3, "three") if subject.without_common_neighbours else (2, "two")
    near = [float(((one > 0) & (one <= reach)).mean()) for one in steps]
    return _apart(
        "distances",
        view,
        apart,
        f"{percent(near[0])} of the positives and {percent(near[1])} of the negatives are within distance"
        f" {name}, {percent(far[0])} and {percent(far[1])} have no path; the distributions have a"
        f" Kolmogorov–Smirnov distance of {apart:.2f}",
        {"positives near": near[0], "negatives near": near[1], "positives apart": far[0]}
        | {"negatives apart": far[1]},
        {
            "steps": np.array([*_named_steps(longest), "no path"]),
            "positives": _gathered(counted[0]) / len(above),
            "negatives": _gathered(counted[1]) / len(below),
        },
    )


def _named_steps(longest: int) -> list[str]:
    """Numbers of steps in words; beyond ten they are one kind."""
    names = [str(step) for step in range(1, min(longest, MOST_COUNTED) + 1)]
    return [*names[:-1], f"{names[-1]}+"] if longest > MOST_COUNTED else names


def _gathered(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of 1, 2, … steps and of no path, with those beyond ten steps in one."""
    head, far = counts[: MOST_COUNTED - 1], counts[MOST_COUNTED - 1 : -1]
    joined = [far.sum()] if len(far) else []
    return np.array([*head[: len(counts) - 1], *joined, counts[-1]])


def _steps(closeness: NDArray[np.float64]) -> NDArray[np.int64]:
    """Steps behind one over the distance; 0 for a node and itself, -1 where there is no path."""
    steps = np.rint(np.divide(1.0, closeness, out=np.full(len(closeness), -1.0), where=closeness > 0))
    steps[closeness > 1] = 0
    return np.asarray(steps, dtype=np.int64)


@check(
    "feature-similarity",
    "likeness",
    title="feature similarity of negatives, random pairs and positives",
    question="Are the negatives' features more similar than those of random pairs?",
    rule=f"look: less than {percent(HARD_LOOK)} of the way from random pairs to positives",
    advice=FEATURES,
    fewest=pairs_needed(chance_gap, GAP_BROKEN),
    picture=picture("Similarity of features", "lines", "share of pairs", "cosine of the end nodes' features"),
)
def _features(subject: LinkSubject) -> Finding | Skipped:
    if subject.task.features is None:
        return Skipped("the nodes have no features")
    view = subject.pairs()
    above, below = (scores.reshape(-1) for scores in subject.scores("cosine", view))
    scorer = create("cosine").fit(subject.task)
    chance = scorer.score(subject.random_pairs(min(subject.sample, 20_000)))
    means = {
        "negatives": float(below.mean()),
        "positives": float(above.mean()),
        "random": float(chance.mean()),
    }
    way = means["positives"] - means["random"]
    noise = STANDARD_ERRORS * float(np.hypot(*(one.std() / np.sqrt(len(one)) for one in (above, chance))))
    # Where positives are no more alike than chance, features tell nothing, and negatives cannot be too easy.
    hardness = (means["negatives"] - means["random"]) / way if way > noise else 1.0
    told = f"{percent(hardness)} of the way from random pairs to positives"
    if hardness <= 0:
        told = "negatives are no more alike than random pairs"
    if way <= noise:
        told = "features do not separate positives from random pairs"
    edges = np.linspace(min(-1e-9, *(float(one.min()) for one in (above, below, chance))), 1.0, GRID + 1)
    edges[-1] += 1e-6
    named = {"positives": above, "negatives": below, "random pairs": chance}
    return Finding(
        "feature-similarity",
        "look" if hardness < HARD_LOOK else "ok",
        f"{means['negatives']:.3f}",
        f"the mean cosine is {means['negatives']:.3f} for negatives, {means['random']:.3f} for random pairs"
        f" and {means['positives']:.3f} for positives: {told}",
        {**means, "hardness": hardness},
        {"cosine": (edges[:-1] + edges[1:]) / 2}
        | {name: np.histogram(one, edges)[0] / len(one) for name, one in named.items()},
        f"{view.sizes()}, {len(chance):,} random pairs",
    )
