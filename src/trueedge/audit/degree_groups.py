"""Where the AUC comes from: groups of degree, and the weight of degree beside other numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import Check, Finding, graded, percent, register
from trueedge.audit.subject import Subject
from trueedge.methods.classifiers.examples import topology_and_degrees
from trueedge.methods.classifiers.linear import logistic_regression, orthogonal_to_last

Floats = NDArray[np.float64]
# Positives of high degree against negatives of low degree: a quarter of the comparisons where degree plays no
# part, and 0.7 in the paper's most heterogeneous networks.
EASY_LOOK, EASY_BROKEN = 0.5, 0.7
# The paper: in heterogeneous networks the degree product has the largest coefficient. It is a diagnosis, not
# a fault: where degrees tell little, the largest of small coefficients may be theirs.
DEGREE_WEIGHT_LOOK = 1.0
# The coefficient of random numbers of norm 1, with a ridge of 1, has a standard deviation of 0.4: a slope of
# one half over a curvature of one and a quarter. It is this large in one case of a thousand.
CHANCE_WEIGHT = 3.29 * 0.4
PAIRS_FOR_WEIGHTS = 5_000
NAMES = ("Adamic–Adar", "Jaccard", "resource allocation", "random walk", "degree product")


def in_upper_half(positive: Floats, negative: Floats) -> tuple[Floats, Floats]:
    """How much of each pair lies in the upper half of all pairs by a number; ties at the median are divided.

    Positives and negatives weigh the same as wholes, so that their number does not matter.

    Args:
        positive: float64 (p,).
        negative: float64 (m,).

    Returns:
        float64 (p,) and (m,), each from 0 to 1.
    """
    values = np.concatenate([positive, negative])
    weights = np.repeat([0.5 / len(positive), 0.5 / len(negative)], [len(positive), len(negative)])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    median = values[order][min(int(np.searchsorted(reached, 0.5 - 1e-12)), len(order) - 1)]
    above, tied = float(weights[values > median].sum()), float(weights[values == median].sum())
    split = np.clip((0.5 - above) / tied, 0.0, 1.0)
    upper = np.where(values > median, 1.0, np.where(values == median, split, 0.0))
    return upper[: len(positive)], upper[len(positive) :]


def weighted_wins(positive: Floats, negative: Floats, pos_weights: Floats, neg_weights: Floats) -> float:
    """The weight of the comparisons that positives win, a tie counting half; weights are not normalised."""
    order = np.argsort(negative, kind="stable")
    ordered = negative[order]
    before = np.concatenate([[0.0], np.cumsum(neg_weights[order])])
    lower = before[np.searchsorted(ordered, positive, side="left")]
    upto = before[np.searchsorted(ordered, positive, side="right")]
    return float(pos_weights @ (lower + upto) / 2)


def entropy(cells: Floats) -> float:
    """The entropy of shares, from 0 (all in one) to 1 (all alike)."""
    there = cells[cells > 0]
    return float(-(there * np.log(there)).sum() / np.log(cells.size))


def _groups(subject: Subject) -> Finding:
    view = subject.pairs()
    products = [scores.reshape(-1) for scores in subject.scores("pa", view)]
    upper = in_upper_half(products[0], products[1])
    positive = [upper[0] / len(upper[0]), (1 - upper[0]) / len(upper[0])]
    negative = [upper[1] / len(upper[1]), (1 - upper[1]) / len(upper[1])]
    cells = np.array([p.sum() * q.sum() for p in positive for q in negative])
    counts = [scores.reshape(-1) for scores in subject.scores("cn", view)]
    parts = {
        name: np.array([weighted_wins(scores[0], scores[1], p, q) for p in positive for q in negative])
        for name, scores in (("of degree product's AUC", products), ("of common neighbours' AUC", counts))
    }
    easy, level = float(cells[1]), entropy(cells)
    # So far from a half is a share of so few pairs in one case of a thousand.
    half = 0.5 + 1.645 / np.sqrt(min(len(upper[0]), len(upper[1])))
    return Finding(
        "degree-groups",
        graded(easy, EASY_LOOK, EASY_BROKEN, half**2),
        percent(easy),
        f"{percent(easy)} of the comparisons are a positive of high degree against a negative of low degree"
        f" (25 % where degree plays no part); the entropy of the groups is {level:.3f}",
        {
            "high against low": easy,
            "entropy": level,
            **{name: float(one.sum()) for name, one in parts.items()},
        },
        {
            "positive against negative": np.array(["high, high", "high, low", "low, high", "low, low"]),
            "share of comparisons": cells,
            **parts,
        },
    )


def _weights(subject: Subject) -> Finding:
    view = subject.pairs(min(subject.sample, PAIRS_FOR_WEIGHTS))
    size = min(len(view.positives), len(view.negatives))
    pairs = np.concatenate([_spaced(view.positives, size), _spaced(view.negatives.reshape(-1, 2), size)])
    labels = np.repeat([1.0, 0.0], [size, size])
    weights = dict(zip(NAMES, _coefficients(topology_and_degrees(subject.graph, pairs), labels), strict=True))
    degree = abs(weights["degree product"])
    other = max(abs(value) for name, value in weights.items() if name != "degree product")
    ratio = degree / other if other > 0 else (np.inf if degree > 0 else 0.0)
    ranked = sorted(weights, key=lambda name: -abs(weights[name]))
    told = ", ".join(f"{name} {weights[name]:.2f}" for name in ranked)
    return Finding(
        "degree-weight",
        graded(ratio, DEGREE_WEIGHT_LOOK, np.inf, np.inf if degree < CHANCE_WEIGHT else 0.0),
        f"{min(ratio, 999.0):.2f}",
        f"logistic coefficients, freed of degree: {told}; degree's is {min(ratio, 999.0):.2f} times the"
        " largest other",
        {"ratio": float(min(ratio, 999.0)), **weights},
        {"feature": np.array(ranked), "coefficient": np.array([weights[name] for name in ranked])},
    )


def _coefficients(rows: Floats, labels: Floats) -> Floats:
    """Logistic weights of numbers freed of the last, each of L2 norm 1, with a ridge of 1 (Table 2)."""
    slopes, constants = orthogonal_to_last(rows)
    freed = rows - constants
    freed[:, :-1] -= rows[:, -1:] * slopes
    norms = np.sqrt((freed**2).sum(axis=0))
    # What is all explained by degree leaves rounding errors, which a norm of 1 would blow up.
    empty = norms <= 1e-9 * np.maximum(np.sqrt((rows**2).sum(axis=0)), 1e-300)
    scaled = np.where(empty, 0.0, freed / np.where(empty, 1.0, norms))
    return logistic_regression(scaled, labels, np.ones(rows.shape[1]))[0]


def _spaced(pairs: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Some of the pairs, evenly over all."""
    return pairs[np.linspace(0, len(pairs) - 1, size).astype(np.int64)]


for _check in (
    Check(
        name="degree-groups",
        family="degree bias",
        title="AUC by groups of degree",
        question="Which comparisons make up the AUC?",
        rule=f"look: more than {percent(EASY_LOOK)} are a positive of high degree against a negative of"
        " low; broken:"
        f" more than {percent(EASY_BROKEN)}",
        run=_groups,
    ),
    Check(
        name="degree-weight",
        family="degree bias",
        title="the weight of degree beside other features",
        question="What would a linear model learn?",
        rule="look: degree has the largest coefficient, and one larger than chance gives",
        run=_weights,
    ),
):
    register(_check)
