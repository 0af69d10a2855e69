"""Records of older versions, as today's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.results.packed_units import inflate
from trueedge.version import VERSION

# The format of records that this version writes.
FORMAT = 2
# The kind of task behind a protocol of version 0.1, which had links alone but for these.
KINDS = {"recommendation": "recommend", "communities": "communities"}


def upgrade(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's dictionary in today's format; one that has a format already stays as it is.

    Version 0.1 kept the mean rank of each test positive as ``packed_ranks``; they stay packed until they are
    asked for (:func:`values_of_ranks`).
    """
    found = dict(values)
    if "format" in found:
        number = found["format"]
        if type(number) is int and number > FORMAT:
            raise InputError(
                f"it has format {number}, trueedge {VERSION} reads formats up to {FORMAT}: update trueedge"
            )
        return found
    ranks = found.pop("packed_ranks", "")
    units = {"unit": "positive", "packed_ranks": ranks} if ranks else {}
    kind = KINDS.get(str(found.get("protocol")), "link")
    return {**found, "format": 1, "kind": kind, "units": units}


def values_of_ranks(packed: str, metric: str, recorded: Mapping[str, float]) -> NDArray[np.float64] | None:
    """Return what each positive of a record of version 0.1 contributes to a metric, or None.

    Args:
        packed: the doubled mean ranks, as int64, compressed, as text.
        metric: the metric's name.
        recorded: the metrics of the test part.

    Raises:
        ValueError: the ranks cannot be read.
    """
    ranks = np.frombuffer(inflate(packed), dtype="<i8") / 2.0
    if not len(ranks) or ranks.min() < 1:
        raise ValueError("there is no rank, or one below 1")
    hits = re.fullmatch(r"(?:rank-)?hits@(\d+)", metric)
    if hits:
        return (ranks <= int(hits[1])).astype(np.float64)
    if metric == "auc" and "auc" in recorded:
        return _wins(ranks, recorded["auc"])
    return {"mrr": 1.0 / ranks, "mr": ranks}.get(metric)


def _wins(ranks: NDArray[np.float64], auc: float) -> NDArray[np.float64]:
    """The share of its negatives each positive is above: lost comparisons / negatives = 1 - AUC."""
    lost = float((ranks - 1.0).mean())
    if lost == 0 or auc >= 1:
        # No comparison is lost, or what is recorded disagrees, which the caller sees.
        return np.ones(len(ranks)) if lost == 0 else 1.0 - ranks
    return 1.0 - (ranks - 1.0) / max(1, round(lost / (1.0 - auc)))
