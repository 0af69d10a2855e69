"""The base class of trained methods, and groups of settings that methods combine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, Range, on_graph, setting
from trueedge.methods.published_settings import published_settings

if TYPE_CHECKING:
    from trueedge.tasks import GraphTask, Task
    from trueedge.training import Encoder, Input, LinkModel, Objective, Schedule, TrainedScorer

# For data sets without published settings: the values published most often.
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
    "negatives": "uniform",
    "reject_edges": False,
}
# Settings are listed in this order; those of a single method follow.
ORDER = (*DEFAULTS, "fixed_negatives", "select", "stop")


def open_setting(kind: type, help: str, **limits: Any) -> Any:
    """Return a setting that :meth:`Method.for_task` fills in with the published value, or else a default."""
    about = f"{help}; by default as published for the data set"
    return setting(None, about, kind=kind, optional=True, **limits)


@dataclass(frozen=True)
class Trained(Method):
    """A method that is trained with the training loop, and the settings of that loop.

    The searched values are those of Table 8 of Li et al., Evaluating Graph Neural Networks for Link
    Prediction, NeurIPS 2023.
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
    dim: int = open_setting(int, "size of the hidden states", low=1, high=8192, search=(128, 256))
    epochs: int = open_setting(int, "largest number of epochs", low=1, high=10**9)
    evaluate_every: int = open_setting(int, "epochs between validation checks", low=1, high=10**9)
    patience: int = open_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    select: str = setting("", "validation metric for model selection; empty: the task's headline metric")
    stop: str = setting("", "validation metric for early stopping; empty: the one for model selection")

    @classmethod
    def space(cls) -> dict[str, Range]:
        """Return the settings and their ranges."""
        found = super().space()
        return {name: found[name] for name in (*ORDER, *found) if name in found}

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        known = {**DEFAULTS, **self.defaults, **published_settings(self.name, task), **self.firm_defaults}
        return self.filled_in(known)

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> TrainedScorer:
        """Train on the task's graph and select the best epoch on its validation part."""
        from trueedge.training import seeded, train

        task = on_graph(task, self.name)
        filled = self.for_task(task)
        schedule = filled.schedule(task)
        with memory_errors(self, task.dataset):
            with seeded(seed, device):
                model = filled.build(task, seed)
            chosen = {"method": self.name, **filled.settings()}
            return train(model, task, schedule, seed, device, filled.objective(schedule), chosen)

    @abstractmethod
    def build(self, task: GraphTask, seed: int) -> LinkModel:
        """Return the untrained model; all settings are filled in."""

    def objective(self, schedule: Schedule) -> Callable[..., Objective] | None:
        """Return a function of (graph, messages) that makes the objective; None: :class:`PairObjective`."""
        del schedule
        return None

    def schedule(self, task: Task) -> Schedule:
        """Return the training schedule; without a validation part, the last epoch is kept."""
        from trueedge.training import Schedule

        # Fields that are not settings of the method keep the schedule's defaults.
        chosen = {field.name: getattr(self, field.name, None) for field in fields(Schedule)}
        chosen |= {"select": self.select or None, "stop": self.stop or None}
        chosen["keep_last"] = "valid" not in task.part_names
        # A method without message passing has nothing to hide.
        chosen["hide_positives"] = getattr(self, "hide_positives", False)
        return Schedule(**{key: value for key, value in chosen.items() if value is not None})


@dataclass(frozen=True)
class HasDropout(Trained):
    """A method with dropout."""

    dropout: float = open_setting(
        float, "dropout rate of hidden states", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )


@dataclass(frozen=True)
class HasLayers(Trained):
    """A method whose encoder has layers."""

    layers: int = open_setting(int, "number of encoder layers", low=1, high=32, search=(1, 2, 3))


@dataclass(frozen=True)
class HasEncoder(HasDropout, HasLayers):
    """A method whose encoder is a stack of layers with dropout between them."""

    def make_encoder(self, layer: Any, size: int) -> Encoder:
        """Return a stack of layers for inputs of some size.

        ``layer(size, out)`` makes one: a torch module with ``forward(states, messages)``.
        """
        from trueedge.training import StackedEncoder

        return StackedEncoder(layer, [size, *[self.dim] * self.layers], self.dropout)


@dataclass(frozen=True)
class HasPredictorLayers(Trained):
    """A method whose predictor has layers."""

    predictor_layers: int = open_setting(int, "number of predictor layers", low=1, high=32, search=(1, 2, 3))


@dataclass(frozen=True)
class HasPredictor(HasPredictorLayers, HasDropout):
    """A method that scores the entrywise product of two node states."""

    predictor: str = open_setting(
        str,
        "how a pair is scored: MLP on the entrywise product of its node states, or their dot product",
        choices=("mlp", "dot"),
    )

    def make_predictor(self, dim: int) -> Any:
        """Return the predictor for pairs of states of size ``dim``."""
        from trueedge.training import DotPredictor, MlpPredictor

        if self.predictor == "dot":
            return DotPredictor()
        return MlpPredictor(dim, self.dim, self.predictor_layers, self.dropout)


@dataclass(frozen=True)
class HasInputs(Trained):
    """A method with node features as input, or a substitute for them."""

    inputs: str = open_setting(
        str,
        "node input: features (learned vectors if there are none), learned vectors, or 64 eigenvectors of the"
        " adjacency matrix and 64 random numbers",
        choices=("features", "learned", "spectral"),
    )

    def make_input(self, task: GraphTask, seed: int) -> Input:
        """Return the input of the encoder."""
        from trueedge.training import LearnedInput, input_of, spectral_input

        if self.inputs == "spectral":
            return spectral_input(task.graph, seed)
        if self.inputs == "learned":
            return LearnedInput(task.graph.num_nodes, self.dim)
        self.check_features(task.graph)
        return input_of(task.graph, self.dim)


@dataclass(frozen=True)
class HasBatches(Trained):
    """A method that is trained on batches of edges and sampled negatives."""

    batch_size: int = open_setting(int, "positives per batch", low=1, high=1 << 30)
    negatives: str = open_setting(
        str,
        "how training negatives are sampled; unlinked: uniform pairs without an edge; hidden edges of the"
        " batch may be drawn, too",
        choices=("uniform", "unlinked", "degree-corrected", "heart"),
    )
    reject_edges: bool = open_setting(bool, "redraw training negatives that are edges")
    fixed_negatives: bool = setting(
        False, "draw the training negatives once, as in the published runs of BUDDY, not anew for each batch"
    )


@dataclass(frozen=True)
class HasMessages(HasBatches):
    """A method that passes messages along the edges it is trained on."""

    hide_positives: bool = open_setting(bool, "remove a batch's positives from the message graph")
