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
    """A GCN whose states' dot products rebuild the whole adjacency; its memory stays linear in the graph.

    All pairs are in every step, so there are no batches, and the dot product is the predictor.
    """

    name: ClassVar[str] = "gae"
    family: ClassVar[str] = "gnn"
    title: ClassVar[str] = "Graph Auto-Encoder"
    citation: ClassVar[str] = "Kipf and Welling, Variational Graph Auto-Encoders, 2016"
    layer_name: ClassVar[str] = "GcnLayer"
    defaults: ClassVar[Mapping[str, Any]] = {"weighted": False}

    weighted: bool = open_setting(bool, "let edges count as much as all other pairs together")

    def objective(self, schedule: Schedule) -> Callable[..., Objective]:
        """Return the reconstruction of the adjacency."""
        from trueedge.training import ReconstructionObjective

        del schedule
        return partial(ReconstructionObjective, weighted=self.weighted)
