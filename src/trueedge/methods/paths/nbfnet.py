"""NBFNet on knowledge graphs: all paths from the head of a query, by a learned Bellman-Ford iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.paths.path_method import HasMessages

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class KnowledgeNBFNet(HasMessages):
    """States that spread from the head of a query to all entities; all edges pass a message every round."""

    name: ClassVar[str] = "nbfnet-kg"
    title: ClassVar[str] = "Neural Bellman-Ford Network, for knowledge graphs"
    citation: ClassVar[str] = (
        "Zhu et al., Neural Bellman-Ford Networks: A General Graph Neural Network Framework for Link"
        " Prediction, 2021"
    )

    @property
    def published_as(self) -> str:
        """The name under which settings are looked up."""
        return "nbfnet"

    def build(self, task: TripleTask) -> PathModel:
        """Return a network in which all edges pass messages."""
        from trueedge.methods.paths.models.network import FullNetwork

        return FullNetwork(self.shape(task))
