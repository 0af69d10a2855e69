"""Metrics of the positives' ranks: MRR, mean rank, Hits@K."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import PairScores, PairSizes

View = Literal["mean", "optimistic", "pessimistic"]

RANK: dict[View, str] = {
    "mean": "1 + (#(neg > pos) + #(neg >= pos)) / 2",
    "optimistic": "1 + #(neg > pos)",
    "pessimistic": "1 + #(neg >= pos)",
}
HEART = "Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023, Appendix B.1"


def _mrr(pattern: str, title: str, view: View) -> Metric:
    return Metric(
        pattern=pattern,
        title=title,
        low=0.0,
        high=1.0,
        higher_is_better=True,
        layouts=("shared", "own"),
        formula=f"mean over positives of 1 / rank; rank = {RANK[view]}",
        citation="Voorhees, The TREC-8 Question Answering Track Report, TREC 1999",
        expect=_expect_mrr,
        compute=lambda scores: float(np.mean(1.0 / _ranks(scores, view))),
    )


def _rank_hits(pattern: str, title: str, view: View) -> Metric:
    return Metric(
        pattern=pattern,
        title=title,
        low=0.0,
        high=1.0,
        higher_is_better=True,
        layouts=("shared", "own"),
        formula=f"share of positives with rank <= K, rank = {RANK[view]}; fewer than K negatives: an error",
        citation=HEART,
        expect=_expect_hits,
        compute=lambda scores, k: _share_within(scores, k, view),
    )


def _hits(scores: PairScores, k: int) -> float:
    # A score strictly above the K-th best shared negative is a pessimistic rank of at most K.
    return _share_within(scores, k, "pessimistic" if scores.layout == "shared" else "mean")


def _share_within(scores: PairScores, k: int, view: View) -> float:
    _check_k(scores.sizes, k)
    return float(np.mean(_ranks(scores, view) <= k))


def _ranks(scores: PairScores, view: View) -> NDArray[np.float64]:
    ranks: NDArray[np.float64] = getattr(scores.ranks, view)
    return ranks


def _check_k(sizes: PairSizes, k: int) -> None:
    """With fewer negatives than K every positive would be a hit, whatever its score."""
    if k > sizes.negatives:
        raise InputError(f"Hits@{k} needs at least {k} negatives, and there are {sizes.negatives}")


def _expect_mrr(sizes: PairSizes) -> float:
    return float(np.mean(1.0 / np.arange(1, sizes.negatives + 2)))


def _expect_hits(sizes: PairSizes, k: int) -> float:
    _check_k(sizes, k)
    return k / (sizes.negatives + 1)


register(_mrr("mrr", "mean reciprocal rank", "mean"))
register(_mrr("mrr.optimistic", "mean reciprocal rank, ties in the positive's favour", "optimistic"))
register(_mrr("mrr.pessimistic", "mean reciprocal rank, ties against the positive", "pessimistic"))
register(
    Metric(
        pattern="mr",
        title="mean rank",
        low=1.0,
        high=float("inf"),
        higher_is_better=False,
        layouts=("shared", "own"),
        formula=f"mean over positives of the rank; rank = {RANK['mean']}",
        citation="Bordes et al., Translating Embeddings for Modeling Multi-relational Data, NeurIPS 2013",
        expect=lambda sizes: 1 + sizes.negatives / 2,
        compute=lambda scores: float(np.mean(scores.ranks.mean)),
    )
)
register(
    Metric(
        pattern="hits@K",
        title="share of positives in the first K places",
        low=0.0,
        high=1.0,
        higher_is_better=True,
        layouts=("shared", "own"),
        formula=(
            f"own negatives: share of positives with rank <= K, rank = {RANK['mean']}; shared negatives: "
            "share scored strictly above the K-th best negative; fewer than K negatives: an error"
        ),
        citation=f"Hu et al., Open Graph Benchmark, NeurIPS 2020 (shared); {HEART} (own)",
        expect=_expect_hits,
        compute=_hits,
    )
)
register(_rank_hits("rank-hits@K", "share of positives with a mean rank of at most K", "mean"))
register(_rank_hits("hits@K.optimistic", "Hits@K, ties in the positive's favour", "optimistic"))
register(_rank_hits("hits@K.pessimistic", "Hits@K, ties against the positive", "pessimistic"))
