"""What every graph neural network here is made of: layers of one kind in a row, and a predictor."""

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

    # Which of trueedge.training.links.convolutions its layers are.
    layer_name: ClassVar[str]

    def layer(self, size: int, out: int) -> Any:
        """Return a torch module of ``forward(states, messages)``, from ``size`` to ``out`` numbers a node."""
        from trueedge.training.links import convolutions

        return getattr(convolutions, self.layer_name)(size, out)

    def make_predictor(self, dim: int) -> Any:
        """Return what scores a pair of states of some size: their dot product."""
        from trueedge.training import DotPredictor

        del dim
        return DotPredictor()

    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return an input, the stack, and a predictor."""
        from trueedge.training import LinkModel

        inputs = self.make_input(task, seed)
        encoder = self.make_encoder(self.layer, inputs.dim)
        return LinkModel(inputs, encoder, self.make_predictor(self.dim))


@dataclass(frozen=True)
class Network(HasPredictor, HasMessages, LayerStack):
    """A graph neural network. A subclass has a name, and a ``layer_name`` or its own :meth:`layer`."""

    family: ClassVar[str] = "gnn"

    neighbors: int = setting(
        0,
        "the largest number of neighbours sampled for a node in a training step; 0: all",
        low=0,
        high=1 << 30,
    )
