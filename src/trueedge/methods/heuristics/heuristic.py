"""The base class of heuristics: scores computed from the graph, without training."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueedge.graph import Graph, as_pairs
from trueedge.methods.heuristics.known_scores import KnownScores
from trueedge.methods.method import Method, on_graph

if TYPE_CHECKING:
    from trueedge.tasks import Task


@dataclass(frozen=True)
class Heuristic(Method):
    """A method whose score is a formula over the graph."""

    family: ClassVar[str] = "heuristics"
    uses_device: ClassVar[bool] = False

    @abstractmethod
    def compute(self, graph: Graph, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,); pairs are checked int64 (n, 2)."""

    def score(self, graph: Graph, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the score of each pair, an int array (n, 2), on a graph without a task: float64 (n,)."""
        self.check_features(graph)
        return self.compute(graph, as_pairs(pairs, graph.num_nodes))

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> HeuristicScorer:
        """Return a scorer on the task's training graph; seed and device have no effect."""
        del seed, device
        graph = on_graph(task, self.name, "for a graph alone there is score(graph, pairs)").graph
        self.check_features(graph)
        return HeuristicScorer(self, graph)


@dataclass(frozen=True, eq=False)
class HeuristicScorer:
    """A heuristic on a graph."""

    # Many pairs get the same score, for example 0 if they have no common neighbour.
    expects_ties: ClassVar[bool] = True

    heuristic: Heuristic
    graph: Graph
    known: KnownScores = field(default_factory=KnownScores, repr=False)

    @property
    def name(self) -> str:
        """The heuristic's name."""
        return self.heuristic.name

    def score(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each pair, float64 (n,)."""
        pairs = as_pairs(pairs, self.graph.num_nodes)
        return self.known.score(partial(self.heuristic.score, self.graph), pairs, self.graph.num_nodes)

    def with_graph(self, graph: Graph) -> HeuristicScorer:
        """Return the same heuristic on another graph."""
        return HeuristicScorer(self.heuristic, graph)


def without_rounding_errors(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to 40 significant bits (twelve digits), so that equal scores tie.

    Equal scores whose sums were taken in different orders differ in their last bits, and would not tie. This
    matters: on the released HeaRT negatives of Citeseer the MRR of Katz is 11.19, as published, with ties
    kept, 11.20 without, and 11.27 from a dense inverse. Scores must be accurate to more than 40 bits.
    """
    fraction, exponent = np.frexp(scores)
    rounded: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(fraction, 40)), exponent - 40)
    return rounded
