"""Recommendation of items: each user ranks all items except those of the training part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.graph.interactions import Interactions, check_pairs, lists_of
from trueedge.metrics import Evaluation, get
from trueedge.metrics.recommended import RecommendedScores
from trueedge.randomness import derive
from trueedge.scorers.capabilities import Need
from trueedge.scorers.items import as_item_scorer
from trueedge.scorers.scorer import Scorer, scorer_name
from trueedge.tasks.base import PARTS, Task, array_hash, refuse_foreign, withhold
from trueedge.tasks.full_ranking import CandidateLists, Table, ask_for_all, rank_all

SIZES = (20, 10)
SHOWN = ("ndcg", "recall", "hitrate", "coverage", "novelty")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ItemTask(Task):
    """Each user with hidden items ranks every item, except those the user is known to have.

    Attributes:
        graph: the training interactions, with the knowledge graph, if any.
        hidden: the users and items of ``valid`` and ``test``, each int32 (n, 2).
    """

    kind: ClassVar[str] = "items"
    title: ClassVar[str] = "Recommendation of items"
    unit: ClassVar[str] = "user"
    needs: ClassVar[Need] = "candidates"
    data: ClassVar[str] = "interactions"
    test_units: ClassVar[tuple[str, ...]] = ("test_positives",)
    file_holds: ClassVar[str] = "recommended items of users"
    graph_type: ClassVar[type[Interactions]] = Interactions

    graph: Interactions
    hidden: Mapping[str, NDArray[np.int32]]

    @property
    def part_names(self) -> tuple[str, ...]:
        """Return the names of the parts."""
        return tuple(self.hidden)

    @property
    def num_users(self) -> int:
        """Return the number of users."""
        return self.graph.num_users

    @property
    def num_items(self) -> int:
        """Return the number of items."""
        return self.graph.num_items

    @property
    def item_counts(self) -> NDArray[np.int64]:
        """Return the number of users of each item in training, int64 (items,)."""
        return self.graph.item_counts

    def questions(self, part: str = "test") -> NDArray[np.int32]:
        """Return the users with hidden items in a part, int32 (q,), ascending."""
        self.check_part(part)
        return np.unique(self.hidden[part][:, 0])

    def known(self, part: str) -> CandidateLists:
        """Return the items of each user that are never recommended; for ``test`` also those of ``valid``."""
        pairs = [self.graph.pairs]
        if part == "test" and "valid" in self.hidden:
            pairs.append(self.hidden["valid"])
        return CandidateLists(*lists_of(np.concatenate(pairs), self.num_users))

    def relevant(self, part: str) -> CandidateLists:
        """Return the hidden items of each user in a part."""
        self.check_part(part)
        return CandidateLists(*lists_of(self.hidden[part], self.num_users))

    def scores(self, scorer: object, part: str = "test", top: int | None = None) -> RecommendedScores:
        """Return the ranks of the hidden items of each user, and the first ``top`` items.

        Users are asked in blocks, so memory does not grow with their number.
        """
        self.check_part(part)
        bound = self.bind(scorer, part)
        return self._ranked(
            part,
            lambda users: ask_for_all(bound, users, self.num_items, ("users", "items")),
            self._most(self.metrics, top),
            scorer_name(bound),
        )

    def scores_of(self, part: str, answers: NDArray[Any]) -> RecommendedScores:
        """Rank the hidden items of each user by the scores of all items, array (q, items)."""
        users = self.questions(part)
        if answers.shape != (len(users), self.num_items):
            raise InputError(
                f"scores of {len(users)} users and {self.num_items} items have the shape"
                f" {(len(users), self.num_items)}, got {answers.shape}"
            )
        most = self._most(self.metrics)
        return self._ranked(part, lambda asked: answers[np.searchsorted(users, asked)], most)

    def evaluate(
        self, scorer: object, part: str = "test", metrics: Sequence[str] | None = None
    ) -> Evaluation:
        """Evaluate a scorer on a part, in blocks of users; see :meth:`Task.evaluate`."""
        wanted = self.metrics if metrics is None else (metrics,) if isinstance(metrics, str) else metrics
        names = [self._possible(name) for name in wanted]
        return self.evaluate_scores(self.scores(scorer, part, self._most(names)), part, names, scorer)

    def _ranked(self, part: str, table: Table, top: int, name: str = "the array") -> RecommendedScores:
        users = self.questions(part)
        known, relevant = self.known(part).of(users), self.relevant(part).of(users)
        key = derive(self.seed, "ties")
        found = rank_all(table, users, self.num_items, known, relevant, top, key, name)
        ranks = {field.name: getattr(found.ranks, field.name) for field in fields(found.ranks)}
        return RecommendedScores(
            **ranks,
            answers=found.answers,
            top=found.top,
            popularity=self.graph.item_counts,
            queries=self.num_users,
        )

    def _most(self, names: Sequence[str], top: int | None = None) -> int:
        """Return how many of the first items metrics look at."""
        if top is not None:
            return top
        return max((get(name).k or 0 for name in names if "lists" not in get(name).layouts), default=0)

    def _possible(self, name: str) -> str:
        """Return a metric's full name, or raise an InputError if its K exceeds the number of items."""
        metric = get(name)
        if metric.k is not None and metric.k >= self.num_items:
            raise InputError(f"{metric.name}: {self.dataset} has only {self.num_items} items")
        return metric.name

    def bind(self, scorer: object, part: str) -> Scorer:
        """Turn anything that can score items into an object with ``score(users)``."""
        del part
        refuse_foreign(self, scorer)
        return as_item_scorer(scorer, self.num_users, self.num_items, self.graph.users, self.graph.items)

    def remarks(self, scores: Any) -> list[str]:
        """Return warnings about scores that do not tell items apart."""
        if (scores.tied == np.repeat(scores.sizes.candidates, scores.sizes.relevant)).all():
            return ["all items of each user have the same score: the scores separate nothing"]
        tied = float(np.mean(scores.tied > 1))
        if tied > 0.01:
            return [f"{100 * tied:.1f} % of the hidden items tie with another item; ties are averaged"]
        return []

    def truth(self, part: str) -> dict[str, NDArray[Any]]:
        """Return the number of items to rank and the hidden items of each user, and all items' popularity."""
        users = self.questions(part)
        relevant = self.relevant(part).of(users)
        owners = np.repeat(np.arange(len(users)), np.diff(relevant.starts))
        return {
            "candidates": self.num_items - np.diff(self.known(part).of(users).starts),
            "relevant": np.diff(relevant.starts),
            "left_out": np.array([0]),
            "answers": relevant.candidates[np.lexsort((relevant.candidates, owners))],
            "popularity": self.graph.item_counts,
            "queries": np.array([self.num_users]),
        }

    def for_fitting(self) -> Self:
        """Return the task without its test part."""
        hidden = {name: pairs for name, pairs in self.hidden.items() if name != "test"}
        return withhold(replace(self, hidden=hidden, withheld=("test",)), "hidden")

    @property
    def training_hash(self) -> str:
        """Return the hash of the training interactions."""
        return self.graph.hash

    def properties(self) -> dict[str, NDArray[Any]]:
        """Return each user's number of training items, and the mean popularity of the hidden items.

        The popularity of an item is its number of users in the training part; means are rounded.
        """
        users = self.questions("test")
        hidden = self.relevant("test").of(users)
        popular = self.graph.item_counts[hidden.candidates].astype(np.float64)
        means = np.add.reduceat(popular, hidden.starts[:-1]) / np.diff(hidden.starts)
        return {
            "training items of the user": self.graph.user_counts[users],
            "mean popularity of the hidden items": np.rint(means).astype(np.int64),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the users and items of each part."""
        return {f"{name}_positives": pairs for name, pairs in self.hidden.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], **fields: Any) -> Self:
        """Return the task of some :meth:`arrays`, or raise an InputError if they do not fit the data."""
        hidden = {
            name: check_pairs(arrays[f"{name}_positives"], fields["graph"], f"{name}_positives")
            for name in PARTS
            if f"{name}_positives" in arrays
        }
        made = cls(hidden=hidden, **fields)
        for name, pairs in hidden.items():
            keys = pairs[:, 0].astype(np.int64) * made.num_items + pairs[:, 1]
            known = made.known(name)
            others = np.repeat(np.arange(made.num_users), np.diff(known.starts)) * made.num_items
            if len(np.unique(keys)) < len(keys) or np.isin(keys, others + known.candidates).any():
                raise InputError(f"{name}_positives has a pair twice, or one that is known already")
        return made

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the training interactions and of each array."""
        return {"graph": self.graph.hash, **{name: array_hash(one) for name, one in self.arrays().items()}}


def metrics_for(num_items: int) -> tuple[str, ...]:
    """Return the metrics of a task: at 20 and 10, or at 1 if there are too few items."""
    sizes = [k for k in SIZES if k < num_items] or [1]
    return tuple(f"{metric}@{k}" for k in sizes for metric in SHOWN if k == sizes[0] or metric in SHOWN[:2])
