"""A knowledge graph as the checks see it: its triples, how its relations overlap, its queries."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.audit.subject import Subject
from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.triples import contained, inverse, sorted_unique
from trueedge.metrics import Evaluation, get
from trueedge.randomness import generator
from trueedge.tasks import Task, TripleTask

METRICS = ("mrr", "adjusted-mrr", "hits@1", "hits@10")
# Scores of all entities for all queries that one baseline may take: a quarter of a minute.
MOST_SCORES = 4_000_000_000
LONGEST_NAME = 28


class TripleSubject(Subject):
    """A task of triples as the checks see it; for its arguments see :class:`Subject`."""

    task: TripleTask

    def __init__(self, task: Task, seed: int = 0, sample: int = 100_000) -> None:
        super().__init__(task, seed, sample)
        self._evaluations: dict[str, Evaluation] = {}

    @property
    def facts(self) -> KnowledgeGraph:
        """Return the graph that a model sees when it answers test queries."""
        return self.task.graph_for("test")

    @property
    def in_facts(self) -> str:
        """Return where a model finds what it knows about test queries, in words."""
        return "in training" if self.task.test_graph is None else "in the facts of the test graph"

    @property
    def fact(self) -> str:
        """Return what a triple of :attr:`facts` is called."""
        return "training triple" if self.task.test_graph is None else "fact of the test graph"

    @property
    def test(self) -> NDArray[np.int32]:
        """Return the test triples, int32 (n, 3)."""
        return self.task.parts["test"]

    @cached_property
    def whole(self) -> NDArray[np.int32]:
        """Return the triples of all parts on the training graph's entities, sorted, each once, int32 (m, 3).

        What a relation is like is seen in all its triples: a tenth of them may be in the test part.
        """
        inductive = self.task.test_graph is not None
        parts = [part for name, part in self.task.parts.items() if name != "test" or not inductive]
        return sorted_unique(np.concatenate([self.task.graph.triples, *parts]))

    @cached_property
    def overlaps(self) -> NDArray[np.int64]:
        """Return how many pairs of entities two relations share in all parts, int64 (2R, 2R).

        Inverse relations follow: [r, s + R] counts the triples (h, r, t) with (t, s, h).
        """
        return relation_overlaps(self.whole, self.task.num_relations)

    def reversed_in_facts(self, relations: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return for which test triples (h, r, t) there is a fact (t, s, h), bool (n,).

        Args:
            relations: the relation s of each; with s + R, the fact is (h, s, t).
        """
        head, _, tail = self.test.astype(np.int64).T
        return self.facts.tails.contains(np.column_stack([tail, relations]), head)

    def evaluate(self, name: str, scorer: object) -> Evaluation:
        """Evaluate a scorer on test queries, on a sample of them if there are many; once for each name."""
        if name not in self._evaluations:
            scores = self._sampled.scores(scorer)
            fitting = [one for one in METRICS if get(one).fits(scores)]
            self._evaluations[name] = self._sampled.evaluate_scores(scores, "test", fitting, scorer)
        return self._evaluations[name]

    @cached_property
    def _sampled(self) -> TripleTask:
        """Return the task with a sample of its test triples; the others are still left out as known."""
        most = min(self.sample, max(1, MOST_SCORES // (2 * self.facts.num_entities)))
        if len(self.test) <= most:
            return self.task
        chosen = np.zeros(len(self.test), dtype=np.bool_)
        rng = generator(self.seed, "audit", "test triples")
        chosen[rng.choice(len(self.test), size=most, replace=False)] = True
        known = np.concatenate([self.task.known, self.test[~chosen]])
        return replace(self.task, parts={**self.task.parts, "test": self.test[chosen]}, known=known)

    def negatives(self) -> NDArray[np.int64]:
        """Return the number of other candidates of each query that :meth:`evaluate` asks, int64 (q,)."""
        return np.asarray(self._sampled.truth("test")["negatives"])

    def sizes(self) -> dict[str, int]:
        """Return how many entities, relations and triples there are."""
        task = self.task
        found = {
            "entities": task.num_entities,
            "relations": task.num_relations,
            "training triples": task.graph.num_triples,
        }
        if task.test_graph is not None:
            found["entities of the test graph"] = task.test_graph.num_entities
            found["facts of the test graph"] = task.test_graph.num_triples
        return found | {f"{part} triples": len(task.parts[part]) for part in task.part_names}

    def sampling(self) -> list[str]:
        """Return what was examined in part, a sentence each."""
        if self._sampled is self.task:
            return []
        return [f"scorers were evaluated on {len(self._sampled.parts['test']):,} of {self.looked()}"]

    def looked(self) -> str:
        """Return how many test triples there are, in words."""
        return f"{len(self.test):,} test triples"

    def relation(self, number: int) -> str:
        """Return the name of a relation, shortened for a picture."""
        name = self.task.graph.relations[number]
        return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def relation_overlaps(triples: NDArray[np.int32], num_relations: int) -> NDArray[np.int64]:
    """Return how many pairs (head, tail) any two of 2R relations have in common, int64 (2R, 2R)."""
    from scipy.sparse import csr_array

    both = np.concatenate([triples, inverse(triples, num_relations)])
    _, pair = np.unique(both[:, [0, 2]], axis=0, return_inverse=True)
    ones = np.ones(len(both), dtype=np.int64)
    shape = (int(pair.max(initial=-1)) + 1, 2 * num_relations)
    table = csr_array((ones, (pair.reshape(-1), both[:, 1])), shape=shape)
    return np.asarray((table.T @ table).toarray(), dtype=np.int64)


def among(triples: NDArray[np.int32], others: NDArray[np.int32]) -> int:
    """Return how many of some triples are among others."""
    return int(contained(triples, others).sum()) if len(triples) and len(others) else 0
