"""Baselines for knowledge graphs: scores that count training triples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.methods.method import Method, on_triples
from trueedge.tasks import Task


@dataclass(frozen=True)
class Baseline(Method):
    """A method that counts training triples and ignores the entity of the query."""

    family: ClassVar[str] = "counting"
    takes: ClassVar[tuple[str, ...]] = ("triples",)
    uses_device: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> CountScorer:
        """Return a scorer that counts the training triples of each entity."""
        del seed, device
        return CountScorer(self, on_triples(task, self.name).graph)

    @abstractmethod
    def counts(self, graph: KnowledgeGraph, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the score of every entity for each query, (b, entities)."""


class CountScorer:
    """Scores entities by counts."""

    expects_ties = True

    def __init__(self, method: Baseline, graph: KnowledgeGraph) -> None:
        self.method, self.graph, self.name = method, graph, method.name

    def score_tails(self, heads: NDArray[np.int64], relations: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of every entity as the tail, (b, entities)."""
        del heads
        return self.method.counts(self.graph, relations).astype(np.float64)

    def with_graph(self, graph: KnowledgeGraph) -> CountScorer:
        """Return the scorer that counts another graph's triples."""
        return CountScorer(self.method, graph)
