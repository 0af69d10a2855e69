"""The variance of values in groups: how much of it lies between groups, and how much within them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trueedge.errors import InputError
from trueedge.metrics.scores import as_scores


class NestedVariance(NamedTuple):
    """The variance of one value of a new group.

    Attributes:
        between: of the true means of groups, 0 or more; nan with one group.
        within: of values around the mean of their group; nan with one value in each.
    """

    between: float
    within: float

    @property
    def share_within(self) -> float:
        """Return the share of the variance that lies within groups, 0 to 1; nan if it is unknown or zero."""
        total = self.between + self.within
        return self.within / total if total > 0 else math.nan


def nested_variance(values: ArrayLike) -> NestedVariance:
    """Divide the variance of values in equally large groups by a one-way analysis of variance.

    The means of groups vary by the variance between groups, and by that within them divided by the size of a
    group. Where they vary by less than the latter alone, the variance between groups is estimated as 0.

    Args:
        values: numbers (groups, size), a row for each group.

    Searle, Casella and McCulloch, Variance Components, 1992, section 3.5.
    """
    found = as_scores(values, "values").astype(np.float64)
    if found.ndim != 2 or not found.size:
        raise InputError(f"nested_variance: values have the shape {found.shape}, not (groups, size)")
    groups, size = found.shape
    within = float(found.var(axis=1, ddof=1).mean()) if size > 1 else math.nan
    if groups < 2:
        return NestedVariance(math.nan, within)
    between = float(found.mean(axis=1).var(ddof=1)) - within / size
    return NestedVariance(between if math.isnan(between) else max(0.0, between), within)
