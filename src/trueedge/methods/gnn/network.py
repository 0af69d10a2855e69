"""What every graph neural network here is made of: layers of one kind in a row, and a predictor."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.trained import Trained

if TYPE_CHECKING:
    from trueedge.tasks import Task
    from trueedge.training import LinkModel


@dataclass(frozen=True)
class Network(Trained):
    """A method whose encoder is a stack of one kind of layer. A subclass has a name and :meth:`layer`."""

    family: ClassVar[str] = "gnn"

    neighbors: int = setting(
        0, "the most neighbours a node hears from in a training step; 0 for all", low=0, high=1 << 30
    )

    @abstractmethod
    def layer(self, size: int, out: int) -> Any:
        """A torch module of ``forward(states, messages)``, from ``size`` to ``out`` numbers a node."""

    def build(self, task: Task, seed: int) -> LinkModel:
        """An input, the stack, and a predictor."""
        from trueedge.training import LinkModel, StackedEncoder

        assert self.layers is not None
        assert self.dim is not None
        assert self.dropout is not None
        inputs = self.make_input(task, seed)
        encoder = StackedEncoder(self.layer, [inputs.dim, *[self.dim] * self.layers], self.dropout)
        return LinkModel(inputs, encoder, self.make_predictor(self.dim))
