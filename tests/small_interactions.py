"""Small interactions of users with items for tests, and methods to recommend items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import trueedge as te
from trueedge.methods import Method
from trueedge.methods.method import METHODS, on_interactions


def small_interactions(
    seed: int = 0, users: int = 60, items: int = 40, named: bool = False, knowledge: bool = False
) -> te.Interactions:
    """Return users with one of three tastes: four of five items of a user are of the user's taste."""
    rng = np.random.default_rng(seed)
    taste, kind = rng.integers(0, 3, users), np.arange(items) % 3
    # Some items are popular, so that popularity is better than chance.
    weight = 1 / (1 + np.arange(items) // 3)
    pairs = []
    for user in range(users):
        chances = weight * np.where(kind == taste[user], 8.0, 1.0)
        chosen = rng.choice(items, size=12, replace=False, p=chances / chances.sum())
        pairs += [(user, item) for item in chosen]
    graph = None
    if knowledge:
        triples = [(item, 0, items + int(kind[item])) for item in range(items)]
        names = [f"The Book of {item}" for item in range(items)] + ["crime", "poems", "history"]
        graph = te.KnowledgeGraph.from_triples(np.array(triples), entities=names, relations=["is"])
    return te.Interactions.from_pairs(
        np.array(pairs),
        users,
        items,
        users=[f"reader-{user}" for user in range(users)] if named else None,
        items=[f"book-{item}" for item in range(items)] if named else None,
        knowledge=graph,
        name="small-shop",
    )


class NeighbourScorer:
    """Scores items by the cosine of their users with those of the user's own items."""

    name = "neighbours"

    def __init__(self, owned: NDArray[np.float64], likeness: NDArray[np.float64], sign: float = 1.0) -> None:
        self.owned, self.likeness, self.sign = owned, likeness, sign

    def score_candidates(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every item for each user."""
        return np.asarray(self.sign * (self.owned[users] @ self.likeness))


@dataclass(frozen=True)
class Neighbours(Method):
    """Score an item by how similar its users are to those of the user's own items."""

    name: ClassVar[str] = "test-neighbours"
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    power: float = te.methods.setting(0.5, "of the counts", low=0.0, high=1.0, search=(0.25, 0.5))

    def fit(self, task: Any, seed: int = 0, device: str = "cpu") -> NeighbourScorer:
        """Count the common users of each two items."""
        del seed, device
        data = on_interactions(task, self.name).graph
        owned = np.zeros((data.num_users, data.num_items))
        owned[data.pairs[:, 0], data.pairs[:, 1]] = 1.0
        counts = np.maximum(data.item_counts, 1.0) ** self.power
        return NeighbourScorer(owned, owned.T @ owned / counts[:, None] / counts)


@dataclass(frozen=True)
class Unpopular(Method):
    """Score an item by how few users it has: a model that is worse than popularity."""

    name: ClassVar[str] = "test-unpopular"
    takes: ClassVar[tuple[str, ...]] = ("interactions",)

    def fit(self, task: Any, seed: int = 0, device: str = "cpu") -> Any:
        """Count the users of each item."""
        del seed, device
        counts = on_interactions(task, self.name).graph.item_counts
        return lambda users: np.tile(-counts.astype(float), (len(users), 1))


# They are given as objects, so that tests of the whole catalogue do not meet them.
for _own in (Neighbours, Unpopular):
    METHODS._entries.pop(_own.name)
