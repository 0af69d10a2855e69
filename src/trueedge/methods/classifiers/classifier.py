"""The base class of classifiers: training on edges and sampled pairs, and the scorer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph, as_pairs
from trueedge.methods.classifiers.examples import SAMPLERS, Examples, Features, folds
from trueedge.methods.method import Method, on_graph, setting

if TYPE_CHECKING:
    from trueedge.tasks import Task

Decision = Callable[[NDArray[np.float64]], NDArray[np.float64]]
PAPER = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, 2025"


@dataclass(frozen=True)
class Classifier(Method):
    """A classifier of pairs by a few features, trained on edges and sampled pairs of the training graph."""

    family: ClassVar[str] = "classifiers"
    citation: ClassVar[str] = PAPER
    features: ClassVar[Features]

    negatives: str = setting("uniform", "how training negatives are sampled", choices=tuple(SAMPLERS))

    @abstractmethod
    def learn(
        self, parts: Callable[[], list[Examples]], size: int, task: Task, seed: int, device: str
    ) -> Decision:
        """Learn from the edges in folds, and return a function from features (n, d) to scores (n,).

        ``size`` is the number of features. Of the task only the name is used. The folds are made when they
        are asked for: a saved classifier needs none.
        """

    def numbers(self) -> Features:
        """Return the features of pairs."""
        return type(self).features

    def examples(self, graph: Graph, numbers: Features, seed: int) -> Callable[[], list[Examples]]:
        """Return a function that makes the training examples."""
        return partial(folds, graph, numbers, self.negatives, seed)

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> ClassifierScorer:
        """Train on the task's training graph."""
        graph, numbers = on_graph(task, self.name).graph, self.numbers()
        parts = self.examples(graph, numbers, seed)
        size = numbers(graph, np.empty((0, 2), dtype=np.int64)).shape[1]
        decide = self.learn(parts, size, task, seed, device)
        return ClassifierScorer(self.name, graph, numbers, decide)


@dataclass(frozen=True, eq=False)
class ClassifierScorer:
    """A trained classifier on a graph."""

    name: str
    graph: Graph
    features: Features
    decide: Decision

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,); pairs with the same features tie."""
        asked = as_pairs(pairs, self.graph.num_nodes)
        if not len(asked):
            return np.empty(0, dtype=np.float64)
        rows, place = np.unique(self.features(self.graph, asked), axis=0, return_inverse=True)
        return self.decide(rows)[place.reshape(-1)]

    def with_graph(self, graph: Graph) -> ClassifierScorer:
        """Return the same classifier on the features of another graph."""
        return ClassifierScorer(self.name, graph, self.features, self.decide)
