"""Graph attention networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class GAT(Network):
    """Averages the states of a node and its neighbours with learned weights, in one head."""

    name: ClassVar[str] = "gat"
    title: ClassVar[str] = "Graph Attention Network"
    citation: ClassVar[str] = "Veličković et al., Graph Attention Networks, 2018"
    layer_name: ClassVar[str] = "GatLayer"
