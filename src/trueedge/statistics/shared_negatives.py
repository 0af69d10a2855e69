"""The variance of a metric over draws of the negatives that all test edges share.

If all positives are ranked among the same random negatives, a few of these decide: an MRR depends mostly on
how many positives are above the first, the second and the third negative. Another draw moves all positives at
once, so the values of single positives do not show how much.

Nor do the scores of one draw show it. Whatever resamples them, such as a bootstrap or a jackknife, knows no
negative above the highest one. Where the highest is low by chance, it finds a high value and little
variation, and its interval misses the truth.

So a fitted scorer also scores other draws by the same sampler. They are cheap: nothing is fitted again. Their
variance is Vn, and for two methods, which are scored on the same draws, that of the differences. The interval
of a single draw's value for other draws is value ± t(R - 1) sqrt(Vn), and the variance over positives is
added. Where chances of a positive and of the negatives act together, they are in both, so the sum is a little
too large.

How often such intervals, and those of a jackknife, hold the truth on redrawn splits of Cora:
``python -m benchmarks.coverage_of_intervals --redraws cora``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueedge.statistics.standard_error import Part

Array = NDArray[np.float64]
UNKNOWN = Part(math.inf, 1.0)


def variance_over_draws(*redraws: Array | None) -> list[Part]:
    """Return the part of shared negatives in the variance of a mean, or of a difference; none if not shared.

    Args:
        redraws: for one method, or each of two, its metric on other draws of the negatives, float64 (R,);
            empty if there are none, None if edges share no negatives.
    """
    known = [drawn for drawn in redraws if drawn is not None]
    if not known:
        return []
    if len(known) < len(redraws) or any(len(drawn) < 2 or len(drawn) != len(known[0]) for drawn in known):
        return [UNKNOWN]
    gaps = known[0] - known[1] if len(known) == 2 else known[0]
    return [Part(float(np.var(gaps, ddof=1)), len(gaps) - 1.0)]


def mean_over_seeds(redraws: Sequence[Array | None]) -> Array | None:
    """Return the mean over seeds on each draw, float64 (R,); empty if no seed has draws, or they differ.

    Seeds without draws are left out: one fit varies over draws at least as much as a mean over fits.
    """
    known = [drawn for drawn in redraws if drawn is not None]
    if not known:
        return None
    drawn_by = [drawn for drawn in known if len(drawn)]
    if len(known) < len(redraws) or len({len(drawn) for drawn in drawn_by}) != 1:
        return np.empty(0)
    found: Array = np.mean(drawn_by, axis=0)
    return found
