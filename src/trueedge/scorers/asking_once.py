"""Ask about each pair of many lists once, where lists hold the same pairs again and again.

A task with a few hundred negatives for each edge of a dense graph has more pairs than the graph: on ogbl-ddi
under HeaRT, 67 million in each part, of which less than a million are distinct.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.metrics.listed import ListedPairScores
from trueedge.metrics.scores import row_blocks
from trueedge.randomness import generator
from trueedge.scorers.asking import equal_blocks, neutral_direction
from trueedge.scorers.scorer import ROWS_IN_A_BATCH, Scorer, check_answer

# The largest table of all pairs of nodes, in numbers of four bytes.
MOST_PAIRS = 1 << 26


@dataclass(frozen=True, eq=False)
class DistinctPairs:
    """The pairs of some lists, each once.

    Attributes:
        pairs: int64 array (m, 2), the smaller node first, sorted.
        positives: the place of each positive among them, int32 (P,).
        negatives: the places of its negatives, int32 (P, K).
    """

    pairs: NDArray[np.int64]
    positives: NDArray[np.int32]
    negatives: NDArray[np.int32]

    @classmethod
    def of(cls, positives: NDArray[np.int32], negatives: NDArray[np.int32]) -> Self | None:
        """Return the distinct pairs of positives (P, 2) and their negatives (P, K, 2).

        None if negatives are shared, or if most pairs may be distinct.
        """
        if negatives.ndim != 3 or not negatives.size:
            return None
        nodes = 1 + int(max(positives.max(), negatives.max()))
        if nodes**2 > min(MOST_PAIRS, negatives.size // 2):
            return None
        # The table holds which pairs there are, then their places.
        table = np.zeros(nodes**2, dtype=np.int32)
        for rows in row_blocks(negatives.shape):
            table[_keys(negatives[rows], nodes)] = 1
        table[_keys(positives, nodes)] = 1
        found = np.flatnonzero(table)
        table[found] = np.arange(len(found), dtype=np.int32)
        places = np.empty(negatives.shape[:2], dtype=np.int32)
        for rows in row_blocks(negatives.shape):
            places[rows] = table[_keys(negatives[rows], nodes)]
        return cls(np.column_stack([found // nodes, found % nodes]), table[_keys(positives, nodes)], places)

    def scores(self, scorer: Scorer, seed: int = 0, block: int = ROWS_IN_A_BATCH) -> ListedPairScores:
        """Return the scores of all lists; the scorer is asked for each pair once, in a mixed order.

        Args:
            scorer: a scorer of pairs.
            seed: for the order of the questions.
            block: the largest number of pairs in a call.
        """
        order = generator(seed, "questions").permutation(len(self.pairs))
        scores: NDArray[Any] = np.empty(len(order), dtype=np.float64)
        for rows in equal_blocks(order, block):
            scores[rows] = check_answer(scorer.score(self.pairs[rows]), len(rows), scorer)
        return ListedPairScores(scores, self.positives, self.negatives)


def repeats_scores(scorer: object) -> bool:
    """Return whether a scorer says that a pair that is asked again gets the same score (``repeats``)."""
    return getattr(scorer, "repeats", False) is True


def _keys(pairs: NDArray[np.int32], nodes: int) -> NDArray[np.int64]:
    ends = neutral_direction(pairs)
    keys: NDArray[np.int64] = ends[..., 0] * nodes + ends[..., 1]
    return keys
