"""Graph convolutional networks on typed graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.typed.typed_method import HasFixedNegatives

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class TypedGCN(HasFixedNegatives):
    """Averages the states of a node and its neighbours of all types, weighted by their degrees."""

    name: ClassVar[str] = "gcn-hetero"
    title: ClassVar[str] = "GCN on a typed graph"
    citation: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017"
    )

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return a network that ignores types."""
        from trueedge.methods.typed.models.gcn import GCNModel

        del task
        return GCNModel(inputs, self.features, self.dim, self.layers, self.dropout, out)
