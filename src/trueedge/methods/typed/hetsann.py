"""HetSANN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.typed_method import TypedMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class HetSANN(TypedMethod):
    """Attention over all neighbours, with a transformation for each relation and head.

    As published, the features of a node are divided by their sum. The paper's further loss terms, for cycles
    and for several tasks at once, are left out. The published score on DBLP comes from code that leaves
    venues out of the graph.
    """

    name: ClassVar[str] = "hetsann"
    title: ClassVar[str] = "HetSANN"
    citation: ClassVar[str] = (
        "Hong, Guo, Lin, Yang, Li and Ye, An Attention-based Graph Neural Network for Heterogeneous"
        " Structural Learning, 2020"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "dropout": 0.6,
        "layers": 2,
        "heads": 4,
    }

    heads: int = open_setting(int, "number of attention heads of each layer but the last", low=1, high=256)
    attention: str = setting(
        "voices",
        "logit of an edge: dot product of its ends, where a relation and its reverse share a vector (voices),"
        " or a vector for each relation times both ends (concat)",
        choices=("voices", "concat"),
    )

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a stack of type-aware attention layers."""
        from trueedge.methods.typed.models.hetsann import HetSANNModel

        del task
        shape = (self.features, self.dim, out, self.layers, self.heads, self.attention)
        return HetSANNModel(inputs, *shape, self.dropout)
