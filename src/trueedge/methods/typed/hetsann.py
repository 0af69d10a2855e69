"""HetSANN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
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

    As published, the features of a node are divided by their sum. The published score on DBLP comes from code
    that leaves venues out of the graph. That code also has no linear layer before the first attention layer
    (``direct``), shares matrices between relations of the same types (``matrices=types``), drops logits and
    messages (``inner_dropout``), adds a loss that makes matrices invertible (``cycle_loss=0.001``), and
    divides features by their signed sum (``row_sums=signed``). Each head there drops other features
    (``head_dropout``), and attention gets no gradient (``attention_gradient=false``): TensorFlow has none for
    joined sparse tensors, in which that code keeps the logits. Its output layer starts with weights that are
    more than twice as large (``start=glorot``); with the large features of DBLP's terms, those of PyTorch
    hardly learn.
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

    direct: bool = setting(False, "the first layer reads the features, without a linear layer before it")
    matrices: str = setting(
        "relation",
        "what has a matrix of its own: each relation, or each pair of node types",
        choices=("relation", "types"),
    )
    inner_dropout: bool = setting(False, "also drop the logits of edges, and what nodes send")
    cycle_loss: float = setting(
        0.0,
        "weight of a loss that makes the way to another type and back like staying; needs matrices=types",
        low=0.0,
        high=1e6,
        only="nodes",
    )

    row_sums: str = setting(
        "absolute",
        "what the features of a node are divided by: the sum of their absolute values, or their signed sum,"
        " as in the published code",
        choices=("absolute", "signed"),
    )

    head_dropout: bool = setting(
        False, "each head of a direct first layer drops its own features, instead of all heads the same"
    )
    attention_gradient: bool = setting(
        True, "gradients pass through the attention weights; in the published code they do not"
    )
    start: str = setting(
        "torch",
        "first weights of the output layer: PyTorch's, or Glorot's without a bias, as in the published code",
        choices=("torch", "glorot"),
    )

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a stack of type-aware attention layers."""
        from trueedge.methods.typed.models.hetsann import HetSANNModel, HetSANNShape

        del task
        by_types = self.matrices == "types"
        if self.cycle_loss and not by_types:
            raise InputError("hetsann: cycle_loss needs matrices=types")
        if self.direct and self.attention == "concat":
            raise InputError("hetsann: direct needs attention=voices")
        if self.head_dropout and not self.direct:
            raise InputError("hetsann: head_dropout needs direct=true")
        shape = HetSANNShape(
            self.dim,
            self.heads,
            self.attention,
            self.dropout,
            self.direct,
            by_types,
            self.inner_dropout,
            self.cycle_loss,
            self.row_sums,
            self.head_dropout,
            self.attention_gradient,
            self.start == "glorot",
        )
        return HetSANNModel(inputs, self.features, out, self.layers, shape)
