"""A perceptron on the nodes' features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from trueedge.methods.gnn.network import Network


@dataclass(frozen=True)
class Perceptron(Network):
    """Features, mapped by a perceptron; nobody passes a message. One layer is a linear map."""

    name: ClassVar[str] = "mlp"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Perceptron on Features"
    citation: ClassVar[str] = (
        "Rumelhart, Hinton and Williams, Learning Representations by Back-Propagating Errors, 1986"
    )
    needs_features: ClassVar[bool] = True
    without: ClassVar[frozenset[str]] = frozenset({"hide_positives", "neighbors"})

    def layer(self, size: int, out: int) -> Any:
        """A linear map."""
        from trueedge.training.convolutions import LinearLayer

        return LinearLayer(size, out)
