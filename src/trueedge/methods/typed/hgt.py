"""HGT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.typed_method import HasFixedNegatives, HasRedrawnValidation

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class HGT(HasFixedNegatives, HasRedrawnValidation):
    """Attention whose keys, queries and messages have matrices by node type and by relation.

    The published scores come from code with a softmax over the edges of each relation, whose means are
    averaged; the paper has one over all edges. That code has no activation after attention (``gelu``), and
    drops states at the end of a layer instead of messages (``drops``). For links it passes no messages
    backwards along a relation, so that users of LastFM receive nothing from artists; with ``reverse_edges``
    they do. Its dropout is 0.2, and its learning rate rises to 0.001 (0.01 for links) in 5 % of the epochs
    and falls again (``cycle``), while Adam's first beta falls and rises (``cycle_beta``). Its relation
    matrices start smaller (``start=published``). For links it draws the negatives of training once
    (``fixed_negatives``), and those of validation at each check (``redraw_valid``). Here the rate is
    constant, and that for links, 0.005, is our choice.
    """

    name: ClassVar[str] = "hgt"
    title: ClassVar[str] = "HGT"
    citation: ClassVar[str] = "Hu, Dong, Wang and Sun, Heterogeneous Graph Transformer, 2020"

    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.001,
        "dropout": 0.2,
        "reverse_edges": True,
        "softmax": "node",
        "select": "loss",
    }

    select: str = open_setting(str, "what is compared on the validation part: its loss, or a metric")
    heads: int = setting(8, "number of attention heads", low=1, high=256)
    layer_norm: bool = setting(True, "end each layer with a layer norm")
    reverse_edges: bool = open_setting(
        bool, "also pass messages backwards along relations that have no reverse relation"
    )
    softmax: str = open_setting(
        str,
        "attention weights sum to 1 over all edges of a node, or over those of each relation, which are then"
        " averaged",
        choices=("node", "relation"),
    )

    gelu: bool = setting(True, "apply GELU to what a node receives")
    drops: str = setting(
        "messages",
        "what dropout applies to: what a node receives, or its new state, after the layer norm",
        choices=("messages", "states"),
    )
    cycle: float = setting(
        0.0,
        "share of the epochs in which the learning rate rises; it falls in the others. 0: it is constant",
        low=0.0,
        high=0.99,
    )
    cycle_beta: bool = setting(
        False, "in a cycle, Adam's first beta falls from 0.95 to 0.85 while the rate rises, and rises again"
    )

    start: str = setting(
        "ours",
        "initial values of relation matrices and of the input: by the size of each matrix (ours), or as in"
        " the published code, where those of relations are several times smaller",
        choices=("ours", "published"),
    )

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a stack of HGT layers."""
        from trueedge.methods.typed.models.hgt import HGTModel, LayerShape

        del task
        if self.dim % self.heads:
            raise InputError(
                f"hgt: dim must be a multiple of heads; got dim {self.dim} and {self.heads} heads"
            )
        layer = LayerShape(
            self.dim,
            self.heads,
            self.layer_norm,
            self.gelu,
            self.drops,
            self.dropout,
            published=self.start == "published",
        )
        return HGTModel(inputs, self.features, out, self.layers, layer, self.reverse_edges, self.softmax)
