"""NeuralLP: a rule as weights of relations in each step, with a memory of all steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.path_method import PathMethod

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class NeuralLP(PathMethod):
    """One soft rule for each relation: an entity scores by the weighted number of walks that follow it."""

    name: ClassVar[str] = "neurallp"
    title: ClassVar[str] = "Neural Logic Programming"
    citation: ClassVar[str] = (
        "Yang, Yang and Cohen, Differentiable Learning of Logical Rules for Knowledge Base Reasoning, 2017"
    )
    defaults: ClassVar[dict[str, Any]] = {"learning_rate": 0.001, "epochs": 10}

    dim: int = setting(128, "size of the hidden states", low=2, high=8192)
    layers: int = setting(3, "steps of a rule", low=1, high=64)

    def build(self, task: TripleTask) -> PathModel:
        """Return a network that weighs relations and earlier results."""
        from trueedge.methods.paths.models.rules import NeuralLpNetwork

        return NeuralLpNetwork(2 * task.num_relations, self.dim, self.layers)
