"""An MLP on node features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from trueedge.methods.gnn.network import LayerStack
from trueedge.methods.trained import HasBatches, HasPredictor


@dataclass(frozen=True)
class Perceptron(HasPredictor, HasBatches, LayerStack):
    """An MLP on node features, without message passing; one layer is a linear map."""

    name: ClassVar[str] = "mlp"
    family: ClassVar[str] = "embeddings"
    title: ClassVar[str] = "Perceptron on Features"
    citation: ClassVar[str] = (
        "Rumelhart, Hinton and Williams, Learning Representations by Back-Propagating Errors, 1986"
    )
    needs_features: ClassVar[bool] = True
    layer_name: ClassVar[str] = "LinearLayer"
