"""Full ranking: all candidates of each query are scored in blocks, and the relevant ones ranked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.metrics.lists import ListScores, ListSizes
from trueedge.metrics.scores import as_array, as_floats, as_scores, describe_nonfinite, refuse_rounded
from trueedge.scorers.scorer import Scorer, scorer_name

# Scores in a block: 32 MB of float32, which a large cache holds. Blocks of twice the size take longer.
SCORES_IN_A_BLOCK = 1 << 23

Table = Callable[[NDArray[np.int64]], NDArray[Any]]


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
        answers: int32 (r,), the relevant candidates in the order of these ranks.
        scores: float64 (r,), their scores.
        top: int32 (q, K), the first candidates of each query, best first; -1 if there are fewer.
    """

    ranks: ListScores
    answers: NDArray[np.int32]
    scores: NDArray[np.float64]
    top: NDArray[np.int32]

    @property
    def constant(self) -> float | None:
        """Return the score of all candidates if it is the same, else None."""
        everyone = np.repeat(self.ranks.sizes.candidates, self.ranks.sizes.relevant)
        if (self.ranks.tied < everyone).any() or self.scores.min() < self.scores.max():
            return None
        return float(self.scores[0])


def rank_all(
    table: Table,
    queries: NDArray[np.integer],
    num_candidates: int,
    known: CandidateLists,
    relevant: CandidateLists,
    top: int = 0,
    key: int = 0,
    name: str = "the scorer",
    in_a_block: int = SCORES_IN_A_BLOCK,
) -> Ranking:
    """Rank the relevant candidates of each query among all candidates that are not known.

    Args:
        table: returns the scores of all candidates for some queries, float (n, candidates), as
            :func:`ask_for_all` does. Whether they are finite is checked here, while they are ranked.
        queries: int (q,), the queries.
        num_candidates: the number of candidates.
        known: the candidates of each query that are left out; none of them is relevant.
        relevant: the relevant candidates of each query, at least one each.
        top: how many of the first candidates are kept.
        key: for the order of ties among these.
        name: the scorer's name in messages.
        in_a_block: about how many scores are asked for at a time.
    """
    from trueedge.kernels.ranking.full_rows import rank_and_list_rows

    count = relevant.starts[-1]
    above, tied = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    answers, scores = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.float64)
    best = np.full((len(queries), top), -1, dtype=np.int32)
    asked = np.ascontiguousarray(queries, dtype=np.int64)
    for first, last in blocks_of(len(queries), num_candidates, in_a_block):
        values = as_floats(table(asked[first:last]))
        starts, own = relevant.rows(first, last)
        part = slice(relevant.starts[first], relevant.starts[last])
        bad = rank_and_list_rows(
            values,
            known.rows(first, last),
            (starts, own),
            asked[first:last],
            key,
            above[part],
            tied[part],
            answers[part],
            best[first:last],
        )
        if bad:
            nan = int(np.isnan(values).sum())
            raise InputError(describe_nonfinite(nan, bad - nan, values.size, f"scores of {name}"))
        scores[part] = values[np.repeat(np.arange(last - first), np.diff(starts)), answers[part]]
    sizes = ListSizes(num_candidates - np.diff(known.starts), np.diff(relevant.starts))
    return Ranking(ListScores(sizes, relevant.starts, above, tied, 0), answers, scores, best)


def blocks_of(
    queries: int, num_candidates: int, in_a_block: int = SCORES_IN_A_BLOCK
) -> Iterator[tuple[int, int]]:
    """Yield the first query and the one after the last of each block."""
    step = max(1, in_a_block // max(num_candidates, 1))
    for first in range(0, queries, step):
        yield first, min(first + step, queries)


def ask_for_all(
    scorer: Scorer, queries: NDArray[np.int64], num_candidates: int, nouns: tuple[str, str]
) -> NDArray[Any]:
    """Ask a scorer for the scores of all candidates, and check all but that they are finite.

    Args:
        scorer: answers queries with a row of scores each.
        queries: int64 (n,).
        num_candidates: the number of candidates.
        nouns: what queries and candidates are, such as ``("users", "items")``.

    Returns:
        real numbers (n, candidates), each of which a float64 holds exactly.
    """
    name = scorer_name(scorer)
    # A copy, so that a scorer that writes into its input does not change the questions.
    answer = scorer.score(queries.copy())
    array = as_array(answer, f"the scores of {name}")
    if array.shape != (len(queries), num_candidates):
        said = "None" if answer is None else f"shape {array.shape}"
        raise InputError(
            f"{name} must score {num_candidates} {nouns[1]} for each of {len(queries)} {nouns[0]}, as shape"
            f" {(len(queries), num_candidates)}, but it answered with {said}"
        )
    if array.dtype not in (np.float16, np.float32, np.float64):
        return as_scores(answer, f"scores of {name}")
    refuse_rounded(answer, array, f"scores of {name}")
    return array
