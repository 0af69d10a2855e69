"""Scores of pairs that were asked for before, on graphs with fewer pairs than a task asks for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int64]
Scores = NDArray[np.float64]
# The largest table: 256 MB.
MOST_PAIRS = 1 << 25


class KnownScores:
    """A table of the scores of all pairs of nodes, filled as they are asked for.

    There is none until more pairs were asked for than half of those that exist: a task with a few hundred
    negatives for each edge of a dense graph asks for every pair many times (ogbl-ddi under HeaRT: 15 times).
    """

    def __init__(self) -> None:
        self.asked = 0
        self.table: Scores | None = None

    def score(self, compute: Callable[[Pairs], Scores], pairs: Pairs, nodes: int) -> Scores:
        """Return the score of each pair, float64 (n,).

        Args:
            compute: scores pairs; the score of a pair does not depend on the others.
            pairs: int64 (n, 2).
            nodes: the number of nodes.
        """
        self.asked += len(pairs)
        if nodes**2 > MOST_PAIRS or self.asked <= nodes**2 // 2:
            return compute(pairs)
        if self.table is None:
            self.table = np.full(nodes**2, np.nan)
        places = pairs[:, 0] * nodes + pairs[:, 1]
        new = np.zeros(nodes**2, dtype=bool)
        new[places[np.isnan(self.table[places])]] = True
        found = np.flatnonzero(new)
        if len(found):
            self.table[found] = compute(np.column_stack([found // nodes, found % nodes]))
        scores: Scores = self.table[places]
        return scores
