"""HGT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.typed.typed_method import TypedMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class HGT(TypedMethod):
    """Attention whose keys, queries and messages have matrices by node type and by relation."""

    name: ClassVar[str] = "hgt"
    title: ClassVar[str] = "HGT"
    citation: ClassVar[str] = "Hu, Dong, Wang and Sun, Heterogeneous Graph Transformer, WWW 2020"

    heads: int = setting(8, "number of attention heads", low=1, high=256)
    layer_norm: bool = setting(True, "end each layer with a layer norm")

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a stack of HGT layers."""
        from trueedge.methods.typed.models.hgt import HGTModel

        del task
        if self.dim % self.heads:
            raise InputError(
                f"hgt: dim must be a multiple of heads; got dim {self.dim} and {self.heads} heads"
            )
        shape = (self.features, self.dim, out, self.layers, self.heads, self.layer_norm)
        return HGTModel(inputs, *shape, self.dropout)
