"""Recommended lists: the ranks of relevant candidates, and which candidates come first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.lists import ListScores
from trueedge.metrics.metric import Metric, register
from trueedge.metrics.scores import take

# The most popular candidates, the "short head", have this share of the interactions.
HEAD_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class RecommendedScores(ListScores):
    """The ranks of relevant candidates, and the first candidates of each query.

    Attributes:
        answers: int32 array (r,), the relevant candidates, in the order of ``above`` and ``tied``.
        top: int32 array (q, K), the first K candidates of each query, best first; -1 if there are fewer.
        popularity: int64 array (candidates,), how many training queries each candidate has.
        queries: the number of training queries.
    """

    form: ClassVar[str] = "recommended"
    layout = "recommended"

    answers: NDArray[np.int32]
    top: NDArray[np.int32]
    popularity: NDArray[np.int64]
    queries: int

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the ranks, the first candidates and their popularity."""
        return {
            **super().arrays(),
            "answers": self.answers,
            "top": self.top,
            "popularity": self.popularity,
            "queries": np.array([self.queries]),
        }

    def facts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays, with the relevant candidates of each query by number instead of by rank."""
        queries = np.repeat(np.arange(len(self.sizes.relevant)), self.sizes.relevant)
        return {**self.arrays(), "answers": self.answers[np.lexsort((self.answers, queries))]}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the lists of some :meth:`arrays`."""
        ranks = ListScores.from_arrays(arrays)
        answers, top, popularity, queries = take(arrays, "answers", "top", "popularity", "queries")
        whole = all(array.dtype.kind in "iu" for array in (answers, top, popularity, queries))
        fits = whole and top.ndim == 2 and len(top) == len(ranks.sizes.relevant)
        fits = fits and answers.shape == ranks.above.shape and popularity.ndim == 1 and queries.shape == (1,)
        fits = fits and top.min(initial=0) >= -1 and top.max(initial=-1) < len(popularity)
        if not fits or answers.min(initial=0) < 0 or answers.max(initial=-1) >= len(popularity):
            raise InputError("the arrays of recommended lists do not fit together")
        if not _listed_where_ranked(ranks, answers, top):
            raise InputError("the first candidates of a query are not those that its ranks put first")
        if popularity.min(initial=0) < 0 or popularity.max(initial=0) > queries[0]:
            raise InputError("the arrays of recommended lists have an impossible popularity")
        return cls(
            **{name: getattr(ranks, name) for name in ("sizes", "starts", "above", "tied", "left_out")},
            answers=answers.astype(np.int32),
            top=top.astype(np.int32),
            popularity=popularity.astype(np.int64),
            queries=int(queries[0]),
        )

    def first(self, k: int) -> NDArray[np.int32]:
        """Return the first k candidates of each query, or raise an InputError if fewer are known."""
        if k > self.top.shape[1]:
            raise InputError(f"only the first {self.top.shape[1]} candidates are known, not {k}")
        return self.top[:, :k]


def _listed_where_ranked(ranks: ListScores, answers: NDArray[Any], top: NDArray[Any]) -> bool:
    """Return whether lists of the first candidates agree with the ranks of the relevant ones.

    Lists name a candidate once and have gaps only at their end. A relevant candidate stands where its rank
    puts it; one that is above all ties at the end of the list must be in it.
    """
    count, width = top.shape
    filled = top >= 0
    gaps = width and (filled[:, 1:] & ~filled[:, :-1]).any()
    falls_short = filled.sum(axis=1) != np.minimum(width, ranks.sizes.candidates)
    ordered = np.sort(top, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()
    if gaps or falls_short.any() or twice:
        return False
    queries = np.repeat(np.arange(count), ranks.sizes.relevant)
    found = top[queries] == answers[:, None]
    place = np.where(found.any(axis=1), found.argmax(axis=1), width) if width else np.zeros(len(answers), int)
    inside = place < width
    within = (ranks.above <= place) & (place < ranks.above + ranks.tied)
    return bool((within[inside]).all() and (ranks.above + ranks.tied > width)[~inside].all())


def _coverage(scores: RecommendedScores, k: int) -> float:
    listed = scores.first(k)
    return len(np.unique(listed[listed >= 0])) / len(scores.popularity)


def _novelty(scores: RecommendedScores, k: int) -> NDArray[np.float64]:
    """Return the mean self-information of the first k candidates of each query, float64 (q,)."""
    listed = scores.first(k)
    # Nobody has a new candidate: it counts as if half a query had it.
    share = np.maximum(scores.popularity, 0.5) / max(scores.queries, 1)
    bits = np.where(listed >= 0, -np.log2(share)[listed], 0.0)
    return np.asarray(bits.sum(axis=1) / np.maximum((listed >= 0).sum(axis=1), 1))


def _tail_recall(scores: RecommendedScores, k: int) -> NDArray[np.float64]:
    """Return values of each query whose mean is the recall of tail candidates, float64 (q,).

    The metric is a mean over the queries that have some, a ratio of two sums. As for F1, a value is this
    ratio plus the query's influence on it, so that intervals and paired tests work as for any mean.
    """
    tail = long_tail(scores.popularity)[scores.answers]
    firsts = scores.starts[:-1]
    count = np.add.reduceat(tail, firsts, dtype=np.int64)
    has = count > 0
    if not has.any():
        raise InputError(f"tail-recall@{k}: no user has a relevant item outside the most popular ones")
    chance = np.clip(k - scores.above, 0, scores.tied) / scores.tied
    recall = np.add.reduceat(chance * tail, firsts) / np.maximum(count, 1)
    mean = recall[has].mean()
    return np.asarray(mean + np.where(has, recall - mean, 0.0) / has.mean())


def long_tail(popularity: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which candidates are not among the most popular ones with 80 % of all interactions, bool (n,).

    Candidates as popular as the last of these are popular too, so the order of candidates does not count.
    """
    falling = np.sort(popularity)[::-1]
    total = np.cumsum(falling)
    last = falling[np.searchsorted(total, HEAD_SHARE * total[-1])]
    return np.asarray((popularity < last) | (popularity == 0))


register(
    Metric(
        pattern="coverage@K",
        title="share of all items that are among the first K of some user",
        layouts=("recommended",),
        formula="items among the first K of at least one evaluated user / all items; ties in a random order",
        citation="Ge, Delgado-Battenfeld and Jannach, Beyond Accuracy, RecSys 2010",
        compute=_coverage,
    )
)
register(
    Metric(
        pattern="novelty@K",
        title="mean self-information of the first K items, in bits",
        layouts=("recommended",),
        formula="-log2(share of all users who have the item in training), mean over the first K of each user,"
        " then over users; an item without users counts as if half a user had it; ties in a random order",
        citation="Zhou et al., Solving the apparent diversity-accuracy dilemma of recommender systems, 2010",
        high=float("inf"),
        values=_novelty,
        shown="number",
    )
)
register(
    Metric(
        pattern="tail-recall@K",
        title="recall at K of items in the long tail",
        layouts=("recommended",),
        formula="relevant tail items among the first K / relevant tail items, mean over users who have one;"
        " the tail is all items except the most popular ones that together have 80 % of the training"
        " interactions; expected value over random orders of ties",
        # Their head has a third of the ratings.
        citation="Cremonesi, Koren and Turrin, Performance of Recommender Algorithms on Top-N Recommendation"
        " Tasks, RecSys 2010",
        values=_tail_recall,
    )
)
