"""Metrics of ranked lists, one per query: NDCG, recall, VCMPR, hit rate, first hit; ties are averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_memory
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import Scores, as_array, as_floats, as_scores, take

# No list holds more candidates than a graph has nodes.
LONGEST = 2**31


@dataclass(frozen=True, eq=False)
class ListSizes:
    """The numbers of candidates and of relevant candidates (at least 1) of each query, int64 (q,)."""

    candidates: NDArray[np.int64]
    relevant: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ListScores(Scores):
    """The ranks of each query's relevant candidates; queries without any are left out.

    Attributes:
        sizes: the lists' lengths, for the q queries that count.
        starts: int64 array (q + 1,), where each query starts in ``above`` and ``tied``.
        above: int64 array (r,), for each relevant candidate, best first, how many are scored above it.
        tied: int64 array (r,), how many have its score, itself included.
        left_out: the number of queries without a relevant candidate.
    """

    form: ClassVar[str] = "lists"
    layout = "lists"

    sizes: ListSizes
    starts: NDArray[np.int64]
    above: NDArray[np.int64]
    tied: NDArray[np.int64]
    left_out: int

    @classmethod
    def check(cls, indptr: object, scores: object, relevant: object) -> Self:
        """Rank the relevant candidates of each list, or raise an InputError if the arrays do not fit."""
        from trueedge.kernels.ranking.ranking import rank_relevant

        numbers = as_scores(scores, "candidate scores")
        if numbers.ndim != 1:
            raise InputError(f"candidate scores must have the shape (n,), got {numbers.shape}")
        bounds = _check_indptr(indptr, len(numbers))
        marks = _check_relevant(relevant, len(numbers))
        counts = np.diff(np.searchsorted(np.flatnonzero(marks), bounds))
        if not counts.any():
            raise InputError(f"none of the {len(counts)} queries has a relevant candidate")
        above, tied = rank_relevant(bounds, as_floats(numbers), marks, _cumulate(counts))
        kept = counts > 0
        return cls(
            sizes=ListSizes(np.diff(bounds)[kept], counts[kept]),
            starts=_cumulate(counts[kept]),
            above=above,
            tied=tied,
            left_out=int(np.count_nonzero(~kept)),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the lengths of the lists, and the ranks of their relevant candidates."""
        found = {"candidates": self.sizes.candidates, "relevant": self.sizes.relevant}
        return {**found, "above": self.above, "tied": self.tied, "left_out": np.array([self.left_out])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the lists of some :meth:`arrays`."""
        given = take(arrays, "candidates", "relevant", "above", "tied", "left_out")
        if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in given):
            raise InputError("the arrays of ranked lists must hold whole numbers (n,)")
        candidates, relevant, above, tied, left_out = (array.astype(np.int64) for array in given)
        fits = len(candidates) == len(relevant) > 0 and len(above) == len(tied) and len(left_out) == 1
        fits = fits and bool(((relevant > 0) & (relevant <= len(above))).all())
        fits = fits and relevant.sum() == len(above)
        if fits:
            room = np.repeat(candidates, relevant)
            places = np.stack([np.repeat(np.arange(len(relevant)), relevant), above])
            _, where, alike = np.unique(places, axis=1, return_inverse=True, return_counts=True)
            fits = bool(((above >= 0) & (tied >= alike[where.reshape(-1)]) & (tied <= room - above)).all())
        if not fits or (relevant > candidates).any() or candidates.max() > LONGEST:
            raise InputError("the arrays of ranked lists do not fit together")
        return cls(ListSizes(candidates, relevant), _cumulate(relevant), above, tied, int(left_out[0]))

    @cached_property
    def best(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return, for each query's best relevant score, how many are above, tied, and tied and relevant."""
        above, tied = self.above[self.starts[:-1]], self.tied[self.starts[:-1]]
        same = self.above == np.repeat(above, self.sizes.relevant)
        return above, tied, np.add.reduceat(same, self.starts[:-1], dtype=np.int64)

    def hits(self, k: int) -> NDArray[np.float64]:
        """Return the expected number of relevant candidates among each query's first k, float64 (q,)."""
        return self._sum(np.clip(k - self.above, 0, self.tied) / self.tied)

    def gain(self, k: int) -> NDArray[np.float64]:
        """Return the expected discounted cumulative gain of each query's first k, float64 (q,)."""
        total = self.discount(k)
        first, last = np.minimum(self.above, k), np.minimum(self.above + self.tied, k)
        return self._sum((total[last] - total[first]) / self.tied)

    def discount(self, k: int) -> NDArray[np.float64]:
        """Return the gain of relevant candidates in all of the first j places, for j = 0, …"""
        places = min(k, int(self.sizes.candidates.max()))
        check_memory(16 * places, "the gain of the longest list")
        total = np.zeros(places + 1)
        np.cumsum(1.0 / np.log2(np.arange(2, places + 2)), out=total[1:])
        return total

    def _sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the relevant candidates of each query; every query has some."""
        summed: NDArray[np.float64] = np.add.reduceat(values, self.starts[:-1])
        return summed


def _check_indptr(indptr: object, count: int) -> NDArray[np.int64]:
    bounds = as_array(indptr, "indptr")
    if bounds.ndim != 1 or bounds.size < 2 or bounds.dtype.kind not in "iu":
        raise InputError(f"indptr must hold q + 1 whole numbers, got {bounds.dtype} of shape {bounds.shape}")
    bounds = bounds.astype(np.int64)
    if bounds[0] != 0 or bounds[-1] != count:
        raise InputError(f"indptr must go from 0 to {count}, got {bounds[0]} to {bounds[-1]}")
    falling = np.flatnonzero(np.diff(bounds) < 0)
    if falling.size:
        at = int(falling[0])
        raise InputError(f"indptr falls from {bounds[at]} to {bounds[at + 1]} at query {at}")
    return bounds


def _check_relevant(relevant: object, count: int) -> NDArray[np.bool_]:
    marks = as_array(relevant, "relevant")
    if marks.shape != (count,):
        raise InputError(f"relevant must have the shape ({count},) of the scores, got {marks.shape}")
    if marks.dtype.kind not in "biuf" or bool(((marks != 0) & (marks != 1)).any()):
        raise InputError("relevant must hold only true and false")
    return np.ascontiguousarray(marks, dtype=np.bool_)


def _cumulate(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _ndcg(scores: ListScores, k: int) -> NDArray[np.float64]:
    ideal = scores.discount(k)[np.minimum(scores.sizes.relevant, k)]
    return scores.gain(k) / ideal


def _hit_rate(scores: ListScores, k: int) -> NDArray[np.float64]:
    from trueedge.kernels.ranking.ranking import chance_of_hit

    return np.asarray(chance_of_hit(*scores.best, k))


def _first_hit(scores: ListScores, k: int = LONGEST) -> NDArray[np.float64]:
    from trueedge.kernels.ranking.ranking import reciprocal_first

    return np.asarray(reciprocal_first(*scores.best, k))


def _one_tie(sizes: ListSizes) -> ListScores:
    """Return lists with all candidates tied, which is what random scores are in expectation."""
    starts = _cumulate(sizes.relevant)
    tied = np.repeat(sizes.candidates, sizes.relevant)
    return ListScores(sizes, starts, np.zeros_like(tied), tied, 0)


def _list_metric(
    pattern: str, title: str, formula: str, citation: str, values: Callable[..., NDArray[np.float64]]
) -> None:
    register(
        Metric(
            pattern=pattern,
            title=title,
            layouts=("lists", "recommended"),
            formula=f"{formula}; mean over queries that have a relevant candidate, expected value over "
            "random orders of ties",
            citation=citation,
            expect=lambda sizes, *k: float(np.mean(values(_one_tie(sizes), *k))),
            values=values,
        )
    )


_list_metric(
    "ndcg@K",
    "normalised discounted cumulative gain of the first K",
    "sum over relevant candidates at places j <= K of 1 / log2(j + 1), divided by that of the best order",
    "Järvelin and Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002",
    _ndcg,
)
_list_metric(
    "recall@K",
    "share of the relevant candidates among the first K",
    "relevant among the first K / relevant",
    "Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008",
    lambda scores, k: scores.hits(k) / scores.sizes.relevant,
)
# Eq. 28 of Aiyappa et al. (2025) prints a max below the line, which gives the smaller of precision and
# recall; the metric's own paper takes the larger, so min(K, relevant) stands here.
_list_metric(
    "vcmpr@K",
    "vertex-centric maximum of precision and recall at K",
    "relevant among the first K / min(K, relevant)",
    "Menand and Seshadhri, Link prediction using low-dimensional node embeddings, PNAS 2024",
    lambda scores, k: scores.hits(k) / np.minimum(scores.sizes.relevant, k),
)
_list_metric(
    "hitrate@K",
    "share of queries with a relevant candidate among the first K",
    "1 if a relevant candidate is among the first K, else 0",
    "Deshpande and Karypis, Item-Based Top-N Recommendation Algorithms, TOIS 2004",
    _hit_rate,
)
_list_metric(
    "list-precision@K",
    "share of the first K that are relevant",
    "relevant among the first K / K",
    "Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2008",
    lambda scores, k: scores.hits(k) / k,
)
_list_metric(
    "list-mrr@K",
    "mean reciprocal rank of each query's first relevant candidate, 0 if it is not among the first K",
    "1 / place of the first relevant candidate if this is at most K, else 0",
    "Voorhees, The TREC-8 Question Answering Track Report, TREC 1999",
    _first_hit,
)
_list_metric(
    "list-mrr",
    "mean reciprocal rank of each query's first relevant candidate",
    "1 / place of the first relevant candidate",
    "Voorhees, The TREC-8 Question Answering Track Report, TREC 1999",
    _first_hit,
)
