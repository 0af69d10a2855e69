"""HAN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.typed.metapath_method import MetaPathMethod

if TYPE_CHECKING:
    from torch import nn

    from trueedge.tasks import NodeTask, TypedLinkTask
    from trueedge.training.typed.inputs import TypedInputs


@dataclass(frozen=True)
class HAN(MetaPathMethod):
    """Graph attention over the neighbours along each meta-path, then attention over the meta-paths.

    Only nodes of the target type have states, so that features of other types are not used.
    """

    name: ClassVar[str] = "han"
    title: ClassVar[str] = "HAN"
    citation: ClassVar[str] = "Wang et al., Heterogeneous Graph Attention Network, 2019"
    kinds: ClassVar[tuple[str, ...]] = ("nodes",)
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "weight_decay": 1e-3,
        "dropout": 0.6,
        "dim": 8,
        "layers": 2,
        "epochs": 200,
        "patience": 100,
        "features": "target",
    }

    heads: int = setting(8, "attention heads; dim is the size of each", low=1, high=64)
    attention_dim: int = setting(128, "hidden size of the attention over meta-paths", low=1, high=8192)

    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return an attention layer for each meta-path and layer but the last, which is linear."""
        from trueedge.graph.metapaths import metapath_neighbors
        from trueedge.methods.typed.models.han import HanModel, neighbor_arcs

        assert inputs.target is not None
        paths = self.paths_of(task.graph, inputs.target)
        graphs = [neighbor_arcs(metapath_neighbors(task.graph, path), inputs.device) for path in paths]
        return HanModel(
            inputs,
            graphs,
            self.features,
            self.dim,
            self.heads,
            self.layers,
            self.attention_dim,
            self.dropout,
            out,
        )
