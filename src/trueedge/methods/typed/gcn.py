"""Graph convolutional networks on typed graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.typed.typed_method import TypedMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class TypedGCN(TypedMethod):
    """Averages the states of a node and its neighbours of all types, weighted by their degrees."""

    name: ClassVar[str] = "gcn-hetero"
    title: ClassVar[str] = "GCN on a typed graph"
    citation: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017"
    )

    fixed_negatives: bool = setting(
        False,
        "draw the negatives of training links once, and take batches in the same order again and again, as"
        " HGB does for links",
    )

    @classmethod
    def unused(cls, kind: str) -> frozenset[str]:
        """Return the settings of links if nodes are classified."""
        return super().unused(kind) | (frozenset(("fixed_negatives",)) if kind == "nodes" else frozenset())

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a network that ignores types."""
        from trueedge.methods.typed.models.gcn import GCNModel

        del task
        return GCNModel(inputs, self.features, self.dim, self.layers, self.dropout, out)
