"""Exponential kernel on the Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import ExponentialKernel, OfLaplacian


@dataclass(frozen=True)
class ExponentialLaplacian(ExponentialKernel, OfLaplacian):
    """The exponential kernel of the Laplacian: diffusion."""

    name: ClassVar[str] = "exp-l"
    title: ClassVar[str] = "Exponential Kernel on the Laplacian"
