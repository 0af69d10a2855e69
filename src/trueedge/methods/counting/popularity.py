"""Popularity: the same items for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.method import Method, on_interactions

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Popularity(Method):
    """Score an item by the number of its users in training.

    A model that is no better has learned nothing about single users.
    """

    name: ClassVar[str] = "popularity"
    title: ClassVar[str] = "number of users of an item, the same for everybody"
    family: ClassVar[str] = "counting"
    citation: ClassVar[str] = (
        "Cremonesi, Koren and Turrin, Performance of Recommender Algorithms on Top-N Recommendation Tasks,"
        " 2010"
    )
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    uses_device: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> PopularityScorer:
        """Count the users of each item."""
        del seed, device
        return PopularityScorer(on_interactions(task, self.name).graph.item_counts)


class PopularityScorer:
    """Scores items by their number of users."""

    name = "popularity"
    expects_ties = True

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.counts = counts.astype(np.float32)

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the number of users of every item, for each user, float32 (n, items)."""
        return np.tile(self.counts, (len(users), 1))
