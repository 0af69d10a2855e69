"""RED-GNN: paths from the head of a query, weighed by attention to the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.paths.path_method import PathMethod
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class REDGNN(PathMethod):
    """States that spread from the head of a query; attention weighs messages, and entities stay reached."""

    name: ClassVar[str] = "red-gnn"
    title: ClassVar[str] = "Relational Directed Graph Network"
    citation: ClassVar[str] = "Zhang and Yao, Knowledge Graph Reasoning with Relational Digraph, 2022"
    defaults: ClassVar[dict[str, Any]] = {
        "activation": "relu",
        "attention_dim": 5,
        "batch_size": 20,
        "decay": 0.994,
        "dropout": 0.3,
        "epochs": 30,
        "learning_rate": 0.005,
        "weight_decay": 1e-4,
    }

    attention_dim: int = open_setting(int, "size of the attention's hidden layer", low=1, high=1024)
    activation: str = open_setting(str, "function after each round", choices=("relu", "tanh", "none"))

    def build(self, task: TripleTask) -> PathModel:
        """Return a network of attention."""
        from trueedge.methods.paths.models.attentive import AttentiveNetwork

        return AttentiveNetwork(
            2 * task.num_relations,
            self.dim,
            self.layers,
            self.attention_dim,
            self.dropout,
            self.kept_entities,
            self.activation,
        )

    @property
    def kept_entities(self) -> int | None:
        """How many new entities are kept after a round; None: all."""
        return None
