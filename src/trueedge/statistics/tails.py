"""Student's distribution whose tail beyond the 5 % level has other degrees of freedom.

The degrees of freedom of a variance with several parts are chosen so that 95 % intervals hold the truth
(:mod:`.standard_error`). Further out the tail is heavier. It is taken from Student's distribution with
``tail_df`` degrees, stretched so that both agree at the 5 % level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Up to this share, two-sided 95 %, the degrees are df; above it they are tail_df.
BODY = 0.975


def quantile(share: float, df: float, tail_df: float) -> float:
    """Return the quantile of a share of at least one half, in standard errors."""
    from scipy.special import stdtrit

    if share <= BODY or tail_df == df:
        return float(stdtrit(df, share))
    return float(stdtrit(df, BODY) / stdtrit(tail_df, BODY) * stdtrit(tail_df, share))


def p_values(scores: Array, df: Array, tail_df: Array) -> Array:
    """Return two-sided p-values of differences in standard errors (n,), which have n degrees of freedom."""
    from scipy.special import stdtr, stdtrit

    sizes = np.abs(scores)
    found: Array = 2.0 * stdtr(df, -sizes)
    beyond = np.flatnonzero((tail_df != df) & (found < 2.0 * (1.0 - BODY)))
    stretch = stdtrit(tail_df[beyond], BODY) / stdtrit(df[beyond], BODY)
    found[beyond] = 2.0 * stdtr(tail_df[beyond], -sizes[beyond] * stretch)
    return found
