"""A*Net: as NBFNet, but only the most promising entities send messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.path_method import HasMessages
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.tasks import TripleTask
    from trueedge.training.paths.model import PathModel


@dataclass(frozen=True)
class AStarNet(HasMessages):
    """States that spread from the head of a query; a learned priority selects who sends in each round."""

    name: ClassVar[str] = "astarnet"
    title: ClassVar[str] = "A* Network"
    citation: ClassVar[str] = (
        "Zhu et al., A*Net: A Scalable Path-based Reasoning Approach for Knowledge Graphs, 2023"
    )
    defaults: ClassVar[dict[str, Any]] = {"node_share": 0.1, "test_node_share": 0.1, "aggregation": "sum"}

    node_share: float = open_setting(
        float, "share of the entities that send in a round of training", low=1e-6, high=1.0
    )
    test_node_share: float = open_setting(
        float, "share of the entities that send in a round after training", low=1e-6, high=1.0
    )
    edge_share: float = setting(
        1.0, "edges of a round, as a share of what as many entities have on average", low=1e-6, high=1e6
    )

    def build(self, task: TripleTask) -> PathModel:
        """Return a network that prunes by priority."""
        from trueedge.methods.paths.models.searching import SearchingNetwork

        shape = self.shape(task)
        return SearchingNetwork(shape, self.node_share, self.test_node_share, self.edge_share, self.window)

    @property
    def window(self) -> int | None:
        """How much longer than a shortest path a path may be; None: any length."""
        return None
