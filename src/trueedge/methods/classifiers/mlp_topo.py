"""A perceptron on four indices of the neighbourhoods of two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.classifiers.examples import Features, topology
from trueedge.methods.classifiers.perceptron import PairClassifier


@dataclass(frozen=True)
class MlpTopo(PairClassifier):
    """An MLP on Adamic–Adar, Jaccard, resource allocation and local random walk (A.2.1)."""

    name: ClassVar[str] = "mlp-topo"
    title: ClassVar[str] = "Perceptron on Topology"
    features: ClassVar[Features] = staticmethod(topology)
