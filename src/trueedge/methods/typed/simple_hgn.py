"""Simple-HGN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.typed_method import TypedMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, Task, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs

# Published for all data sets of a kind of task.
NODES: dict[str, Any] = {"heads": 8, "edge_dim": 64, "slope": 0.05, "residual": True, "beta": 0.05}
LINKS: dict[str, Any] = {"heads": 2, "edge_dim": 32, "slope": 0.01, "residual": False, "beta": 0.0}


@dataclass(frozen=True)
class SimpleHGN(TypedMethod):
    """Graph attention with vectors of edge types, residual connections and normalized outputs."""

    name: ClassVar[str] = "simple-hgn"
    title: ClassVar[str] = "Simple-HGN"
    citation: ClassVar[str] = (
        "Lv, Ding, Liu, Chen, Feng, He, Zhou, Jiang, Dong and Tang, Are We Really Making Much Progress?"
        " Revisiting, Benchmarking, and Refining Heterogeneous Graph Neural Networks, 2021"
    )

    heads: int = open_setting(int, "attention heads of a layer", low=1, high=1024, search=(2, 4, 8))
    edge_dim: int = open_setting(int, "size of the vectors of edge types", low=1, high=8192, search=(32, 64))
    slope: float = open_setting(
        float, "slope of LeakyReLU for negative numbers", low=0.0, high=1.0, search=(0.01, 0.05, 0.1)
    )
    residual: bool = open_setting(bool, "add a node's own state in each layer")
    beta: float = open_setting(
        float, "share of the previous layer's attention", low=0.0, high=1.0, search=(0.0, 0.05)
    )
    edge_types: bool = setting(True, "let the type of an edge change its attention")
    normalize: bool = setting(True, "divide the outputs of a node by their norm")
    every_layer: bool = setting(
        True, "score links by the vectors of all layers, not of the last one alone", only="typed-links"
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with its settings filled in for a kind of task."""
        return super().for_task(task).filled_in(NODES if task.kind == "nodes" else LINKS)

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a classifier of nodes, or an encoder for links."""
        from trueedge.methods.typed.models.attention_layer import AttentionShape
        from trueedge.methods.typed.models.simple_hgn import SimpleHGNClassifier, SimpleHGNEncoder

        kinds = 2 * inputs.num_relations + 1 if self.edge_types else 0
        shape = AttentionShape(self.slope, self.dropout, self.dropout, kinds, self.edge_dim)
        given = (inputs, self.features, self.dim, self.heads, self.layers, shape)
        parts = (self.residual, self.beta, self.normalize)
        if task.kind == "nodes":
            return SimpleHGNClassifier(*given, *parts, out)
        return SimpleHGNEncoder(*given, *parts, self.every_layer)
