"""Von Neumann kernel on the Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import NeumannKernel, OfLaplacian


@dataclass(frozen=True)
class NeumannLaplacian(NeumannKernel, OfLaplacian):
    """The von Neumann kernel of the Laplacian."""

    name: ClassVar[str] = "vn-l"
    title: ClassVar[str] = "Von Neumann Kernel on the Laplacian"
