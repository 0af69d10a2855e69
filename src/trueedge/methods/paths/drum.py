"""DRUM: rules as weights of relations in each step, learned from the query alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.path_method import PathMethod

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class DRUM(PathMethod):
    """A few rules for each relation: an entity scores by the weighted number of walks that follow them."""

    name: ClassVar[str] = "drum"
    title: ClassVar[str] = "Differentiable Rule Mining"
    citation: ClassVar[str] = (
        "Sadeghian et al., DRUM: End-To-End Differentiable Rule Mining On Knowledge Graphs, 2019"
    )
    defaults: ClassVar[dict[str, Any]] = {"learning_rate": 0.001, "epochs": 10}

    dim: int = setting(128, "size of the hidden states", low=2, high=8192)
    layers: int = setting(3, "steps of a rule", low=1, high=64)
    rank: int = setting(3, "number of rules that are added", low=1, high=256, search=(1, 2, 3, 4))

    def build(self, task: TripleTask) -> PathModel:
        """Return a network that weighs relations."""
        from trueedge.methods.paths.models.rules import DrumNetwork

        return DrumNetwork(2 * task.num_relations, self.dim, self.layers, self.rank)
