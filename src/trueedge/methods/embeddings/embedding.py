"""What embeddings of the graph share: a vector for each node, and the dot product of two as the score."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.method import Method, setting
from trueedge.scorers.scorer import EmbeddingScorer

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Embedding(Method):
    """A method that makes a vector for each node from the graph alone; pairs score by the dot product."""

    family: ClassVar[str] = "embeddings"

    dim: int = setting(
        128, "numbers in a node's vector; small graphs get fewer", low=1, high=8192, search=(64, 128, 256)
    )

    @abstractmethod
    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.floating[Any]]:
        """Return a vector for each node.

        Args:
            graph: the graph whose structure is read.
            seed: for everything random.

        Returns:
            float array (n, d) with d at most ``dim``.
        """

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> VectorScorer:
        """Return the vectors of the task's training graph; the device changes nothing."""
        del device
        self.check_task(task, "for a graph alone there is vectors(graph, seed)")
        return VectorScorer(self.name, self.vectors(task.graph, seed))


@dataclass(frozen=True, eq=False)
class VectorScorer:
    """The dot product of two nodes' vectors.

    Attributes:
        name: the name of the method that made them.
        vectors: float array (n, d).
    """

    name: str
    vectors: NDArray[np.floating[Any]]

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the dot product of each pair, float64 (n,)."""
        return EmbeddingScorer(self.vectors).score(pairs)
