"""Target degree: links to popular nodes, whatever the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.methods.method import Method, on_typed

if TYPE_CHECKING:
    from trueedge.graph.typed import HeteroGraph
    from trueedge.tasks import Task


@dataclass(frozen=True)
class TargetDegree(Method):
    """Score a link by the number of training edges of its relation that its target has.

    A model that is no better has learned popularity alone.
    """

    name: ClassVar[str] = "target-degree"
    title: ClassVar[str] = "number of edges of the target, whatever the source"
    family: ClassVar[str] = "counting"
    citation: ClassVar[str] = "Aiyappa et al., Implicit Degree Bias in the Link Prediction Task, 2025"
    takes: ClassVar[tuple[str, ...]] = ("typed",)
    kinds: ClassVar[tuple[str, ...]] = ("typed-links",)
    uses_device: ClassVar[bool] = False

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> DegreeScorer:
        """Count the training edges of each node."""
        del seed, device
        return DegreeScorer(on_typed(task, self.name).graph)


class DegreeScorer:
    """Scores links by the degree of their target."""

    name = "target-degree"
    expects_ties = True

    def __init__(self, graph: HeteroGraph) -> None:
        self.degrees = np.zeros((graph.num_relations, graph.num_nodes))
        for number, (_, source, target) in enumerate(graph.relations):
            ends = graph.edges[number]
            # Between nodes of one type, a link has no direction.
            counted = ends.reshape(-1) if source == target else ends[:, 1]
            self.degrees[number] = np.bincount(counted, minlength=graph.num_nodes)

    def score_links(self, links: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the degree of each target, float64 (n,)."""
        return self.degrees[links[:, 1], links[:, 2]]
