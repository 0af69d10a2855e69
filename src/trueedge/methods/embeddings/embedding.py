"""The base class of embeddings: a vector per node, scored by the dot product."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph import Graph
from trueedge.methods.method import Method, on_graph, setting
from trueedge.scorers.learned import learned
from trueedge.scorers.scorer import EmbeddingScorer

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Embedding(Method):
    """A method that computes a vector per node from the graph; a pair scores by the dot product."""

    family: ClassVar[str] = "embeddings"
    uses_device: ClassVar[bool] = False

    dim: int = setting(
        128, "dimension of the vectors; small graphs get fewer", low=1, high=8192, search=(64, 128, 256)
    )

    @abstractmethod
    def vectors(self, graph: Graph, seed: int = 0) -> NDArray[np.floating[Any]]:
        """Return a vector for each node of a graph, float (n, d) with d at most ``dim``."""

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> VectorScorer:
        """Compute the vectors of the task's training graph; the device has no effect."""
        del device
        graph = on_graph(task, self.name, "for a graph alone there is vectors(graph, seed)").graph
        found = learned(lambda: {"vectors": self.vectors(graph, seed)}, vectors=(graph.num_nodes, None))
        return VectorScorer(self.name, found["vectors"])


@dataclass(frozen=True, eq=False)
class VectorScorer:
    """Scores a pair by the dot product of its vectors, float (n, d); ``name`` is the method's."""

    name: str
    vectors: NDArray[np.floating[Any]]

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the dot product of each pair, float64 (n,)."""
        return EmbeddingScorer(self.vectors).score(pairs)
