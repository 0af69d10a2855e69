"""Degree bias: how heterogeneous the degrees are, and what AUC that alone gives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.advice import DEGREES
from trueedge.audit.check import (
    STANDARD_ERRORS,
    Finding,
    Skipped,
    chance_auc,
    check,
    graded,
    pairs_needed,
    percent,
    picture,
    smallest,
)
from trueedge.audit.subject import LinkSubject
from trueedge.metrics import evaluate
from trueedge.statistics.degree_laws import expected_auc, fit_power_law, lognormal_sigma, power_law_bound

# Above a σ of 1 the degree product was the most important of five features in the paper's Table 2.
SIGMA_LOOK = 1.0
# Between 0.54, the degree product's mean over the paper's networks against degree-corrected negatives, and
# 0.83, its mean against uniform ones: 0.6 is past what correction leaves, and at 0.8 degrees do what they do
# uncorrected.
PA_LOOK, PA_BROKEN = 0.6, 0.8
# Half the way from a coin to certainty, guaranteed by the tail of the degrees alone.
BOUND_LOOK = 0.75
# The bound is about pairs within the tail: it says something of the graph where most nodes are in it.
TAIL_LOOK = 0.5
# The exponent of most networks, for which the standard error of exponents is told.
USUAL_EXPONENT = 2.5


def chance_spread(nodes: int) -> float:
    """Return how far the σ of so few degrees is from a true σ of 1, one time in a thousand."""
    return STANDARD_ERRORS / math.sqrt(2 * nodes)


def chance_exponent(nodes: int) -> float:
    """Return how far an exponent is from the true one, once in a thousand; half the nodes are its tail."""
    return STANDARD_ERRORS * (USUAL_EXPONENT - 1) / math.sqrt(TAIL_LOOK * nodes)


@check(
    "degree-spread",
    "degree bias",
    title="the spread of the degrees",
    question="What would degrees alone achieve against uniform negatives?",
    rule=f"look: σ above {SIGMA_LOOK:g}",
    advice=DEGREES,
    fewest={"nodes": smallest(chance_spread, SIGMA_LOOK / 2)},
    picture=picture(
        "Degrees of the nodes", "lines", "share of nodes of that degree or more", log_x=True, log_y=True
    ),
)
def _spread(subject: LinkSubject) -> Finding:
    degrees = subject.degrees
    sigma = lognormal_sigma(degrees)
    there = degrees[degrees > 0]
    grid = np.unique(np.geomspace(1, max(int(there.max()), 2), 40).astype(np.int64))
    shares = 1.0 - np.searchsorted(np.sort(there), grid, side="left") / len(there)
    uniform, triplets = expected_auc(sigma), expected_auc(sigma, triplets=True)
    return Finding(
        "degree-spread",
        graded(sigma, SIGMA_LOOK, np.inf),
        f"{sigma:.3f}",
        f"the degrees have a log-normal σ of {sigma:.3f}: the degree product would reach an AUC of"
        f" {uniform:.3f} against uniform pairs and {triplets:.3f} against triplets",
        {
            "sigma": sigma,
            "expected auc, uniform": uniform,
            "expected auc, triplets": triplets,
            "mean degree": float(there.mean()),
            "largest degree": float(there.max()),
        },
        {"degree": grid, "share of nodes": shares},
        f"the degrees of all {subject.task.num_nodes:,} nodes",
    )


@check(
    "degree-auc",
    "degree bias",
    title="the degree product's AUC and its expectation",
    question="Are the negatives free of degree bias?",
    rule=f"look: an AUC above {PA_LOOK} (or below {1 - PA_LOOK:g}); broken: above {PA_BROKEN} (or below"
    f" {1 - PA_BROKEN:.1f})",
    advice=DEGREES,
    fewest=pairs_needed(chance_auc, PA_BROKEN - 0.5),
    picture=picture(
        "The degree product's AUC over the spread of degrees", "lines", "AUC", "log-normal σ of the degrees"
    ),
)
def _pa_auc(subject: LinkSubject) -> Finding:
    view = subject.pairs()
    above, below = subject.scores("pa", view)
    auc = evaluate(above, below.reshape(-1), ["auc"])["auc"]
    sigma = lognormal_sigma(subject.degrees)
    own = subject.per_positive
    expected = expected_auc(sigma, triplets=own)
    law = "Φ(σ/2), as for triplets," if own else "Φ(σ), as for uniform pairs,"
    return Finding(
        "degree-auc",
        graded(abs(auc - 0.5) + 0.5, PA_LOOK, PA_BROKEN, 0.5 + chance_auc(len(above), below.size)),
        f"{auc:.3f}",
        f"the degree product has an AUC of {auc:.3f} over all pairs; {law} predicts {expected:.3f}",
        {"auc": auc, "expected": expected, "sigma": sigma},
        _beside_the_law(sigma, auc),
        view.sizes(),
    )


def _beside_the_law(sigma: float, auc: float) -> dict[str, NDArray[np.float64]]:
    """The law of the degree product's AUC over the spread of degrees, and where this benchmark stands."""
    grid = np.union1d(np.linspace(0.0, max(2.5, 1.2 * sigma), 26), [sigma])
    return {
        "σ": grid,
        "uniform, Φ(σ)": np.array([expected_auc(one) for one in grid]),
        "triplets, Φ(σ/2)": np.array([expected_auc(one, triplets=True) for one in grid]),
        "corrected": np.full(len(grid), 0.5),
        "measured here": np.where(grid == sigma, auc, np.nan),
    }


@check(
    "power-law",
    "degree bias",
    title="the power law's lower bound",
    question="What AUC does the tail of the degrees guarantee?",
    rule=f"look: a bound above {BOUND_LOOK}, with at least {percent(TAIL_LOOK)} of the nodes in the tail",
    advice=DEGREES,
    fewest={"nodes": smallest(chance_exponent, 1.0)},
    picture=picture("The power law's lower bound", "lines", "AUC of the degree product", "exponent"),
)
def _power_law(subject: LinkSubject) -> Finding | Skipped:
    law = fit_power_law(subject.degrees)
    if law is None:
        return Skipped("the degrees take too few different values to fit a power law")
    bound = power_law_bound(law.alpha, law.start)
    exponents = np.union1d(np.linspace(2.05, max(4.0, law.alpha), 40), [law.alpha])
    bounds = np.array([power_law_bound(alpha, law.start) for alpha in exponents])
    return Finding(
        "power-law",
        graded(bound, BOUND_LOOK, np.inf) if law.tail >= TAIL_LOOK else "ok",
        f"{bound:.3f}",
        f"{percent(law.tail)} of the nodes, those of degree {law.start} or more, follow a power law of"
        f" exponent {law.alpha:.2f} to within {law.distance:.2f}; among them the degree product has an AUC"
        f" of at least {bound:.3f} against uniform pairs",
        {"bound": bound, "alpha": law.alpha, "start": float(law.start), "tail": law.tail}
        | {"distance": law.distance, "bound, ties won": power_law_bound(law.alpha, law.start, ties_won=True)},
        {
            "exponent": exponents,
            "bound": bounds,
            "this graph": np.where(exponents == law.alpha, bounds, np.nan),
        },
        f"the degrees of all {subject.task.num_nodes:,} nodes",
    )
