"""Graph attention networks on typed graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.typed_method import HasFixedNegatives

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, Task, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs

# Published for all data sets of a kind of task.
NODES: dict[str, Any] = {"heads": 8, "slope": 0.05, "attention_dropout": 0.5}
LINKS: dict[str, Any] = {"heads": 4, "slope": 0.2, "attention_dropout": 0.0}


@dataclass(frozen=True)
class TypedGAT(HasFixedNegatives):
    """Averages the states of a node's neighbours of all types with learned weights, in several heads.

    The published scores of links come from code with two layers, one attention vector for both ends of an
    edge (``shared_vector``), mutual edges that count twice (``repeated``), other first weights
    (``start=pyg``) and negatives that are drawn once (``fixed_negatives``).
    """

    name: ClassVar[str] = "gat-hetero"
    title: ClassVar[str] = "GAT on a typed graph"
    citation: ClassVar[str] = "Veličković et al., Graph Attention Networks, 2018"

    heads: int = open_setting(int, "attention heads of a layer", low=1, high=1024, search=(2, 4, 8))
    slope: float = open_setting(
        float, "slope of LeakyReLU for negative numbers", low=0.0, high=1.0, search=(0.01, 0.05, 0.1)
    )
    attention_dropout: float = open_setting(float, "dropout rate of attention", low=0.0, high=0.99)
    residual: bool = setting(False, "add a node's own state in each layer")
    repeated: bool = setting(False, "count an edge twice if its reverse is an edge, as HGB does for links")
    start: str = setting(
        "dgl",
        "initial values of attention weights and input biases: as in DGL, or as in PyTorch Geometric (pyg),"
        " which HGB uses for links",
        choices=("dgl", "pyg"),
    )
    shared_vector: bool = setting(
        False,
        "one attention vector of each head for both ends of an edge, as PyTorch Geometric had it up to"
        " version 1.6",
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with its settings filled in for a kind of task."""
        return super().for_task(task).filled_in(NODES if task.kind == "nodes" else LINKS)

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a network that ignores types."""
        from trueedge.methods.typed.models.attention_layer import AttentionShape
        from trueedge.methods.typed.models.gat import GATModel

        # The published network for links has biases, the one for nodes has none.
        shape = AttentionShape(
            self.slope,
            self.dropout,
            self.attention_dropout,
            bias=task.kind != "nodes",
            shared=self.shared_vector,
        )
        given = (inputs, self.features, self.dim, self.heads, self.layers, shape)
        return GATModel(*given, self.residual, out, self.repeated, self.start == "pyg")
