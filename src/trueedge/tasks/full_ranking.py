"""Full ranking: all candidates of each query are scored in blocks, and the relevant ones ranked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics.lists import ListScores, ListSizes
from trueedge.metrics.scores import as_floats

# Scores in a block: 64 MB of float32.
SCORES_IN_A_BLOCK = 1 << 24

Table = Callable[[NDArray[np.int64]], NDArray[np.floating]]


@dataclass(frozen=True, eq=False)
class CandidateLists:
    """Some candidates of each query.

    Attributes:
        starts: int64 (q + 1,), where the candidates of each query start.
        candidates: int32, those of a query are all different.
    """

    starts: NDArray[np.int64]
    candidates: NDArray[np.int32]

    def rows(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the starts and candidates of some queries, from 0."""
        starts = self.starts[first : last + 1]
        return starts - starts[0], self.candidates[starts[0] : starts[-1]]

    def of(self, queries: NDArray[np.integer]) -> CandidateLists:
        """Return the lists of some queries, in that order."""
        counts = np.diff(self.starts)[queries]
        starts = np.zeros(len(queries) + 1, dtype=np.int64)
        np.cumsum(counts, out=starts[1:])
        rows = np.arange(starts[-1]) - np.repeat(starts[:-1] - self.starts[queries], counts)
        return CandidateLists(starts, self.candidates[rows])


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a full ranking gives.

    Attributes:
        ranks: the ranks of the relevant candidates of each query.
        top: int32 (q, K), the first candidates of each query, best first; -1 if there are fewer.
        low: the lowest score.
        high: the highest score.
    """

    ranks: ListScores
    top: NDArray[np.int32]
    low: float
    high: float


def rank_all(
    table: Table,
    queries: NDArray[np.integer],
    num_candidates: int,
    known: CandidateLists,
    relevant: CandidateLists,
    top: int = 0,
    key: int = 0,
) -> Ranking:
    """Rank the relevant candidates of each query among all candidates that are not known.

    Args:
        table: returns the scores of all candidates for some queries, finite, float (n, candidates).
        queries: int (q,), the queries.
        num_candidates: the number of candidates.
        known: the candidates of each query that are left out; none of them is relevant.
        relevant: the relevant candidates of each query, at least one each.
        top: how many of the first candidates are kept.
        key: for the order of ties among these.
    """
    from trueedge.kernels.ranking.full_rows import rank_rows, top_rows

    above = np.empty(relevant.starts[-1], dtype=np.int64)
    tied = np.empty(relevant.starts[-1], dtype=np.int64)
    first_ones = np.full((len(queries), top), -1, dtype=np.int32)
    low, high = np.inf, -np.inf
    step = max(1, SCORES_IN_A_BLOCK // max(num_candidates, 1))
    for first in range(0, len(queries), step):
        last = min(first + step, len(queries))
        asked = np.asarray(queries[first:last], dtype=np.int64)
        scores = as_floats(table(asked))
        low, high = min(low, float(scores.min())), max(high, float(scores.max()))
        part = slice(relevant.starts[first], relevant.starts[last])
        out = known.rows(first, last)
        rank_rows(scores, out, relevant.rows(first, last), above[part], tied[part])
        if top:
            first_ones[first:last] = top_rows(scores, out, asked, top, key)
    sizes = ListSizes(num_candidates - np.diff(known.starts), np.diff(relevant.starts))
    return Ranking(ListScores(sizes, relevant.starts, above, tied, 0), first_ones, low, high)
