"""Graph convolutional networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class GCN(Network):
    """Averages the states of a node and its neighbours, weighted by the roots of both degrees."""

    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "Graph Convolutional Network"
    citation: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017"
    )
    layer_name: ClassVar[str] = "GcnLayer"
