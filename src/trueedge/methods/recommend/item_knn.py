"""Item-kNN: items that are similar to those a user has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_interactions, setting
from trueedge.randomness import derive

if TYPE_CHECKING:
    from trueedge.kernels.recommend.item_similarity import Lists, SimilarItems
    from trueedge.tasks import Task


@dataclass(frozen=True)
class ItemKNN(Method):
    """Score an item by the sum of its similarities to the user's items that have it as a neighbour.

    Items are similar if they have the same users: by default, the similarity is the cosine of the columns of
    the matrix of interactions. Each item has its most similar ones as neighbours.
    """

    name: ClassVar[str] = "item-knn"
    title: ClassVar[str] = "item-based nearest neighbours"
    family: ClassVar[str] = "recommend"
    citation: ClassVar[str] = "Deshpande and Karypis, Item-Based Top-N Recommendation Algorithms, 2004"
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    uses_device: ClassVar[bool] = False

    neighbors: int = setting(
        100, "number of neighbours of an item", low=1, high=10**6, search=(20, 50, 100, 200)
    )
    shrinkage: float = setting(
        10.0,
        "added to the denominator: lowers the similarity of rare items",
        low=0.0,
        high=10**6,
        search=(0.0, 10.0, 30.0),
    )
    alpha: float = setting(
        0.5,
        "exponent of the number of users of the user's item, 1 - alpha that of the scored item; 0.5: cosine",
        low=0.0,
        high=1.0,
        search=(0.3, 0.5, 0.7),
    )

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> ItemKNNScorer:
        """Find the neighbours of each item."""
        del device
        from trueedge.kernels.recommend.item_similarity import Lists, similar_items

        graph = on_interactions(task, self.name).graph
        starts = np.zeros(graph.num_items + 1, dtype=np.int64)
        np.cumsum(graph.item_counts, out=starts[1:])
        order = np.argsort(graph.pairs[:, 1], kind="stable")
        by_user, by_item = Lists(*graph.by_user), Lists(starts, np.ascontiguousarray(graph.pairs[order, 0]))
        with memory_errors(self, task.dataset):
            key = derive(seed, "item-knn")
            similar = similar_items(by_user, by_item, self.neighbors, self.alpha, self.shrinkage, key)
        return ItemKNNScorer(by_user, similar)


class ItemKNNScorer:
    """Scores items by their similarity to the items of a user."""

    name = "item-knn"
    # Items that are nobody's neighbour have no score.
    expects_ties = True

    def __init__(self, by_user: Lists, similar: SimilarItems) -> None:
        self.by_user, self.similar = by_user, similar

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the score of every item for each user, float32 (n, items)."""
        from trueedge.kernels.recommend.item_similarity import summed_similarities

        return summed_similarities(np.asarray(users, dtype=np.int64), self.by_user, self.similar)
