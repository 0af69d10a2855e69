"""Metrics of the positives' ranks: MRR, mean rank, Hits@K."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import PairScores

View = Literal["mean", "optimistic", "pessimistic"]

RANK: dict[View, str] = {
    "mean": "1 + (#(neg > pos) + #(neg >= pos)) / 2",
    "optimistic": "1 + #(neg > pos)",
    "pessimistic": "1 + #(neg >= pos)",
}
HEART = "Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023, Appendix B.1"
VIEWS: dict[View, str] = {
    "mean": "",
    "optimistic": ", ties in the positive's favour",
    "pessimistic": ", ties against the positive",
}


def _register(pattern: str, title: str, formula: str, citation: str, **others: Any) -> None:
    layouts = ("shared", "per-positive", "ranks")
    register(
        Metric(pattern=pattern, title=title, layouts=layouts, formula=formula, citation=citation, **others)
    )


def _reciprocal(view: View) -> Callable[[PairScores], NDArray[np.float64]]:
    return lambda scores: 1.0 / _ranks(scores, view)


def _within(view: View) -> Callable[[PairScores, int], NDArray[np.float64]]:
    return lambda scores, k: (_ranks(scores, view) <= k).astype(np.float64)


def _hits(scores: PairScores, k: int) -> NDArray[np.float64]:
    # A score strictly above the K-th best shared negative is a pessimistic rank of at most K.
    return _within("pessimistic" if scores.layout == "shared" else "mean")(scores, k)


def _ranks(scores: PairScores, view: View) -> NDArray[np.float64]:
    ranks: NDArray[np.float64] = getattr(scores.ranks, view)
    return ranks


def _negatives(sizes: Any) -> int:
    """Return the largest K: with fewer negatives than K every positive would be a hit."""
    return int(np.max(sizes.negatives))


def expected_mrr(sizes: Any) -> float:
    """Return the MRR of random scores; the number of negatives is one for all, or one for each positive."""
    if np.ndim(sizes.negatives) == 0:
        return float(np.mean(1.0 / np.arange(1, sizes.negatives + 2)))
    places = np.asarray(sizes.negatives) + 1
    harmonic = np.cumsum(1.0 / np.arange(1, int(places.max()) + 1))
    return float(np.mean(harmonic[places - 1] / places))


def _expect_hits(sizes: Any, k: int) -> float:
    return float(np.mean(np.minimum(k / (np.asarray(sizes.negatives) + 1), 1.0)))


for _view, _how in VIEWS.items():
    _register(
        "mrr" if _view == "mean" else f"mrr.{_view}",
        f"mean reciprocal rank{_how}",
        f"mean over positives of 1 / rank; rank = {RANK[_view]}",
        "Voorhees, The TREC-8 Question Answering Track Report, TREC 1999",
        expect=expected_mrr,
        values=_reciprocal(_view),
        of_rank=(lambda ranks: 1.0 / ranks) if _view == "mean" else None,
    )
_register(
    "mr",
    "mean rank",
    f"mean over positives of the rank; rank = {RANK['mean']}",
    "Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013",
    low=1.0,
    high=float("inf"),
    higher_is_better=False,
    expect=lambda sizes: 1 + float(np.mean(sizes.negatives)) / 2,
    values=lambda scores: _ranks(scores, "mean"),
    of_rank=lambda ranks: ranks,
    shown="rank",
)
_register(
    "hits@K",
    "share of positives in the first K places",
    f"negatives per positive: share of positives with rank <= K, rank = {RANK['mean']}; shared negatives: "
    "share scored strictly above the K-th best negative; fewer than K negatives: an error",
    f"Hu et al., Open Graph Benchmark, NeurIPS 2020 (shared); {HEART} (per positive)",
    expect=_expect_hits,
    values=_hits,
    most_k=_negatives,
)
for _view, _how in VIEWS.items():
    _register(
        "rank-hits@K" if _view == "mean" else f"hits@K.{_view}",
        "share of positives with a mean rank of at most K" if _view == "mean" else f"Hits@K{_how}",
        f"share of positives with rank <= K, rank = {RANK[_view]}; fewer than K negatives: an error",
        HEART,
        expect=_expect_hits,
        values=_within(_view),
        of_rank=(lambda ranks, k: ranks <= k) if _view == "mean" else None,
        most_k=_negatives,
    )
