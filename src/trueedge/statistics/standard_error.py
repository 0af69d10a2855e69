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
(:mod:`.sample`).

With two seeds, Vs is often below Vr by chance, although the seeds matter. So for nu = 1, df_seeds counts
there too, with (Ve + Vn) / Vs in place of the ratio above.

a and m are chosen for 95 % intervals. Further out, seeds that matter leave a much heavier tail, and p-values
with these degrees are several times too small: of ten equal methods with three seeds, some would differ after
Holm's correction in up to 40 % of all simulations. Beyond the 5 % level the tail is therefore that of
Student's distribution with other degrees (:mod:`.tails`):

    df_seeds = c nu (1 + ((Ve + Vn) / (b Vs))^8)

which is c nu unless the seeds' part is small. b and c are chosen for each nu so that p-values from 0.02 to
0.001 are mostly too large, and with three seeds or more at worst 1.4 times too small. What intervals cover,
how often letters are wrong, and the choice of a and m: ``python -m benchmarks.coverage_of_intervals``.

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
# nu, b, c, for the tail beyond the 5 % level.
TAIL_RATIOS = np.array(
    [
        (1, 1000.0, 0.9),
        (2, 22.0, 0.8),
        (3, 7.0, 0.93),
        (4, 4.0, 0.95),
        (6, 2.5, 0.97),
        (9, 1.6, 0.98),
    ]
)
TAIL_POWER = 8.0
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
        observed: the variance of the mean of the seeds' means, Vs.
        rest: what of it is no seed's, Vr.
        degrees: seeds - 1.
    """

    observed: float
    rest: float
    degrees: int

    @property
    def variance(self) -> float:
        """Return the variance of the seeds alone, at least 0."""
        return max(0.0, self.observed - self.rest)


class Spread(NamedTuple):
    """The standard error of a mean or difference, with the degrees of freedom of its quantiles.

    Attributes:
        std_error: the standard error.
        df: the degrees of freedom up to the 5 % level.
        tail_df: those beyond it, at most as many.
    """

    std_error: float
    df: float
    tail_df: float


def standard_error(fixed: list[Part], parts: list[SeedPart]) -> Spread:
    """Return the standard error of a mean or difference, and the degrees of freedom of its quantiles.

    Args:
        fixed: the parts of the edges, Ve, and of shared negatives, Vn.
        parts: the seeds' part of one method, or of each of two.
    """
    steady = sum(part.variance for part in fixed)
    total = steady + sum(part.variance for part in parts)
    if total == 0 or not math.isfinite(total):
        degrees = max(fixed[0].degrees, 1.0)
        return Spread(math.sqrt(total), degrees, degrees)
    inverse = sum((part.variance / total) ** 2 / part.degrees for part in fixed if part.variance > 0)
    # Seeds of a method that draws nothing differ by rounding at most.
    varying = [part for part in parts if part.degrees > 0 and max(part.observed, part.rest) > 1e-12 * total]
    df = _degrees(inverse + _inverse_of_seeds(varying, total, steady))
    return Spread(math.sqrt(total), df, min(df, _degrees(inverse + _inverse_of_tail(varying, steady))))


def _degrees(inverse: float) -> float:
    return 1.0 / max(inverse, 1.0 / MOST_DEGREES)


def _inverse_of_seeds(varying: list[SeedPart], total: float, steady: float) -> float:
    """Return 1 / df_seeds; 0 if no variance of seeds was measured."""
    # Two methods need less caution than one: both seed variances would have to be small by chance.
    alone = len(varying) == 1
    if alone and varying[0].degrees == 1:
        observed = varying[0].observed
        return 1.0 / _seed_degrees(1.0, 1, steady / observed) if observed > 0 else 0.0
    measured = [
        (part.observed if alone else part.variance, part.degrees) for part in varying if part.variance > 0
    ]
    if not measured:
        return 0.0
    seeds = sum(variance for variance, _ in measured)
    nu = seeds**2 / sum(variance**2 / degrees for variance, degrees in measured)
    degrees = [part.degrees for part in varying]
    chances = min(sum(degrees), 2 * min(degrees))
    return 1.0 / _seed_degrees(nu, chances, max(0.0, total - seeds) / seeds)


def _seed_degrees(nu: float, chances: float, ratio: float) -> float:
    known, scales, powers = SEED_QUANTILES.T
    scale = math.exp(float(np.interp(chances, known, np.log(scales))))
    power = float(np.interp(chances, known, powers))
    # Capped before the power is taken: a seed variance of 1e-300 must not overflow.
    return nu * (1.0 + scale * math.pow(min(ratio, 1e6), power))


def _inverse_of_tail(varying: list[SeedPart], steady: float) -> float:
    """Return 1 / df_seeds beyond the 5 % level."""
    measured = [part for part in varying if part.observed > 0]
    if not measured:
        return 0.0
    seeds = sum(part.observed for part in measured)
    nu = seeds**2 / sum(part.observed**2 / part.degrees for part in measured)
    known, ratios, shares = TAIL_RATIOS.T
    bound = math.exp(float(np.interp(nu, known, np.log(ratios))))
    share = float(np.interp(nu, known, shares))
    return 1.0 / (share * nu * (1.0 + math.pow(min(steady / seeds / bound, 1e6), TAIL_POWER)))


def variance_of_mean(values: NDArray[np.float64]) -> float:
    """Return the variance of a mean of independent values; infinite for a single value."""
    if len(values) == 1:
        return math.inf
    centred = values - values.mean()
    return float(centred @ centred) / (len(values) - 1) / len(values)
