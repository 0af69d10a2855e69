"""What degrees alone predict on a benchmark, for log-normal and power-law distributions."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError

# A tail with fewer distinct degrees fits any exponent.
LEAST_DEGREES = 5
MOST_STARTS = 50
TERMS = 10_000


@dataclass(frozen=True)
class PowerLaw:
    """A power law's tail, ``p(k) ∝ k^-alpha`` for k at or above ``start``.

    Attributes:
        alpha: the exponent.
        start: the smallest degree of the tail.
        tail: the share of nodes in the tail.
        distance: the largest distance between the tail and its fit.
    """

    alpha: float
    start: int
    tail: float
    distance: float


def lognormal_sigma(degrees: NDArray[np.int64]) -> float:
    """Return the σ of the log-normal distribution with the mean and variance of the degrees (n,) above 0.

    Aiyappa et al. 2025, Implicit Degree Bias in the Link Prediction Task, A.4: the method of moments,
    in which ``σ² = ln(1 + variance / mean²)``.
    """
    there = degrees[degrees > 0].astype(np.float64)
    if not len(there):
        raise InputError("there is no degree above 0 to fit a distribution to")
    return float(np.sqrt(np.log1p(there.var() / there.mean() ** 2)))


def lognormal_scale(degrees: NDArray[np.int64]) -> float:
    """Return e to the μ of the log-normal distribution with the mean and variance of the degrees above 0.

    As in :func:`lognormal_sigma`; ``e^μ = mean / sqrt(1 + variance / mean²)`` is its median.
    """
    there = degrees[degrees > 0].astype(np.float64)
    if not len(there):
        raise InputError("there is no degree above 0 to fit a distribution to")
    return float(there.mean() / np.sqrt(1 + there.var() / there.mean() ** 2))


def expected_auc(sigma: float, *, triplets: bool = False) -> float:
    """Return the AUC of the degree product for log-normal degrees: Φ(σ), for triplets Φ(σ/2).

    In triplets, each negative keeps an end of a positive, and its other end is uniform.

    Aiyappa et al. 2025, equations 15 and 18; it is the AUC over all positives and negatives, not over lists.
    """
    return NormalDist().cdf(sigma / 2 if triplets else sigma)


def fit_power_law(degrees: NDArray[np.int64]) -> PowerLaw | None:
    """Fit a power law to the tail of the degrees (n,); None if no tail has enough different degrees.

    The exponent maximises the likelihood for whole numbers; the start of the tail minimises the distance
    between the tail and its fit.

    Clauset, Shalizi and Newman 2009, Power-Law Distributions in Empirical Data, sections 3.1 and 3.3.
    """
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    if len(values) < LEAST_DEGREES:
        return None
    starts = np.arange(len(values) - LEAST_DEGREES + 1)
    starts = np.unique(starts[np.linspace(0, len(starts) - 1, min(MOST_STARTS, len(starts))).astype(int)])
    fits = [_fit_tail(values[start:], counts[start:], int(counts.sum())) for start in starts]
    return min(fits, key=lambda fit: fit.distance)


def _fit_tail(values: NDArray[np.int64], counts: NDArray[np.int64], nodes: int) -> PowerLaw:
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    start, total = int(values[0]), int(counts.sum())
    mean_log = float(counts @ np.log(values)) / total

    def loss(alpha: float) -> float:
        # Scaled by the start, so that a large one does not make zeta underflow.
        return float(np.log(zeta(alpha, start) * start**alpha) + alpha * (mean_log - np.log(start)))

    alpha = float(minimize_scalar(loss, bounds=(1.01, 20.0), method="bounded").x)
    fitted = 1.0 - zeta(alpha, values + 1.0) / zeta(alpha, start)
    distance = float(np.abs(np.cumsum(counts) / total - fitted).max())
    return PowerLaw(alpha, start, total / nodes, distance)


def power_law_bound(alpha: float, start: int = 1, *, ties_won: bool = False) -> float:
    """Return a lower bound of the AUC of the degree product on a power law; 1 for alpha ≤ 2.

    Negatives are uniform. A positive wins if both its ends have at least the degrees of a negative's; if all
    are equal, it is a tie, which counts half. Equation 24 counts ties as won, and so gives 1 for equal
    degrees, although the AUC is 0.5. For alpha ≤ 2 the mean degree has no bound, and the AUC goes to 1.

    Args:
        alpha: the exponent.
        start: the smallest degree.
        ties_won: count ties as won, as equation 24 does.

    Aiyappa et al. 2025, Implicit Degree Bias in the Link Prediction Task, equation 24.
    """
    from scipy.special import zeta

    if alpha <= 2.0:
        return 1.0
    degrees = np.arange(start, start + TERMS, dtype=np.float64)
    # Divided by the first terms, so that a steep law from a late start does not underflow.
    negatives = (degrees / start) ** -alpha / (zeta(alpha, start) * start**alpha)
    positives = zeta(alpha - 1.0, degrees) / zeta(alpha - 1.0, start)
    # Beyond the summed terms zeta is its integral, and so is the sum.
    last = start + TERMS - 0.5
    tail = last ** (3 - 2 * alpha) / ((alpha - 2) * (2 * alpha - 3))
    scale = zeta(alpha, start) * zeta(alpha - 1.0, start)
    at_least = float(negatives @ positives + tail / scale)
    tied = float(zeta(2 * alpha - 1, start) / scale)
    return at_least**2 - (0.0 if ties_won else tied**2 / 2)
