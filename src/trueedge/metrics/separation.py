"""Metrics of how well scores separate positives from negatives: AUC, average precision, precision@K."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import PairScores, PairSizes


def _auc(scores: PairScores) -> float:
    """Count in whole numbers, so that the AUC is exact: a win counts 2, a tie 1."""
    ranks, sizes = scores.ranks, scores.sizes
    lost = int((ranks.optimistic + ranks.pessimistic - 2.0).astype(np.int64).sum())
    comparisons = sizes.positives * sizes.negatives
    return (2 * comparisons - lost) / (2 * comparisons)


def _wins(scores: PairScores) -> NDArray[np.float64]:
    """Return the share of its negatives that each positive is scored above."""
    return 1.0 - (scores.ranks.mean - 1.0) / scores.sizes.negatives


def _average_precision(scores: PairScores) -> float:
    """Return the mean precision at each positive's score, which equals the sum over recall steps."""
    positives = np.sort(scores.positive)
    found = len(positives) - np.searchsorted(positives, scores.positive, side="left")
    wrong = scores.ranks.pessimistic - 1.0
    return float(np.mean(found / (found + wrong)))


def _precision(scores: PairScores, k: int) -> float:
    positive, negative = scores.positive, scores.negative.astype(np.float64)
    together = np.concatenate([positive, negative])
    last = np.partition(together, len(together) - k)[len(together) - k]
    sure = np.count_nonzero(positive > last)
    places = k - np.count_nonzero(together > last)
    tied_share = np.count_nonzero(positive == last) / np.count_nonzero(together == last)
    return float((sure + places * tied_share) / k)


def _pairs(sizes: PairSizes) -> int:
    return sizes.positives + sizes.negatives


def _expect_average_precision(sizes: PairSizes) -> float:
    """Sum over places i: a positive is there with chance P/n, after (i-1)(P-1)/(n-1) other positives."""
    total = sizes.positives + sizes.negatives
    harmonic = float(np.sum(1.0 / np.arange(1, total + 1)))
    return (harmonic + (sizes.positives - 1) / (total - 1) * (total - harmonic)) / total


def _expect_precision(sizes: PairSizes, k: int) -> float:
    del k
    return sizes.positives / (sizes.positives + sizes.negatives)


register(
    Metric(
        pattern="auc",
        title="area under the ROC curve",
        layouts=("shared", "per-positive"),
        formula=(
            "share of positive-negative comparisons the positive wins, a tie counts 1/2; negatives per "
            "positive: each positive is compared with its own only, and the positives' shares are averaged"
        ),
        citation="Hanley and McNeil, The Meaning and Use of the Area under a ROC Curve, Radiology 1982",
        expect=lambda _: 0.5,
        values=_wins,
        compute=_auc,
    )
)
register(
    Metric(
        pattern="ap",
        title="average precision",
        layouts=("shared",),
        formula=(
            "mean over positives, each with score s, of #(pos >= s) / (#(pos >= s) + #(neg >= s)); "
            "equal scores enter together, as in scikit-learn"
        ),
        citation="Buckley and Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000",
        expect=_expect_average_precision,
        compute=_average_precision,
    )
)
register(
    Metric(
        pattern="precision@K",
        title="share of positives among the K best pairs (the degree-bias paper's Hits@K)",
        layouts=("shared",),
        formula=(
            "positives among the K highest scores of all pairs, divided by K; expected value over random "
            "orders of ties; fewer than K pairs: an error"
        ),
        citation="Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, ICML 2025, Appendix E.6",
        expect=_expect_precision,
        compute=_precision,
        most_k=_pairs,
    )
)
