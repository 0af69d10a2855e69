"""Metrics of links that are clustered by their head: AUC and two kinds of mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import LAYOUTS, Scores, as_scores, take

LAYOUT = "by-head"
LAYOUTS[LAYOUT] = "positives and negatives of each head"


@dataclass(frozen=True, eq=False)
class HeadScores(Scores):
    """Checked scores of positives and negatives, each of which belongs to a head of a relation.

    Attributes:
        positive: float64 (P,).
        negative: float64 (M,).
        positive_head: int64 (P,), the unit of each positive: a head of a relation, numbered from 0.
        negative_head: int64 (M,), that of each negative.
        relation: int64 (heads,), the relation of each unit, numbered from 0.
    """

    form: ClassVar[str] = "by-head"
    layout = LAYOUT

    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    positive_head: NDArray[np.int64]
    negative_head: NDArray[np.int64]
    relation: NDArray[np.int64]

    @classmethod
    def check(
        cls,
        positive: NDArray[Any],
        negative: NDArray[Any],
        positive_head: NDArray[Any],
        negative_head: NDArray[Any],
        relation: NDArray[Any],
    ) -> Self:
        """Return checked scores, or raise an InputError if they do not fit together."""
        above, below = as_scores(positive, "positive scores"), as_scores(negative, "negative scores")
        for scores, heads, what in ((above, positive_head, "positive"), (below, negative_head, "negative")):
            if scores.ndim != 1 or not scores.size or scores.shape != heads.shape:
                raise InputError(f"there are {what} scores of shape {scores.shape}, heads of {heads.shape}")
            if heads.min() < 0 or heads.max() >= len(relation):
                raise InputError(f"a head of the {what} scores has no relation")
        if len(np.unique(positive_head)) != len(relation):
            raise InputError("every head needs a positive")
        numbers = (positive_head, negative_head, relation)
        return cls(
            above.astype(np.float64), below.astype(np.float64), *(one.astype(np.int64) for one in numbers)
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the numbers of positives and negatives."""
        return len(self.positive), len(self.negative)

    @cached_property
    def positive_ranks(self) -> NDArray[np.float64]:
        """Return the mean rank of each positive among the negatives of its head, float64 (P,)."""
        above, tied = _compared(self.positive, self.positive_head, self.negative, self.negative_head)
        return 1.0 + above + tied / 2

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scores, and the head of each."""
        names = ("positive", "negative", "positive_head", "negative_head", "relation")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the scores of some :meth:`arrays`."""
        names = ("positive", "negative", "positive_head", "negative_head", "relation")
        return cls.check(*take(arrays, *names))

    def over_relations(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weigh values per head, so that their mean is the mean over relations of the mean over heads."""
        counts = np.bincount(self.relation)
        present = np.count_nonzero(counts)
        return np.asarray(values * len(values) / (present * counts[self.relation]))


def _compared(
    asked: NDArray[np.float64],
    asked_head: NDArray[np.int64],
    others: NDArray[np.float64],
    others_head: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many of the others of the same head are above each score, and how many tie with it."""
    # Whole numbers in the order of the scores, so that head and score become one key.
    levels = np.unique(np.concatenate([asked, others]))
    width = len(levels) + 1
    keys = np.sort(others_head * width + np.searchsorted(levels, others))
    own = asked_head * width + np.searchsorted(levels, asked)
    end = np.searchsorted(keys, (asked_head + 1) * width)
    right, left = np.searchsorted(keys, own, side="right"), np.searchsorted(keys, own, side="left")
    return end - right, right - left


def _first_ranks(scores: HeadScores) -> NDArray[np.float64]:
    """Return 1 / the rank of the best positive of each head among the negatives of the head."""
    best = np.full(len(scores.relation), np.inf)
    np.minimum.at(best, scores.positive_head, scores.positive_ranks)
    return scores.over_relations(1.0 / best)


def _each_rank(scores: HeadScores) -> NDArray[np.float64]:
    """Return the mean over the positives of each head of 1 / rank."""
    sums = np.bincount(scores.positive_head, 1.0 / scores.positive_ranks, minlength=len(scores.relation))
    return scores.over_relations(sums / np.bincount(scores.positive_head, minlength=len(scores.relation)))


def _areas(scores: HeadScores) -> NDArray[np.float64]:
    """Return the AUC plus each head's influence on it; their mean is the mean over relations of the AUC."""
    found = np.zeros(len(scores.relation))
    for relation in np.unique(scores.relation):
        of_positive = scores.relation[scores.positive_head] == relation
        of_negative = scores.relation[scores.negative_head] == relation
        if not of_negative.any():
            raise InputError("a relation has no negatives")
        above, below = scores.positive[of_positive], scores.negative[of_negative]
        wins, losses = _wins(above, below), 1.0 - _wins(below, above)
        area = wins.mean()
        heads = scores.relation == relation
        moved = np.zeros(len(heads))
        np.add.at(moved, scores.positive_head[of_positive], (wins - area) / len(wins))
        np.add.at(moved, scores.negative_head[of_negative], (losses - area) / len(losses))
        found[heads] = area + heads.sum() * moved[heads]
        # Heads with negatives of this relation alone do not occur: every unit has a positive.
    return scores.over_relations(found)


def _wins(asked: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of others that each score is above; a tie counts 1/2."""
    ordered = np.sort(others)
    left, right = (np.searchsorted(ordered, asked, side=side) for side in ("left", "right"))
    return np.asarray((left + right) / (2 * len(ordered)))


CITATION = "Lv et al., Are We Really Making Much Progress?, KDD 2021, Section 4.5"


def _register(pattern: str, title: str, formula: str, values: Any, expect: Any = None) -> None:
    register(
        Metric(
            pattern=pattern,
            title=title,
            layouts=(LAYOUT,),
            formula=formula,
            citation=CITATION,
            values=values,
            expect=expect,
        )
    )


_register(
    "head-mrr",
    "reciprocal rank of the best positive of each head",
    "mean over heads of 1 / rank of the head's highest positive among its negatives; ties: mean rank",
    _first_ranks,
)
_register(
    "mrr-by-head",
    "reciprocal rank of every positive of each head",
    "mean over heads of the mean over its positives of 1 / rank among the head's negatives; ties: mean rank",
    _each_rank,
)
_register(
    "roc-auc",
    "area under the ROC curve, averaged over relations",
    "share of positive-negative comparisons of a relation that the positive wins, a tie counts 1/2",
    _areas,
    expect=lambda _: 0.5,
)
