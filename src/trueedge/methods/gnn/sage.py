"""GraphSAGE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class SAGE(Network):
    """Adds linear maps of a node's own state and of the mean state of its neighbours."""

    name: ClassVar[str] = "sage"
    title: ClassVar[str] = "GraphSAGE"
    citation: ClassVar[str] = (
        "Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017"
    )
    layer_name: ClassVar[str] = "SageLayer"
