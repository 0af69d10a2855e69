"""What every classifier shares: where its examples come from, and how it scores pairs afterwards."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph, as_pairs
from trueedge.methods.classifiers.examples import SAMPLERS, Examples, Features, folds
from trueedge.methods.method import Method, setting

if TYPE_CHECKING:
    from trueedge.tasks import Task

Decision = Callable[[NDArray[np.float64]], NDArray[np.float64]]
PAPER = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, 2025"


@dataclass(frozen=True)
class Classifier(Method):
    """Numbers of a pair, and a decision learned from edges and drawn pairs of the training graph alone."""

    family: ClassVar[str] = "classifiers"
    citation: ClassVar[str] = PAPER
    features: ClassVar[Features]

    negatives: str = setting(
        "uniform", "how the pairs that edges are learned against are drawn", choices=tuple(SAMPLERS)
    )

    @abstractmethod
    def learn(self, parts: list[Examples], task: Task, seed: int, device: str) -> Decision:
        """Return what makes a score of a pair's numbers.

        Args:
            parts: the edges in folds.
            task: for its name; nothing of it is looked at but the training graph, through the folds.
            seed: for everything random.
            device: where to train.
        """

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> ClassifierScorer:
        """Learn from the training graph."""
        self.check_task(task)
        numbers = type(self).features
        decide = self.learn(folds(task.graph, numbers, self.negatives, seed), task, seed, device)
        return ClassifierScorer(self.name, task.graph, numbers, decide)


@dataclass(frozen=True, eq=False)
class ClassifierScorer:
    """A decision on the numbers of pairs on a graph."""

    name: str
    graph: Graph
    features: Features
    decide: Decision

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,); pairs with the same numbers tie."""
        asked = as_pairs(pairs, self.graph.num_nodes)
        if not len(asked):
            return np.empty(0, dtype=np.float64)
        rows, place = np.unique(self.features(self.graph, asked), axis=0, return_inverse=True)
        return self.decide(rows)[place.reshape(-1)]

    def with_graph(self, graph: Graph) -> ClassifierScorer:
        """Return the same decision on the numbers of another graph."""
        return ClassifierScorer(self.name, graph, self.features, self.decide)
