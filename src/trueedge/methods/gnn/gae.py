"""The graph auto-encoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.gnn.network import Network
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.training import Objective


@dataclass(frozen=True)
class GAE(Network):
    """A GCN whose states' dot products rebuild the whole adjacency; its memory stays linear in the graph."""

    name: ClassVar[str] = "gae"
    title: ClassVar[str] = "Graph Auto-Encoder"
    citation: ClassVar[str] = "Kipf and Welling, Variational Graph Auto-Encoders, 2016"

    # All pairs are in every step, and the dot product is what is trained.
    without: ClassVar[frozenset[str]] = frozenset(
        {
            "batch_size",
            "bfloat16",
            "compiled",
            "hide_positives",
            "negatives",
            "neighbors",
            "predictor",
            "predictor_layers",
            "reject_edges",
        }
    )

    weighted: bool | None = open_setting(bool, "let edges count as much as all other pairs together")

    def layer(self, size: int, out: int) -> Any:
        """One round of messages."""
        from trueedge.training.convolutions import GcnLayer

        return GcnLayer(size, out)

    def make_predictor(self, dim: int) -> Any:
        """The dot product: it is what is trained."""
        from trueedge.training import DotPredictor

        del dim
        return DotPredictor()

    def objective(self) -> Callable[..., Objective]:
        """Every pair of nodes."""
        from trueedge.training import ReconstructionObjective

        return partial(ReconstructionObjective, weighted=bool(self.weighted))
