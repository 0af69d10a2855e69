"""TAGNet and A*Net together: an edge passes a message if both keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.method import setting
from trueedge.methods.paths.astarnet import AStarNet


@dataclass(frozen=True)
class TAGNetAStarNet(AStarNet):
    """A*Net whose edges must also lie in TAGNet's window of distances (equation D.13)."""

    name: ClassVar[str] = "tagnet+astarnet"
    title: ClassVar[str] = "Truncated Propagation and A* Network"
    citation: ClassVar[str] = (
        "Shomer et al., Distance-Based Propagation for Efficient Knowledge Graph Reasoning, 2023"
    )

    delta: int = setting(
        2, "how much longer than a shortest path a path may be", low=0, high=64, search=(1, 2, 3)
    )

    @property
    def window(self) -> int | None:
        """How much longer than a shortest path a path may be."""
        return self.delta
