"""Scores of lists that hold the same pairs many times: each pair has one score, and lists refer to it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics.ranks import Ranks, rank_listed
from trueedge.metrics.scores import PairScores, PairSizes, as_floats


class ListedPairScores(PairScores):
    """Checked scores of positives, and of negatives for each, that are written out only if asked for.

    Ranks are counted from the scores of the distinct pairs, which fit into a cache.

    Args:
        scores: checked scores of the distinct pairs, float (m,); each is in some list.
        positives: the place of each positive among them, int (P,).
        negatives: the places of its negatives, int32 (P, K).
    """

    scores: NDArray[Any]
    places: NDArray[np.int32]

    def __init__(
        self, scores: NDArray[Any], positives: NDArray[np.integer[Any]], negatives: NDArray[np.int32]
    ) -> None:
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "places", negatives)
        object.__setattr__(self, "positive", scores[positives].astype(np.float64))

    @cached_property
    def negative(self) -> NDArray[np.float64]:
        """Return the scores of all negatives, float64 (P, K)."""
        return self.scores.astype(np.float64)[self.places]

    @property
    def layout(self) -> str:  # type: ignore[override]
        """Return ``per-positive``."""
        return "per-positive"

    @property
    def sizes(self) -> PairSizes:
        """Return the numbers of positives and negatives."""
        return PairSizes(*self.places.shape)

    @cached_property
    def range(self) -> tuple[float, float]:
        """Return the lowest and the highest score."""
        return float(self.scores.min()), float(self.scores.max())

    @cached_property
    def ranks(self) -> Ranks:
        """Return the rank of each positive among its negatives."""
        return rank_listed(self.positive, as_floats(self.scores), self.places)
