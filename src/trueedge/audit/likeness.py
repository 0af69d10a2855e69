"""Likeness: whether a single number of a pair tells negatives from positives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Check, Finding, Skipped, Verdict, graded, percent, register
from trueedge.audit.picture import Picture
from trueedge.audit.subject import Subject, View
from trueedge.methods import create

# The gap of two distributions (Kolmogorov and Smirnov's) is what the best single threshold wins over chance:
# with a gap of d it has an AUC of (1 + d) / 2. So 0.2 is worth 0.6 to a yes or no, and 0.6 is worth 0.8.
GAP_LOOK, GAP_BROKEN = 0.2, 0.6
# Where nine in ten negatives have no common neighbour, "none" is nearly the same as "no"; it decides the task
# where most positives have one (Li et al. 2023, section 4.1).
NONE_LOOK, NONE_BROKEN, NONE_OF_POSITIVES = 0.5, 0.9, 0.5
# Negatives' cosine on the way from random pairs (0) to positives (1): chosen to be hard they are half way
# there, and a tenth of the way cannot be told from random.
HARD_LOOK = 0.1
MOST_COUNTED = 10
GRID = 40


def gap(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """The largest distance between two empirical distributions, from 0 (the same) to 1 (apart).

    Args:
        first: float64 (n,), at least one.
        second: float64 (m,), at least one.
    """
    values = np.union1d(first, second)
    below = [np.searchsorted(np.sort(one), values, side="right") / len(one) for one in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def chance_gap(first: int, second: int) -> float:
    """The gap that so many values of one distribution each reach in one case of a thousand (Smirnov 1948)."""
    return 1.95 * float(np.sqrt((first + second) / (first * second)))


def _graded(apart: float, view: View) -> Verdict:
    return graded(apart, GAP_LOOK, GAP_BROKEN, chance_gap(len(view.positives), view.negatives.size // 2))


def _degrees(subject: Subject) -> Finding:
    view = subject.pairs()
    degrees = subject.graph.degrees.astype(np.float64)
    above, below = degrees[view.positives].reshape(-1), degrees[view.negatives].reshape(-1)
    apart = gap(above, below)
    top = max(float(above.max()), float(below.max()), 2.0)
    grid = np.unique(np.geomspace(1.0, top, GRID).astype(np.int64))
    return Finding(
        "degrees",
        _graded(apart, view),
        f"{apart:.3f}",
        f"the degrees of positives' ends (mean {above.mean():.1f}) and of negatives' ({below.mean():.1f}) are"
        f" {apart:.2f} apart: one threshold has an AUC of {(1 + apart) / 2:.2f}",
        {"gap": apart, "positives": float(above.mean()), "negatives": float(below.mean())},
        {"degree": grid, "positives": _at_least(above, grid), "negatives": _at_least(below, grid)},
        view.sizes(),
    )


def _at_least(values: NDArray[np.float64], grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of values at or above each of a grid."""
    shares: NDArray[np.float64] = 1.0 - np.searchsorted(np.sort(values), grid, side="left") / len(values)
    return shares


def _common_neighbours(subject: Subject) -> Finding:
    view = subject.pairs()
    above, below = (scores.reshape(-1) for scores in subject.scores("cn", view))
    apart = gap(above, below)
    return Finding(
        "common-neighbours",
        _graded(apart, view),
        f"{apart:.3f}",
        f"positives have {above.mean():.2f} common neighbours in the mean, negatives {below.mean():.2f};"
        " their"
        f" distributions are {apart:.2f} apart",
        {"gap": apart, "positives": float(above.mean()), "negatives": float(below.mean())},
        _counted(above, below),
        view.sizes(),
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


def _no_common_neighbour(subject: Subject) -> Finding:
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
        f"{percent(below)} of the negatives have no common neighbour, and {percent(above)} of the positives",
        {"negatives": below, "positives": above},
        {
            "common neighbours": np.array(["none", "one or more"]),
            "positives": np.array([above, 1.0 - above]),
            "negatives": np.array([below, 1.0 - below]),
        },
        view.sizes(),
    )


