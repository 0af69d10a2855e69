"""Means over units that come in clusters, such as networks of one family: intervals that count clusters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores


def clustered_interval(
    values: ArrayLike, clusters: Sequence[Hashable], level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a mean whose units are dependent within clusters.

    The standard error is cluster-robust with the correction of a jackknife, which leaves out a cluster at a
    time and counts large ones for more; the quantile is Student's with one degree of freedom less than there
    are clusters. With one cluster nothing is known: both ends are infinite.

    Args:
        values: numbers (n,).
        clusters: the cluster of each, n of them.
        level: the level of the interval, between 0 and 1.

    Bell and McCaffrey, Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples,
    2002.
    """
    from scipy.stats import t

    if not 0 < level < 1:
        raise must_be("level", "clustered_interval", "between 0 and 1", level)
    numbers = as_scores(values, "values").astype(np.float64)
    if numbers.ndim != 1 or len(numbers) != len(clusters) or not len(numbers):
        raise InputError(f"clustered_interval: {numbers.size} values have {len(clusters)} clusters")
    names = list(dict.fromkeys(clusters))
    mean, count = float(numbers.mean()), len(names)
    if count < 2:
        return -math.inf, math.inf
    place = {name: number for number, name in enumerate(names)}
    of = np.array([place[name] for name in clusters])
    sums = np.bincount(of, weights=numbers, minlength=count)
    sizes = np.bincount(of, minlength=count)
    left_out = (numbers.sum() - sums) / (len(numbers) - sizes)
    error = math.sqrt((count - 1) / count * float(((left_out - mean) ** 2).sum()))
    reach = float(t.ppf((1 + level) / 2, count - 1)) * error
    return mean - reach, mean + reach
