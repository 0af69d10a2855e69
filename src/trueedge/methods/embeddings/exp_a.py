"""Exponential kernel on the adjacency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import ExponentialKernel, OfAdjacency


@dataclass(frozen=True)
class ExponentialAdjacency(ExponentialKernel, OfAdjacency):
    """The exponential kernel of the adjacency matrix."""

    name: ClassVar[str] = "exp-a"
    title: ClassVar[str] = "Exponential Kernel on the Adjacency"
