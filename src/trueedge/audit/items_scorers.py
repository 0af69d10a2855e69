"""Scorers that the checks of recommendation compare: neighbours of items, and ids that should say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.interactions import Interactions
from trueedge.randomness import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Neighbours of an item that count; with all of them, popular items drown the others.
NEIGHBOURS = 100
ITEMS_AT_A_TIME = 1_000
# Pairs of items of the same user that are counted: about five seconds.
MOST_PAIRS = 300_000_000


class CosineScorer:
    """Scores an item by its similarity to the items of the user: the cosine of their users.

    Each item has its 100 most similar ones as neighbours (Deshpande and Karypis, Item-Based Top-N
    Recommendation Algorithms, TOIS 2004).
    """

    name = "item neighbours"
    expects_ties = True

    def __init__(self, lists: csr_array, similar: csr_array) -> None:
        self.lists, self.similar = lists, similar

    @classmethod
    def of(cls, data: Interactions, seed: int = 0) -> CosineScorer:
        """Count common users, of a sample of the users if their lists are long."""
        from scipy.sparse import csr_array

        ones = np.ones(data.num_interactions, dtype=np.float32)
        shape = (data.num_users, data.num_items)
        lists = csr_array((ones, (data.pairs[:, 0], data.pairs[:, 1])), shape=shape)
        order = generator(seed, "audit", "neighbours").permutation(data.num_users)
        few = np.cumsum(data.user_counts[order] ** 2) <= MOST_PAIRS
        few[0] = True
        used = lists[np.sort(order[few])]
        unit = used.copy()
        # The counts of items that occur are at least 1.
        unit.data = (1 / np.sqrt(np.bincount(used.indices))[used.indices]).astype(np.float32)
        turned = unit.T.tocsr()
        rows, columns, values = [], [], []
        for first in range(0, data.num_items, ITEMS_AT_A_TIME):
            block = (turned[first : first + ITEMS_AT_A_TIME] @ unit).tocsr()
            for row in range(block.shape[0]):
                begin, end = block.indptr[row], block.indptr[row + 1]
                items, cosines = block.indices[begin:end], block.data[begin:end]
                cosines = np.where(items == first + row, 0.0, cosines)
                if len(items) > NEIGHBOURS:
                    best = np.argpartition(-cosines, NEIGHBOURS)[:NEIGHBOURS]
                    items, cosines = items[best], cosines[best]
                rows.append(np.full(len(items), first + row))
                columns.append(items)
                values.append(cosines)
        where = np.concatenate(rows), np.concatenate(columns)
        size = (data.num_items, data.num_items)
        return cls(lists, csr_array((np.concatenate(values).astype(np.float32), where), shape=size))

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the sum of the similarities to the items of each user, float32 (n, items)."""
        return np.asarray((self.lists[users] @ self.similar).toarray(), dtype=np.float32)


class ItemIdScorer:
    """Scores an item by its id alone: by the smallest or the largest, whichever has more users."""

    name = "the order of item ids"

    def __init__(self, counts: NDArray[np.int64]) -> None:
        ids = np.arange(len(counts), dtype=np.float32)
        self.scores = ids if rank_correlation(ids, counts) > 0 else -ids

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the id of each item, or its negative, for each user, float32 (n, items)."""
        return np.tile(self.scores, (len(users), 1))


class NearestIdScorer:
    """Scores an item by how close its id is to an id among the training items of the user."""

    name = "nearest item ids"
    expects_ties = True

    def __init__(self, data: Interactions) -> None:
        self.starts, self.items = data.by_user
        self.num_items = data.num_items

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the negative distance to the closest id of each user, float32 (n, items)."""
        far = 2 * self.num_items
        below = np.full((len(users), self.num_items), -far, dtype=np.int32)
        above = np.full((len(users), self.num_items), far, dtype=np.int32)
        counts = np.diff(self.starts)[users]
        row = np.repeat(np.arange(len(users)), counts)
        within = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        items = self.items[np.repeat(self.starts[users], counts) + within]
        below[row, items] = above[row, items] = items
        np.maximum.accumulate(below, axis=1, out=below)
        above = np.minimum.accumulate(above[:, ::-1], axis=1)[:, ::-1]
        ids = np.arange(self.num_items, dtype=np.int32)
        return np.asarray(-np.minimum(ids - below, above - ids), dtype=np.float32)


def rank_correlation(first: NDArray[np.generic], second: NDArray[np.generic]) -> float:
    """Return Spearman's rank correlation, 0 if one of both is constant."""
    from scipy.stats import rankdata

    ranks = [rankdata(one) for one in (first, second)]
    if any(np.ptp(one) == 0 for one in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
