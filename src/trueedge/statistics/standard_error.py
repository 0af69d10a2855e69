"""The standard error of a mean over test edges and seeds, and its degrees of freedom.

A value x[s, e] of seed s on test edge e is the sum of a mean, an effect of the edge, one of the seed, and a
rest. A bootstrap over edges and seeds gives intervals that are too narrow for few seeds. Here the parts of
the variance are computed in closed form, each without bias, and the interval uses Student's quantile.

    V  = Ve + Vn + max(0, Vs - Vr)    half width = t(df) sqrt(V)
    Ve = variance over edges of their mean over seeds / E, with shared nodes (:mod:`.shared_nodes`)
    Vn = variance over other draws of the negatives, if all edges share them (:mod:`.shared_negatives`)
    Vs = variance over seeds of their mean over edges / S
    Vr = variance of the rest / (S E), which is in both
    1 / df = (Ve / V)^2 / df_edges + (Vn / V)^2 / (R - 1) + 1 / df_seeds
    df_seeds = nu (1 + a ((Ve + Vn - Vr) / Vs)^m),  nu = S - 1;  infinite where Vs <= Vr

df_edges is E - 1, or less if nodes are shared, and R is the number of draws.

Satterthwaite's rule, a factor of (1 + (Ve - Vr) / Vs)^2, covers 87 % instead of 95 % with two seeds that
matter, since it trusts a seed variance that came out small by chance. a and m are chosen for each nu so that
the coverage is nearest to 95 % over all shares of the seeds in the variance. For a difference of two methods
on one split the edges are the same and the seeds independent: Ve is that of the edges' differences, Vs and Vr
are sums, nu is Satterthwaite's of the two; Vr is left out of df_seeds, and a and m are those of both methods'
degrees together, since two seed variances have to come out small by chance. Where seeds have splits of their
own that both methods have, their differences on these are one sample, for which all formulas above hold
(:mod:`.sample`). What the intervals cover, and the choice of a and m:
``python -m benchmarks.coverage_of_intervals``.

Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics Bulletin 1946;
Owen, The Pigeonhole Bootstrap, Annals of Applied Statistics 2007.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# nu, a, m: with them 95 % intervals cover between 93.9 and 96.1 % for nu = 1, 94.6 and 95.5 % beyond.
SEED_QUANTILES = np.array(
    [
        (1, 0.003, 4.0),
        (2, 0.859, 1.86),
        (3, 1.005, 1.77),
        (4, 2.001, 1.51),
        (6, 2.356, 1.32),
        (9, 2.724, 1.36),
    ]
)
# Student's distribution with more degrees of freedom is the normal one to every digit.
MOST_DEGREES = 1e9


class Part(NamedTuple):
    """A part of the variance of a mean that does not depend on seeds.

    Attributes:
        variance: 0 or more; infinite if it is unknown.
        degrees: its degrees of freedom.
    """

    variance: float
    degrees: float


class SeedPart(NamedTuple):
    """The part of one method's seeds in the variance of a mean.

    Attributes:
        variance: of the seeds alone, 0 or more.
        rest: what it was computed without, Vr.
        degrees: seeds - 1.
    """

    variance: float
    rest: float
    degrees: int


def standard_error(fixed: list[Part], parts: list[SeedPart]) -> tuple[float, float]:
    """Return the standard error of a mean or difference, and the degrees of freedom of its quantile.

    Args:
        fixed: the parts of the edges, Ve, and of shared negatives, Vn.
        parts: the seeds' part of one method, or of each of two.
    """
    total = sum(part.variance for part in fixed) + sum(part.variance for part in parts)
    if total == 0 or not math.isfinite(total):
        return math.sqrt(total), max(fixed[0].degrees, 1.0)
    inverse = sum((part.variance / total) ** 2 / part.degrees for part in fixed if part.variance > 0)
    # Seeds of a method that draws nothing differ by rounding at most.
    varying = [part for part in parts if part.degrees > 0 and part.variance + part.rest > 1e-12 * total]
    # Two methods need less caution than one: both seed variances would have to be small by chance.
    measured = [
        (part.variance + (part.rest if len(varying) == 1 else 0.0), part.degrees)
        for part in varying
        if part.variance > 0
    ]
    if measured:
        seeds = sum(variance for variance, _ in measured)
        nu = seeds**2 / sum(variance**2 / degrees for variance, degrees in measured)
        degrees = [part.degrees for part in varying]
        chances = min(sum(degrees), 2 * min(degrees))
        inverse += 1.0 / _seed_degrees(nu, chances, max(0.0, total - seeds) / seeds)
    return math.sqrt(total), 1.0 / max(inverse, 1.0 / MOST_DEGREES)


def _seed_degrees(nu: float, chances: float, ratio: float) -> float:
    known, scales, powers = SEED_QUANTILES.T
    scale = math.exp(float(np.interp(chances, known, np.log(scales))))
    power = float(np.interp(chances, known, powers))
    # Capped before the power is taken: a seed variance of 1e-300 must not overflow.
    return nu * (1.0 + scale * math.pow(min(ratio, 1e6), power))


def variance_of_mean(values: NDArray[np.float64]) -> float:
    """Return the variance of a mean of independent values; infinite for a single value."""
    if len(values) == 1:
        return math.inf
    centred = values - values.mean()
    return float(centred @ centred) / (len(values) - 1) / len(values)
