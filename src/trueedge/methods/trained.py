"""Methods that are trained: what they share, and groups of settings that each method composes."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.errors import InputError
from trueedge.methods.method import Method, Range, on_graph, setting
from trueedge.methods.published_settings import published_settings

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask, Task
    from trueedge.training import Encoder, Input, LinkModel, Objective, Schedule, TrainedScorer

# Where nothing was published for a data set: the values chosen most often for those that have some.
DEFAULTS: dict[str, Any] = {
    "learning_rate": 0.01,
    "dropout": 0.3,
    "weight_decay": 0.0,
    "layers": 1,
    "predictor": "mlp",
    "predictor_layers": 3,
    "dim": 256,
    "inputs": "features",
    "batch_size": 1024,
    "epochs": 9999,
    "evaluate_every": 5,
    "patience": 10,
    "hide_positives": True,
}
# Settings are listed in this order, however a method composes them; its own follow.
ORDER = (*DEFAULTS, "negatives", "reject_edges", "select")


def open_setting(kind: type, help: str, **limits: Any) -> Any:
    """Make a setting that is None until :meth:`Method.for_task` fills it in.

    It gets the published value for the data set where there is one, else the method's default.
    """
    return setting(
        None, f"{help}; by default as published for the data set", kind=kind, optional=True, **limits
    )


@dataclass(frozen=True)
class Trained(Method):
    """A method that goes through the training loop.

    It has the settings of the loop; others come with the classes below. The ranges that are searched are
    those of Table 8 of Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023.
    """

    # The method's own defaults: they override DEFAULTS, and published settings override them.
    defaults: ClassVar[Mapping[str, Any]] = {}
    # Defaults that override published settings too.
    firm_defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(0.01, 0.001)
    )
    weight_decay: float = open_setting(
        float, "Adam's weight decay", low=0.0, high=1.0, search=(1e-4, 1e-7, 0.0)
    )
    dim: int = open_setting(int, "size of hidden states", low=1, high=8192, search=(128, 256))
    epochs: int = open_setting(int, "the largest number of epochs", low=1, high=10**9)
    evaluate_every: int = open_setting(int, "epochs between validation checks", low=1, high=10**9)
    patience: int = open_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    select: str = setting("", "the validation metric that selects; the task's headline where empty")

    @classmethod
    def space(cls) -> dict[str, Range]:
        """Return the settings and their ranges."""
        found = super().space()
        return {name: found[name] for name in (*ORDER, *found) if name in found}

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        known = {**DEFAULTS, **self.defaults, **published_settings(self.name, task), **self.firm_defaults}
        return self.filled_in(known)

    def filled_in(self, values: Mapping[str, Any]) -> Self:
        """Return this method with its open settings filled in where there is a value for them."""
        own = self.space()
        return replace(
            self, **{key: values[key] for key in values if key in own and getattr(self, key) is None}
        )

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> TrainedScorer:
        """Train on the task's graph, select on its validation part."""
        from trueedge.training import seeded, train

        task = on_graph(task, self.name)
        filled = self.for_task(task)
        schedule = filled.schedule(task)
        try:
            with seeded(seed, device):
                model = filled.build(task, seed)
            chosen = {"method": self.name, **filled.settings()}
            return train(model, task, schedule, seed, device, filled.objective(schedule), chosen)
        except (MemoryError, RuntimeError) as error:
            # torch has no error of its own for a full memory of the processor.
            if isinstance(error, MemoryError) or re.search(r"out of memory|allocate memory", str(error)):
                raise InputError(
                    f"{self.name} on {task.dataset} does not fit into memory: a smaller dim or batch_size may"
                ) from error
            raise

    @abstractmethod
    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return the model with its first weights; all settings are filled in."""

    def objective(self, schedule: Schedule) -> Callable[..., Objective] | None:
        """Return what makes the objective from (graph, messages); None: edges against drawn pairs."""
        del schedule
        return None

    def schedule(self, task: Task) -> Schedule:
        """Return how it is trained; a task without a validation part keeps the last state."""
        from trueedge.training import Schedule

        # What is not a setting of the method stays as the loop has it.
        chosen = {field.name: getattr(self, field.name, None) for field in fields(Schedule)}
        chosen |= {"select": self.select or None, "keep_last": "valid" not in task.part_names}
        # A method that passes no messages has nothing to hide.
        chosen["hide_positives"] = getattr(self, "hide_positives", False)
        return Schedule(**{key: value for key, value in chosen.items() if value is not None})


@dataclass(frozen=True)
class HasDropout(Trained):
    """A method with dropout."""

    dropout: float = open_setting(
        float, "share of hidden values dropped", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )


@dataclass(frozen=True)
class HasLayers(Trained):
    """A method with an encoder of some layers."""

    layers: int = open_setting(int, "layers of the encoder", low=1, high=32, search=(1, 2, 3))


@dataclass(frozen=True)
class HasEncoder(HasDropout, HasLayers):
    """A method whose encoder is a stack of layers with dropout between them."""

    def make_encoder(self, layer: Any, size: int) -> Encoder:
        """Return a stack of layers from inputs of some size to hidden states.

        Args:
            layer: makes a layer of (size, out): a torch module of ``forward(states, messages)``.
            size: how many numbers an input has.
        """
        from trueedge.training import StackedEncoder

        return StackedEncoder(layer, [size, *[self.dim] * self.layers], self.dropout)


@dataclass(frozen=True)
class HasPredictorLayers(Trained):
    """A method whose predictor has some layers."""

    predictor_layers: int = open_setting(int, "layers of the predictor", low=1, high=32, search=(1, 2, 3))


@dataclass(frozen=True)
class HasPredictor(HasPredictorLayers, HasDropout):
    """A method that scores the product of two states."""

    predictor: str = open_setting(
        str,
        "how a pair is scored: a perceptron on the product of states, or their dot product",
        choices=("mlp", "dot"),
    )

    def make_predictor(self, dim: int) -> Any:
        """Return what scores a pair of states of some size."""
        from trueedge.training import DotPredictor, MlpPredictor

        if self.predictor == "dot":
            return DotPredictor()
        return MlpPredictor(dim, self.dim, self.predictor_layers, self.dropout)


@dataclass(frozen=True)
class HasInputs(Trained):
    """A method that starts from the nodes' features, or from what stands in for them."""

    inputs: str = open_setting(
        str,
        "what a node starts from: its features (learned vectors without), learned vectors, or 64 eigenvectors"
        " of the adjacency and 64 random numbers",
        choices=("features", "learned", "spectral"),
    )

    def make_input(self, task: GraphTask, seed: int) -> Input:
        """Return what the encoder starts from."""
        from trueedge.training import LearnedInput, input_of, spectral_input

        if self.inputs == "spectral":
            return spectral_input(task.graph, seed)
        if self.inputs == "learned":
            return LearnedInput(task.graph.num_nodes, self.dim)
        self.check_features(task.graph)
        return input_of(task.graph, self.dim)


@dataclass(frozen=True)
class HasBatches(Trained):
    """A method that learns to tell batches of edges from drawn pairs."""

    batch_size: int = open_setting(int, "positives in a batch", low=1, high=1 << 30)
    negatives: str = setting(
        "uniform", "how training negatives are drawn", choices=("uniform", "degree-corrected", "heart")
    )
    reject_edges: bool = setting(False, "draw a training negative again that is an edge")


@dataclass(frozen=True)
class HasMessages(HasBatches):
    """A method that passes messages on the training graph, whose edges it learns from."""

    hide_positives: bool = open_setting(bool, "remove a batch's positives from the message graph")
