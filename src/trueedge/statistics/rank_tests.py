"""Compare methods over several data sets: Friedman's test, and the critical difference of mean ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.errors import InputError, must_be
from trueedge.metrics.scores import as_scores
from trueedge.statistics.tie_groups import runs_within


@dataclass(frozen=True, eq=False)
class RankTest:
    """The content of a critical-difference plot.

    Attributes:
        mean_ranks: float64 (methods,), 1 is best.
        statistic: Friedman's, corrected for ties.
        p: of Friedman's test by the chi-squared distribution.
        p_f: of Iman and Davenport's F, which is less conservative with few data sets.
        critical_difference: mean ranks that are further apart differ significantly (Nemenyi).
        groups: columns of methods that do not differ: the bars of the plot, best first.
        datasets: the number of data sets.
    """

    mean_ranks: NDArray[np.float64]
    statistic: float
    p: float
    p_f: float
    critical_difference: float
    groups: tuple[tuple[int, ...], ...]
    datasets: int


def friedman(values: ArrayLike, level: float = 0.95, higher_is_better: bool = True) -> RankTest:
    """Test whether methods differ over data sets, and which do by Nemenyi's critical difference.

    Args:
        values: numbers (datasets, methods), one metric.
        level: 1 - the error rate of the test.
        higher_is_better: which direction is good.

    Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006; Iman and Davenport,
    Approximations of the Critical Region of the Friedman Statistic, Communications in Statistics 1980.
    """
    from scipy.special import chdtrc, fdtrc
    from scipy.stats import rankdata, studentized_range

    table = as_scores(values, "values").astype(np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise InputError(f"values must have the shape (datasets, methods), 2 or more each, got {table.shape}")
    if not 0 < level < 1:
        raise must_be("level", "friedman", "between 0 and 1", level)
    n, k = table.shape
    ranks = rankdata(-table if higher_is_better else table, axis=1)
    mean_ranks = ranks.mean(axis=0)
    middle = (k + 1) / 2
    # The variance of the ranks within a data set, which ties make smaller than k (k + 1) / 12.
    spread = float(((ranks - middle) ** 2).sum()) / (n * (k - 1))
    statistic = n * float(((mean_ranks - middle) ** 2).sum()) / spread if spread > 0 else 0.0
    left = n * (k - 1) - statistic
    # All data sets agree: nothing is left to compare with.
    f = (n - 1) * statistic / left if left > 1e-9 * n * k else math.inf
    width = float(studentized_range.ppf(level, k, np.inf)) * math.sqrt(k * (k + 1) / (12 * n))
    return RankTest(
        mean_ranks=mean_ranks,
        statistic=statistic,
        p=float(chdtrc(k - 1, statistic)),
        p_f=float(fdtrc(k - 1, (k - 1) * (n - 1), f)),
        critical_difference=width,
        groups=tuple(runs_within(mean_ranks, width)),
        datasets=n,
    )
