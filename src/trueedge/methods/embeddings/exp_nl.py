"""Exponential kernel on the normalised Laplacian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.embeddings.transformation import ExponentialKernel, OfNormalized


@dataclass(frozen=True)
class ExponentialNormalized(ExponentialKernel, OfNormalized):
    """The exponential kernel of the normalised Laplacian, in terms of the normalised adjacency."""

    name: ClassVar[str] = "exp-nl"
    title: ClassVar[str] = "Exponential Kernel on the Normalised Laplacian"
