"""Graph neural networks: a stack of layers of one kind, and a predictor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.trained import HasEncoder, HasInputs, HasMessages, HasPredictor

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class LayerStack(HasEncoder, HasInputs):
    """A method whose encoder is a stack of one kind of layer."""

    # The name of the layer class in trueedge.training.links.convolutions.
    layer_name: ClassVar[str]

    def layer(self, size: int, out: int) -> Any:
        """Return a layer from ``size`` to ``out`` numbers per node, with ``forward(states, messages)``."""
        from trueedge.training.links import convolutions

        return getattr(convolutions, self.layer_name)(size, out)

    def make_predictor(self, dim: int) -> Any:
        """Return the predictor: the dot product of two states."""
        from trueedge.training import DotPredictor

        del dim
        return DotPredictor()

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return a model of input, layers and predictor."""
        from trueedge.training import LinkModel

        inputs = self.make_input(task, seed)
        encoder = self.make_encoder(self.layer, inputs.dim)
        return LinkModel(inputs, encoder, self.make_predictor(self.dim))


@dataclass(frozen=True)
class Network(HasPredictor, HasMessages, LayerStack):
    """A graph neural network. A subclass has a name, and a ``layer_name`` or its own :meth:`layer`."""

    family: ClassVar[str] = "gnn"

    neighbors: int = setting(0, "neighbours sampled per node in a training step; 0: all", low=0, high=1 << 30)
    far_neighbors: int = setting(
        0, "neighbours sampled in all layers but the last; 0: as many as in the last", low=0, high=1 << 30
    )
    clip: float = setting(1.0, "largest gradient norm per module; 0: no clipping", low=0.0, high=1e9)
