"""Von Neumann kernel on the normalised Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import NeumannKernel, OfNormalized


@dataclass(frozen=True)
class NeumannNormalized(NeumannKernel, OfNormalized):
    """The von Neumann kernel of the normalised Laplacian, in terms of the normalised adjacency."""

    name: ClassVar[str] = "vn-nl"
    title: ClassVar[str] = "Von Neumann Kernel on the Normalised Laplacian"
