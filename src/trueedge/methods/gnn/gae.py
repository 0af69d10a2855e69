"""The graph auto-encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.gnn.network import LayerStack
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.training import Objective, Schedule


@dataclass(frozen=True)
class GAE(LayerStack):
    """A GCN trained so that the dot products of its states reconstruct the adjacency matrix.

    Every step uses all pairs, in memory linear in the graph, so there are no batches.
    """

    name: ClassVar[str] = "gae"
    family: ClassVar[str] = "gnn"
    title: ClassVar[str] = "Graph Auto-Encoder"
    citation: ClassVar[str] = "Kipf and Welling, Variational Graph Auto-Encoders, 2016"
    layer_name: ClassVar[str] = "GcnLayer"
    defaults: ClassVar[Mapping[str, Any]] = {"weighted": False}

    weighted: bool = open_setting(bool, "weight edges as much as all other pairs together")

    def objective(self, schedule: Schedule) -> Callable[..., Objective]:
        """Return the reconstruction of the adjacency."""
        from trueedge.training import ReconstructionObjective

        del schedule
        return partial(ReconstructionObjective, weighted=self.weighted)
