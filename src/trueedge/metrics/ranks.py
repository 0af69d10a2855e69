"""Ranks of positives among their negatives, optimistic and pessimistic about ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks of positives among their negatives; 1 is best.

    Attributes:
        optimistic: float64 array (P,), 1 + the number of negatives scored strictly above.
        pessimistic: float64 array (P,), 1 + the number of negatives scored above or equal.

    Berrendorf et al., On the Ambiguity of Rank-Based Evaluation of Entity Alignment or Link Prediction
    Methods, 2020.
    """

    optimistic: NDArray[np.float64]
    pessimistic: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Return the mean of both, float64 (P,): the expected rank over random orders of ties."""
        middle: NDArray[np.float64] = 0.5 * (self.optimistic + self.pessimistic)
        return middle


def rank_shared(positive: NDArray[np.float64], negative: NDArray[np.floating[Any]]) -> Ranks:
    """Return ranks among shared negatives (M,) by binary search.

    Positives are searched in sorted order, which is ten times faster for a million of them.
    """
    ordered = np.sort(negative)
    order = np.argsort(positive)
    ascending = positive[order]
    above, at_least = np.empty(len(positive), dtype=np.int64), np.empty(len(positive), dtype=np.int64)
    above[order] = len(ordered) - np.searchsorted(ordered, ascending, side="right")
    at_least[order] = len(ordered) - np.searchsorted(ordered, ascending, side="left")
    return _ranks(above, at_least)


def rank_per_positive(positive: NDArray[np.float64], negative: NDArray[np.floating[Any]]) -> Ranks:
    """Return ranks among each positive's own negatives (P, K)."""
    from trueedge.kernels.ranking.ranking import count_above

    above, at_least = count_above(positive, negative)
    return _ranks(above, at_least)


def rank_listed(
    positive: NDArray[np.float64], scores: NDArray[np.floating[Any]], places: NDArray[np.int32]
) -> Ranks:
    """Return ranks among each positive's own negatives, given by their places (P, K) among scores (m,)."""
    from trueedge.kernels.ranking.ranking import count_above_listed

    return _ranks(*count_above_listed(positive, scores, places))


def without_highest(ranks: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """Return ranks (P,) among shared negatives without the ``number`` of them with the highest scores.

    This is exact without ties; with ties a positive may be ranked too high.
    """
    return np.maximum(ranks - number, 1.0)


def _ranks(above: NDArray[np.int64], at_least: NDArray[np.int64]) -> Ranks:
    return Ranks((1 + above).astype(np.float64), (1 + at_least).astype(np.float64))
