"""Random: what a list is worth that knows nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.method import Method, on_interactions
from trueedge.randomness import generator

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Random(Method):
    """Score items at random, for each user differently."""

    name: ClassVar[str] = "random"
    title: ClassVar[str] = "random items, which is what chance gives"
    family: ClassVar[str] = "counting"
    citation: ClassVar[str] = (
        "Cremonesi, Koren and Turrin, Performance of Recommender Algorithms on Top-N Recommendation Tasks,"
        " 2010"
    )
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    uses_device: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> RandomScorer:
        """Learn nothing."""
        del device
        return RandomScorer(on_interactions(task, self.name).num_items, seed)


class RandomScorer:
    """Scores items at random; the scores of a user are always the same."""

    name = "random"

    def __init__(self, num_items: int, seed: int) -> None:
        self.num_items, self.seed = num_items, seed

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return random scores of every item, for each user, float32 (n, items)."""
        rows = [generator(self.seed, "items", int(user)).random(self.num_items, np.float32) for user in users]
        return np.stack(rows) if rows else np.empty((0, self.num_items), dtype=np.float32)
