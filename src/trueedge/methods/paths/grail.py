"""GraIL: the subgraph between head and tail, read by a graph neural network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.path_method import PathMethod

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class GraIL(PathMethod):
    """A triple scores by the subgraph of entities that are near to both of its ends.

    Each answer has a subgraph of its own, so ranking all entities takes far longer than with other
    path-based methods. Distances are those of the whole graph, also along paths through the other end.
    """

    name: ClassVar[str] = "grail"
    title: ClassVar[str] = "Graph Inductive Learning"
    citation: ClassVar[str] = (
        "Teru, Denis and Hamilton, Inductive Relation Prediction by Subgraph Reasoning, 2020"
    )
    defaults: ClassVar[dict[str, Any]] = {
        "batch_size": 16,
        "negatives": 4,
        "epochs": 10,
        "learning_rate": 0.001,
        "weight_decay": 5e-4,
    }

    layers: int = setting(3, "rounds of message passing", low=1, high=64)
    hops: int = setting(2, "largest distance of an entity from either end", low=1, high=16)
    bases: int = setting(4, "number of matrices that the relations share", low=1, high=256)
    attention_dim: int = setting(8, "size of the attention's hidden layer", low=1, high=1024)

    def build(self, task: TripleTask) -> PathModel:
        """Return a network on subgraphs."""
        from trueedge.methods.paths.models.subgraphs import SubgraphNetwork

        return SubgraphNetwork(
            2 * task.num_relations,
            self.dim,
            self.layers,
            self.hops,
            self.bases,
            self.attention_dim,
            self.dropout,
        )
