"""Methods that go through the training loop: their settings, and what they have in common."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.errors import InputError
from trueedge.methods.method import Method, setting
from trueedge.methods.published_settings import published_settings

if TYPE_CHECKING:
    from trueedge.tasks import Task
    from trueedge.training import Input, LinkModel, Objective, Schedule, TrainedScorer

# Where nothing was published for a data set: the values chosen most often for those that have some.
USUAL: dict[str, Any] = {
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
    "weighted": False,
}


def open_setting(kind: type, help: str, **limits: Any) -> Any:
    """A setting that is filled in for a data set: the published value where there is one, else the usual."""
    return setting(
        None, f"{help}; by default as published for the data set", kind=kind, optional=True, **limits
    )


@dataclass(frozen=True)
class Trained(Method):
    """A method that is trained: states of nodes, and a predictor of pairs of them.

    Settings that are None are filled in for the task. The ranges that are searched are those of Table 8 of Li
    et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023.
    """

    # The method's own habits: they go before what is usual, and behind what was published for a data set.
    habits: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float | None = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(0.01, 0.001)
    )
    dropout: float | None = open_setting(
        float, "share of hidden values dropped", low=0.0, high=0.99, search=(0.1, 0.3, 0.5)
    )
    weight_decay: float | None = open_setting(
        float, "Adam's weight decay", low=0.0, high=1.0, search=(1e-4, 1e-7, 0.0)
    )
    layers: int | None = open_setting(int, "layers of the encoder", low=1, high=32, search=(1, 2, 3))
    predictor: str | None = open_setting(
        str,
        "how a pair is scored: a perceptron on the product of states, or their dot product",
        choices=("mlp", "dot"),
    )
    predictor_layers: int | None = open_setting(
        int, "layers of the predictor", low=1, high=32, search=(1, 2, 3)
    )
    dim: int | None = open_setting(int, "size of hidden states", low=1, high=8192, search=(128, 256))
    inputs: str | None = open_setting(
        str,
        "what a node starts from: its features (learned vectors without), learned vectors, or 64 eigenvectors"
        " of the adjacency beside 64 random numbers",
        choices=("features", "learned", "spectral"),
    )
    batch_size: int | None = open_setting(int, "positives in a batch", low=1, high=1 << 30)
    epochs: int | None = open_setting(int, "the most epochs", low=1, high=10**9)
    evaluate_every: int | None = open_setting(int, "epochs between looks at validation", low=1, high=10**9)
    patience: int | None = open_setting(int, "looks without a gain that are borne", low=0, high=10**9)
    hide_positives: bool | None = open_setting(bool, "take a batch's positives out of the message graph")
    negatives: str = setting(
        "uniform", "how training negatives are drawn", choices=("uniform", "degree-corrected", "heart")
    )
    reject_edges: bool = setting(False, "draw a training negative again that is an edge")
    select: str = setting("", "the validation metric that selects; the task's headline where empty")
    bfloat16: bool = setting(False, "compute dense layers in bfloat16")
    compiled: bool = setting(False, "compile the predictor")

    def for_task(self, task: Task) -> Self:
        """This method with every setting filled in."""
        known = {**USUAL, **self.habits, **published_settings(self.name, task)}
        own = self.space()
        left = {key: value for key, value in known.items() if key in own and getattr(self, key) is None}
        return replace(self, **left)

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> TrainedScorer:
        """Train on the task's graph, select on its validation part."""
        from trueedge.training import seeded, train

        if not hasattr(task, "part_names"):
            raise InputError(f"{self.name}: fit takes a task; te.task(graph, protocol) makes one")
        filled = self.for_task(task)
        if self.needs_features and task.graph.features is None and filled.inputs == "features":
            raise InputError(f"{self.name} needs node features, and {task.graph.name} has none")
        try:
            with seeded(seed, device):
                model = filled.build(task, seed)
            chosen = {"method": self.name, **filled.settings()}
            return train(model, task, filled.schedule(task), seed, device, filled.objective(), chosen)
        except (MemoryError, RuntimeError) as error:
            # torch has no error of its own for a full memory of the processor.
            if isinstance(error, MemoryError) or re.search(r"out of memory|allocate memory", str(error)):
                raise InputError(
                    f"{self.name} on {task.dataset} does not fit into memory: a smaller dim or batch_size may"
                ) from error
            raise

    @abstractmethod
    def build(self, task: Task, seed: int) -> LinkModel:
        """The model with its first weights, for a method whose settings are filled in."""

    def objective(self) -> Callable[..., Objective] | None:
        """What makes what it is trained for of (graph, messages): edges against drawn pairs where None."""
        return None

    def schedule(self, task: Task) -> Schedule:
        """How it is trained; a task without a validation part keeps the last state."""
        from trueedge.training import Schedule

        # What a method has not stays as the loop has it.
        chosen = {field.name: getattr(self, field.name, None) for field in fields(Schedule)}
        chosen |= {"select": self.select or None, "keep_last": "valid" not in task.part_names}
        if "hide_positives" in self.without:
            # Nobody passes messages, so there is nothing to take out.
            chosen["hide_positives"] = False
        return Schedule(**{key: value for key, value in chosen.items() if value is not None})

    def make_input(self, task: Task, seed: int) -> Input:
        """What the encoder starts from."""
        from trueedge.training import LearnedInput, input_of, spectral_input

        assert self.dim is not None
        if self.inputs == "spectral":
            return spectral_input(task.graph, seed)
        if self.inputs == "learned":
            return LearnedInput(task.graph.num_nodes, self.dim)
        return input_of(task.graph, self.dim)

    def make_predictor(self, dim: int) -> Any:
        """What scores a pair of states of so many numbers."""
        from trueedge.training import DotPredictor, MlpPredictor

        if self.predictor == "dot":
            return DotPredictor()
        assert self.dim is not None
        assert self.predictor_layers is not None
        assert self.dropout is not None
        return MlpPredictor(dim, self.dim, self.predictor_layers, self.dropout)
