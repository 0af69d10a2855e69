"""Values of metrics for each unit: a positive, a query, a node, a user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.metric import Metric
from trueedge.metrics.ranks import Ranks
from trueedge.metrics.scores import Scores


@dataclass(frozen=True, eq=False)
class UnitValues:
    """The values of each metric for the units of a test part.

    Attributes:
        unit: the noun for a unit: ``positive``, ``query``, ``node``.
        values: float64 (n,) by the metric's name; a metric is the mean of its values.
        ends: int64 (n, 2), a number for each end of units that are edges: from 1 for nodes of several units,
            0 for all others; None if units are no edges.
        redraws: if all units share their negatives, each metric with other draws of these, float64 (R,) by
            its name, empty without other draws; None if units have negatives of their own.
    """

    unit: str
    values: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ends: NDArray[np.int64] | None = None
    redraws: Mapping[str, NDArray[np.float64]] | None = None


def unit_values(scores: Scores, metrics: Iterable[Metric], unit: str) -> UnitValues:
    """Return the values per unit (a noun) of all metrics that are means over units, without tie rules."""
    kept = {
        one.name: one.per_unit(scores) for one in metrics if one.values is not None and "." not in one.name
    }
    for name, values in kept.items():
        if values.ndim != 1 or len(values) != len(next(iter(kept.values()))):
            raise InputError(f"{name} must give one value for each {unit}, it gave shape {values.shape}")
    ranks: Ranks | None = getattr(scores, "ranks", None)
    if ranks is not None and kept:
        # From the mean ranks, every metric of ranks can be computed later.
        kept.setdefault("mr", ranks.mean)
    return UnitValues(unit, kept)


def plural(unit: str) -> str:
    """Return the plural of a unit's noun: ``nodes``, ``queries``."""
    return f"{unit[:-1]}ies" if re.search("[^aeiou]y$", unit) else f"{unit}s"
