"""Graph isomorphism networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class GIN(Network):
    """Applies an MLP to the sum of the states of a node and its neighbours."""

    name: ClassVar[str] = "gin"
    title: ClassVar[str] = "Graph Isomorphism Network"
    citation: ClassVar[str] = "Xu et al., How Powerful are Graph Neural Networks?, 2019"
    layer_name: ClassVar[str] = "GinLayer"
