"""Where the AUC comes from: groups of degree, and the weight of degree among other features."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import DEGREES
from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    chance_auc,
    check,
    graded,
    pairs_needed,
    percent,
    picture,
)
from trueedge.audit.subject import LinkSubject
from trueedge.methods.classifiers.coefficients import coefficients
from trueedge.methods.classifiers.examples import topology_and_degrees
from trueedge.metrics.degree_groups import entropy, in_upper_half, weighted_wins

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


def _chance_easy(positives: int, negatives: int) -> float:
    """Return the share of easy comparisons that so few pairs have by chance, one time in a thousand."""
    # So far from a half is the share of pairs of high degree.
    half = 0.5 + 0.5 * STANDARD_ERRORS / math.sqrt(min(positives, negatives))
    return half**2


@check(
    "degree-groups",
    "degree bias",
    title="AUC by groups of degree",
    question="Which comparisons make up the AUC?",
    rule=f"look: more than {percent(EASY_LOOK)} are of a high-degree positive with a low-degree"
    " negative; broken:"
    f" more than {percent(EASY_BROKEN)}",
    advice=DEGREES,
    fewest=pairs_needed(_chance_easy, EASY_BROKEN),
    picture=picture(
        "The AUC by groups of degree",
        "heat",
        "part of the whole",
        "degree of the positive, of the negative",
        note="Rows add up to 1, to the degree product's AUC and to common neighbours' AUC.",
    ),
)
def _groups(subject: LinkSubject) -> Finding:
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
    noise = _chance_easy(len(upper[0]), len(upper[1]))
    return Finding(
        "degree-groups",
        graded(easy, EASY_LOOK, EASY_BROKEN, noise),
        percent(easy),
        f"{percent(easy)} of the comparisons are between a high-degree positive and a low-degree negative"
        f" (25 % where degree does not matter); the entropy of the groups is {level:.3f}",
        {
            "high against low": easy,
            "entropy": level,
            **{name: float(one.sum()) for name, one in parts.items()},
        },
        {
            "positive against negative": np.array(["high, high", "high, low", "low, high", "low, low"]),
            # A ten-thousandth of the comparisons is nothing: it need not be written with its power of ten.
            "share of comparisons": cells.round(4),
            **{name: one.round(4) for name, one in parts.items()},
        },
        view.sizes(),
    )


@check(
    "degree-weight",
    "degree bias",
    title="the weight of degree among other features",
    question="What would a linear model learn?",
    rule="look: degree has the largest coefficient, and it is larger than chance would explain",
    advice=DEGREES,
    fewest=pairs_needed(chance_auc, 0.4),
    picture=picture(
        "Logistic coefficients, each corrected for degree",
        "bars",
        "coefficient",
        note="With 95 % intervals from the curvature of the likelihood.",
    ),
)
def _weights(subject: LinkSubject) -> Finding:
    view = subject.pairs(min(subject.sample, PAIRS_FOR_WEIGHTS))
    size = min(len(view.positives), len(view.negatives))
    pairs = np.concatenate([_spaced(view.positives, size), _spaced(view.negatives.reshape(-1, 2), size)])
    labels = np.repeat([1.0, 0.0], [size, size])
    found, errors = coefficients(topology_and_degrees(subject.graph, pairs), labels)
    weights, spread = dict(zip(NAMES, found, strict=True)), dict(zip(NAMES, errors, strict=True))
    degree = abs(weights["degree product"])
    other = max(abs(value) for name, value in weights.items() if name != "degree product")
    ratio = degree / other if other > 0 else (np.inf if degree > 0 else 0.0)
    ranked = sorted(weights, key=lambda name: -abs(weights[name]))
    told = ", ".join(f"{name} {weights[name]:.2f}" for name in ranked)
    return Finding(
        "degree-weight",
        graded(ratio, DEGREE_WEIGHT_LOOK, np.inf) if degree >= CHANCE_WEIGHT else "ok",
        f"{min(ratio, 999.0):.2f}",
        f"logistic coefficients, each corrected for degree: {told}; the degree product's is"
        f" {min(ratio, 999.0):.2f} times the largest of the others",
        {"ratio": float(min(ratio, 999.0)), **weights},
        {
            "feature": np.array(ranked),
            "coefficient": np.array([weights[name] for name in ranked]),
            "low coefficient": np.array([weights[name] - 1.96 * spread[name] for name in ranked]),
            "high coefficient": np.array([weights[name] + 1.96 * spread[name] for name in ranked]),
        },
        f"{size:,} positives and {size:,} negatives, evenly spaced",
    )


def _spaced(pairs: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Some of the pairs, evenly spaced."""
    return pairs[np.linspace(0, len(pairs) - 1, size).astype(np.int64)]
