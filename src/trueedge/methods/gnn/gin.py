"""Graph isomorphism networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class GIN(Network):
    """A perceptron on the sum of a node's and its neighbours' states."""

    name: ClassVar[str] = "gin"
    title: ClassVar[str] = "Graph Isomorphism Network"
    citation: ClassVar[str] = "Xu et al., How Powerful are Graph Neural Networks?, 2019"
    layer_name: ClassVar[str] = "GinLayer"
