"""Recommendation as the checks see it: interactions of each part, their times, scorers to compare with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.check import STANDARD_ERRORS, smallest
from trueedge.audit.items_scorers import CosineScorer, ItemIdScorer, NearestIdScorer
from trueedge.audit.subject import Subject
from trueedge.audit.typed_subject import PART_WORDS
from trueedge.graph.interactions import Interactions
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.methods.counting.popularity import PopularityScorer
from trueedge.metrics import Evaluation, get, measure
from trueedge.metrics.lists import ListSizes
from trueedge.randomness import generator
from trueedge.tasks import ItemTask, Task
from trueedge.tasks.items import metrics_for

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Scores of all items for all users that one scorer may take: about five seconds.
MOST_SCORES = 100_000_000
# The share of training interactions that stand for a random test part, if its times are unknown.
STAND_INS = 0.2
# Three standard errors and a bit: random scores exceed it once in a thousand.
ERRORS = STANDARD_ERRORS
# The NDCG of users has a standard deviation of at most 0.5: from so many users on, chance stays below 0.5.
FEWEST_USERS = smallest(lambda users: ERRORS * 0.5 / math.sqrt(users), 0.5)


@dataclass(frozen=True, eq=False)
class Timed:
    """Interactions with their times.

    Attributes:
        train: int32 (m, 2), the training interactions.
        train_times: float64 (m,).
        test: int32 (n, 2), the test interactions.
        test_times: float64 (n,).
        held_out: whether these are the test interactions; else they are a random part of the training ones,
            which stands for a random test part.
    """

    train: NDArray[np.int32]
    train_times: NDArray[np.float64]
    test: NDArray[np.int32]
    test_times: NDArray[np.float64]
    held_out: bool


class ItemSubject(Subject):
    """A task of recommendation as the checks see it; for its arguments see :class:`Subject`.

    Args:
        source: the interactions that the parts were taken from: these have the times of the test part.
    """

    task: ItemTask

    def __init__(
        self, task: Task, seed: int = 0, sample: int = 100_000, source: Interactions | None = None
    ) -> None:
        super().__init__(task, seed, sample)
        self.source = source
        self._evaluations: dict[str, Evaluation] = {}

    @property
    def data(self) -> Interactions:
        """Return the training interactions."""
        return self.task.graph

    @property
    def knowledge(self) -> KnowledgeGraph | None:
        """Return what is known about the items."""
        return self.task.graph.knowledge

    @property
    def test(self) -> NDArray[np.int32]:
        """Return the test interactions, int32 (n, 2)."""
        return self.task.hidden["test"]

    @cached_property
    def whole(self) -> NDArray[np.int32]:
        """Return the interactions of all parts, sorted, each once, int32 (m, 2)."""
        pairs = np.concatenate([self.data.pairs, *self.task.hidden.values()])
        keys = np.unique(self.keys(pairs))
        return np.column_stack(np.divmod(keys, self.data.num_items)).astype(np.int32)

    def keys(self, pairs: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Return one int64 for each pair of a user and an item."""
        return np.asarray(pairs[:, 0].astype(np.int64) * self.data.num_items + pairs[:, 1])

    def table(self, pairs: NDArray[np.int32]) -> csr_array:
        """Return interactions as a sparse table, float32 (users, items)."""
        from scipy.sparse import csr_array

        ones = np.ones(len(pairs), dtype=np.float32)
        shape = (self.data.num_users, self.data.num_items)
        return csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=shape)

    @cached_property
    def timed(self) -> Timed | str:
        """Return the interactions with times, or why there are none."""
        data = self.data if self.source is None else self.source
        if data.times is None:
            return "the interactions have no times"
        same = (data.num_users, data.num_items) == (self.data.num_users, self.data.num_items)
        if self.source is not None and same:
            return _with_times(self, data.times, data.pairs)
        if self.data.times is None or self.task.settings.get("split") != "random":
            return "the task does not keep the times of test interactions: audit the data set itself"
        out = generator(self.seed, "audit", "times").random(self.data.num_interactions) < STAND_INS
        pairs, times = self.data.pairs, self.data.times
        return Timed(pairs[~out], times[~out], pairs[out], times[out], False)

    @property
    def metrics(self) -> tuple[str, str]:
        """Return the metrics of scorers: NDCG and recall of the first 20, or of the first if few items."""
        ndcg, recall = metrics_for(self.data.num_items)[:2]
        return ndcg, recall

    def evaluate(self, name: str) -> Evaluation:
        """Evaluate one of :data:`SCORERS` on the test users, on a sample of them if there are many; once."""
        if name not in self._evaluations:
            make, _ = SCORERS[name]
            # That ids and popularity tie is no news, so that nothing warns of it.
            scores = self._sampled.scores(make(self), "test", top=0)
            self._evaluations[name] = measure(scores, self.metrics, self.task.unit)
        return self._evaluations[name]

    @cached_property
    def chance(self) -> dict[str, float]:
        """Return the expected metrics of random scores for the same users."""
        users = self._sampled.questions("test")
        known, relevant = self._sampled.known("test").of(users), self._sampled.relevant("test").of(users)
        sizes = ListSizes(self.data.num_items - np.diff(known.starts), np.diff(relevant.starts))
        return {name: get(name).expectation(sizes) for name in self.metrics}

    def above_chance(self, name: str) -> float:
        """Return how far the NDCG of a scorer is above that of random scores."""
        metric = self.metrics[0]
        return self.evaluate(name)[metric] - self.chance[metric]

    def noise(self, name: str) -> float:
        """Return what a scorer's NDCG reaches by chance."""
        values = self.evaluate(name).units.values[self.metrics[0]]
        return float(ERRORS * values.std() / np.sqrt(len(values)))

    @cached_property
    def rankable(self) -> bool:
        """Return whether a test user has a test item that is not known, so that scorers can be evaluated."""
        return bool(len(self._fresh))

    @cached_property
    def _fresh(self) -> NDArray[np.int32]:
        """Return test interactions that are in no other part, each once: others cannot be ranked."""
        keys = np.unique(self.keys(self.test))
        others = [self.keys(self.data.pairs)]
        others += [self.keys(pairs) for part, pairs in self.task.hidden.items() if part != "test"]
        keys = keys[~np.isin(keys, np.concatenate(others))]
        return np.column_stack(np.divmod(keys, self.data.num_items)).astype(np.int32)

    @cached_property
    def _sampled(self) -> ItemTask:
        users = np.unique(self._fresh[:, 0])
        most = min(self.sample, max(1, MOST_SCORES // self.data.num_items))
        chosen = np.ones(self.data.num_users, dtype=np.bool_)
        if len(users) > most:
            chosen[:] = False
            chosen[generator(self.seed, "audit", "users").choice(users, size=most, replace=False)] = True
        pairs = self._fresh[chosen[self._fresh[:, 0]]]
        return replace(self.task, hidden={**self.task.hidden, "test": pairs})

    def sizes(self) -> dict[str, int]:
        """Return how many users, items, interactions and triples there are."""
        found = {
            "users": self.data.num_users,
            "items": self.data.num_items,
            "training interactions": self.data.num_interactions,
        }
        for part, pairs in self.task.hidden.items():
            found[f"{PART_WORDS[part]} interactions"] = len(pairs)
        if self.knowledge is not None:
            found |= {"entities": self.knowledge.num_entities, "triples": self.knowledge.num_triples}
        return found

    def sampling(self) -> list[str]:
        """Return what was examined in part, a sentence each."""
        some, all_of_them = (len(np.unique(one[:, 0])) for one in (self._sampled.hidden["test"], self._fresh))
        if some == all_of_them:
            return []
        return [f"scorers were evaluated on {some:,} of {all_of_them:,} test users"]

    def looked(self) -> str:
        """Return how many test interactions there are, in words."""
        return f"{len(self.test):,} test interactions"

    def looked_users(self) -> str:
        """Return how many users scorers are evaluated on, in words."""
        return f"{len(self._sampled.questions('test')):,} test users"


#: Scorers to compare with: what makes them, and what they use, in words.
SCORERS: dict[str, tuple[Callable[[ItemSubject], object], str]] = {
    "popularity": (lambda subject: PopularityScorer(subject.data.item_counts), "popularity"),
    "neighbours": (lambda subject: CosineScorer.of(subject.data, subject.seed), "item neighbours"),
    "item-ids": (lambda subject: ItemIdScorer(subject.data.item_counts), "the order of item ids"),
    "nearest-ids": (lambda subject: NearestIdScorer(subject.data), "nearest item ids"),
}


def _with_times(subject: ItemSubject, times: NDArray[np.float64], pairs: NDArray[np.int32]) -> Timed | str:
    """Look up the times of the training and test interactions among all interactions, which are sorted."""
    keys = subject.keys(pairs)
    found = []
    for part in (subject.data.pairs, subject.test):
        wanted = subject.keys(part)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        if (keys[place] != wanted).any():
            return "some interactions of the task have no time"
        found.append(times[place])
    return Timed(subject.data.pairs, found[0], subject.test, found[1], True)
