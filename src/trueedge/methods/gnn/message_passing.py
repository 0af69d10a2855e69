"""Graph neural networks that pass messages: GAT, GCN, GIN and GraphSAGE."""

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


@dataclass(frozen=True)
class GCN(Network):
    """Averages the states of a node and its neighbours, weighted by the roots of both degrees."""

    name: ClassVar[str] = "gcn"
    title: ClassVar[str] = "Graph Convolutional Network"
    citation: ClassVar[str] = (
        "Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017"
    )
    layer_name: ClassVar[str] = "GcnLayer"


@dataclass(frozen=True)
class GIN(Network):
    """Applies an MLP to the sum of the states of a node and its neighbours."""

    name: ClassVar[str] = "gin"
    title: ClassVar[str] = "Graph Isomorphism Network"
    citation: ClassVar[str] = "Xu et al., How Powerful are Graph Neural Networks?, 2019"
    layer_name: ClassVar[str] = "GinLayer"


@dataclass(frozen=True)
class SAGE(Network):
    """Adds linear maps of a node's own state and of the mean state of its neighbours."""

    name: ClassVar[str] = "sage"
    title: ClassVar[str] = "GraphSAGE"
    citation: ClassVar[str] = (
        "Hamilton, Ying and Leskovec, Inductive Representation Learning on Large Graphs, 2017"
    )
    layer_name: ClassVar[str] = "SageLayer"
