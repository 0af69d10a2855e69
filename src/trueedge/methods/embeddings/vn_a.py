"""Von Neumann kernel on the adjacency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import NeumannKernel, OfAdjacency


@dataclass(frozen=True)
class NeumannAdjacency(NeumannKernel, OfAdjacency):
    """The von Neumann kernel of the adjacency matrix: walks of all lengths."""

    name: ClassVar[str] = "vn-a"
    title: ClassVar[str] = "Von Neumann Kernel on the Adjacency"