def _distances(subject: Subject) -> Finding:
    view = subject.pairs(subject.path_limit)
    above, below = (scores.reshape(-1) for scores in subject.scores("shortest-path", view))
    apart = gap(above, below)
    steps = [_steps(above), _steps(below)]
    longest = max(1, *(int(one.max()) for one in steps))
    counted = [np.bincount(np.where(one < 0, longest + 1, one), minlength=longest + 2)[1:] for one in steps]
    far = [float((one < 0).mean()) for one in steps]
    near = [float(((one > 0) & (one <= 2)).mean()) for one in steps]
    return Finding(
        "distances",
        _graded(apart, view),
        f"{apart:.3f}",
        f"{percent(near[0])} of the positives and {percent(near[1])} of the negatives are within two steps,"
        f" {percent(far[0])} and {percent(far[1])} are not joined by a path; the distances are {apart:.2f}"
        " apart",
        {"gap": apart, "positives near": near[0], "negatives near": near[1], "positives apart": far[0]}
        | {"negatives apart": far[1]},
        {
            "steps": np.array([*_named_steps(longest), "no path"]),
            "positives": _gathered(counted[0]) / len(above),
            "negatives": _gathered(counted[1]) / len(below),
        },
        view.sizes(),
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


def _features(subject: Subject) -> Finding | Skipped:
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
    # Where positives are no more alike than chance, features tell nothing, and negatives cannot be too easy.
    hardness = (means["negatives"] - means["random"]) / way if way > 0.0 else 1.0
    told = f"{percent(hardness)} of the way from random pairs to positives"
    if way <= 0.0:
        told = "features do not tell positives from random pairs"
    edges = np.linspace(min(-1e-9, *(float(one.min()) for one in (above, below, chance))), 1.0, GRID + 1)
    edges[-1] += 1e-6
    named = {"positives": above, "negatives": below, "random pairs": chance}
    return Finding(
        "feature-similarity",
        "look" if hardness < HARD_LOOK else "ok",
        f"{means['negatives']:.3f}",
        f"the negatives' mean cosine is {means['negatives']:.3f}, random pairs have {means['random']:.3f} and"
        f" positives {means['positives']:.3f}: {told}",
        {**means, "hardness": hardness},
        {"cosine": (edges[:-1] + edges[1:]) / 2}
        | {name: np.histogram(one, edges)[0] / len(one) for name, one in named.items()},
        f"{view.sizes()}, {len(chance):,} random pairs",
    )


_GAP_RULE = f"look: distributions more than {GAP_LOOK} apart; broken: more than {GAP_BROKEN}"
for _check in (
    Check(
        name="degrees",
        family="likeness",
        title="degrees of negatives beside the positives'",
        question="Do degrees tell negatives from positives?",
        rule=_GAP_RULE,
        run=_degrees,
        picture=Picture(
            title="Degrees of the ends", kind="lines", y="share of ends of that degree or more", log_x=True
        ),
    ),
    Check(
        name="common-neighbours",
        family="likeness",
        title="common neighbours of negatives beside the positives'",
        question="Does the number of common neighbours tell negatives from positives?",
        rule=_GAP_RULE,
        run=_common_neighbours,
        picture=Picture(title="Common neighbours", kind="bars", y="share of pairs"),
    ),
    Check(
        name="no-common-neighbour",
        family="likeness",
        title="negatives without a common neighbour",
        question="Is it enough to ask whether there is a common neighbour?",
        rule=f"look: {percent(NONE_LOOK)} more of the negatives than of the positives have none; broken:"
        " more than"
        f" {percent(NONE_BROKEN)} of them, and less than {percent(NONE_OF_POSITIVES)} of the positives",
        run=_no_common_neighbour,
        picture=Picture(title="Pairs with and without a common neighbour", kind="bars", y="share of pairs"),
    ),
    Check(
        name="distances",
        family="likeness",
        title="shortest paths of negatives beside the positives'",
        question="Does distance tell negatives from positives?",
        rule=_GAP_RULE,
        run=_distances,
        picture=Picture(title="Shortest paths", kind="bars", x="steps from end to end", y="share of pairs"),
    ),
    Check(
        name="feature-similarity",
        family="likeness",
        title="features of negatives beside random pairs and positives",
        question="Are the negatives any more alike than random pairs?",
        rule=f"look: below {percent(HARD_LOOK)} of the way from random pairs to positives",
        run=_features,
        picture=Picture(
            title="Similarity of features", kind="lines", x="cosine of the ends' features", y="share of pairs"
        ),
    ),
):
    register(_check)
