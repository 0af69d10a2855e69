"""GTN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting
from trueedge.methods.typed.label_selection import SelectsByLabels

if TYPE_CHECKING:
    from torch import nn

    from trueedge.graph.typed import HeteroGraph
    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class GTN(SelectsByLabels):
    """Learns which relations to follow one after the other, and convolves along them.

    The product of the selected relations is applied to the states without being formed. Unlike the published
    code, and like the paper, it keeps the diagonal of the product.
    """

    name: ClassVar[str] = "gtn"
    title: ClassVar[str] = "GTN"
    citation: ClassVar[str] = "Yun, Jeong, Kim, Kang and Kim, Graph Transformer Networks, 2019"
    kinds: ClassVar[tuple[str, ...]] = ("nodes",)
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "weight_decay": 1e-3,
        "layers": 2,
        "epochs": 100,
        "drop_types": "",
    }

    channels: int = setting(2, "soft meta-paths that are learned", low=1, high=64)
    selection_rate: float = setting(
        20.0, "how much faster the selection of relations learns than other weights", low=1e-3, high=1e4
    )
    drop_types: str = open_setting(
        str, "node types, separated by commas, that give their neighbours their mean state and are left out"
    )

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return the model on the graph without the dropped types."""
        from trueedge.methods.typed.models.gtn import GtnModel

        dropped = self.dropped(task.graph, inputs.target)
        return GtnModel(
            inputs,
            self.features,
            self.dim,
            self.layers,
            self.channels,
            dropped,
            self.dropout,
            self.selection_rate,
            out,
        )

    def dropped(self, graph: HeteroGraph, target: int | None) -> tuple[int, ...]:
        """Return the dropped types by number; the target cannot be dropped."""
        names = [name.strip() for name in self.drop_types.split(",") if name.strip()]
        found = tuple(graph.type_number(name) for name in names)
        if target in found:
            raise InputError(
                f"gtn: drop_types holds {graph.node_types[found[0]]!r}, the type that is classified"
            )
        return found
