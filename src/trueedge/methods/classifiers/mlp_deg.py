"""A perceptron on the degrees of two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.classifiers.examples import Features, degrees
from trueedge.methods.classifiers.perceptron import PairClassifier


@dataclass(frozen=True)
class MlpDeg(PairClassifier):
    """An MLP on the product, sum, minimum and maximum of the two degrees (A.2.1)."""

    name: ClassVar[str] = "mlp-deg"
    title: ClassVar[str] = "Perceptron on Degrees"
    features: ClassVar[Features] = staticmethod(degrees)
