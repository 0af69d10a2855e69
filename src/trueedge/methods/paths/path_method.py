"""The base class of path-based methods, and the settings they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.errors import InputError
from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_triples, setting
from trueedge.methods.published_settings import published_settings
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.methods.paths.models.network import Shape
    from trueedge.tasks import Task, TripleTask
    from trueedge.training.paths.model import PathModel
    from trueedge.training.paths.scorer import PathScorer
    from trueedge.training.paths.train import PathSchedule

# For data sets without published settings.
DEFAULTS: dict[str, Any] = {
    "learning_rate": 0.005,
    "decay": 1.0,
    "weight_decay": 0.0,
    "dropout": 0.0,
    "batch_size": 64,
    "negatives": 32,
    "temperature": 0.5,
    "epochs": 20,
    "remove_all": False,
    "dependent": True,
    "aggregation": "pna",
    "select": "",
}


@dataclass(frozen=True)
class PathMethod(Method):
    """A model that spreads states from the head of a query along the edges of a knowledge graph.

    It has no parameters for entities, so it also scores graphs of other entities.
    """

    family: ClassVar[str] = "paths"
    takes: ClassVar[tuple[str, ...]] = ("triples",)
    # The method's own defaults: they override DEFAULTS, and published settings override them.
    defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(0.01, 0.005, 0.001)
    )
    decay: float = open_setting(
        float, "factor of the learning rate per epoch", low=1e-6, high=1.0, search=(0.9, 0.95, 1.0)
    )
    weight_decay: float = open_setting(
        float, "Adam's weight decay", low=0.0, high=1.0, search=(1e-4, 1e-6, 0.0)
    )
    dropout: float = open_setting(
        float, "dropout rate of hidden states", low=0.0, high=0.99, search=(0.0, 0.2, 0.5)
    )
    batch_size: int = open_setting(int, "triples per batch", low=1, high=1 << 30)
    negatives: int = open_setting(int, "negatives per triple", low=1, high=1 << 30, search=(32, 128, 512))
    temperature: float = open_setting(
        float,
        "temperature of the softmax that weighs negatives by their scores; 0: equal weights",
        low=0.0,
        high=1e6,
        search=(0.5, 1.0),
    )
    epochs: int = open_setting(int, "largest number of epochs", low=1, high=10**9)
    remove_all: bool = open_setting(
        bool, "remove all edges between the entities of a training triple, not only its own edge"
    )
    dim: int = setting(32, "size of the hidden states", low=2, high=8192)
    layers: int = setting(6, "rounds of message passing", low=1, high=64)
    evaluate_every: int = setting(1, "epochs between validation checks", low=1, high=10**9)
    patience: int = setting(1000, "validation checks without improvement before stopping", low=0, high=10**9)
    select: str = open_setting(
        str, "validation metric for model selection; empty: the task's headline metric"
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        known = {**DEFAULTS, **self.defaults, **published_settings(self.published_as, task)}
        return self.filled_in(known)

    @property
    def published_as(self) -> str:
        """The name under which settings are looked up."""
        return self.name

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> PathScorer:
        """Train on the task's graph and select the best epoch on its validation part."""
        from trueedge.training.loop import seeded
        from trueedge.training.paths.train import train_paths

        triples = on_triples(task, self.name)
        filled = self.for_task(task)
        filled.check()
        with memory_errors(self, task.dataset):
            with seeded(seed, device):
                model = filled.build(triples)
            chosen = {"method": self.name, **filled.settings()}
            return train_paths(model, triples, filled.schedule(), seed, device, chosen)

    def check(self) -> None:
        """Refuse settings that do not fit together; all of them are filled in."""
        if getattr(self, "message", None) == "rotate" and self.dim % 2:
            raise InputError(
                f"{self.name}: dim must be even for message=rotate, since a complex number takes two; got"
                f" {self.dim}"
            )

    @abstractmethod
    def build(self, task: TripleTask) -> PathModel:
        """Return the untrained model; all settings are filled in."""

    def schedule(self) -> PathSchedule:
        """Return the training schedule."""
        from trueedge.training.paths.train import PathSchedule

        chosen = {field.name: getattr(self, field.name, None) for field in fields(PathSchedule)}
        chosen |= {"select": self.select or None, "clip": 0.0}
        return PathSchedule(**{key: value for key, value in chosen.items() if value is not None})


@dataclass(frozen=True)
class HasMessages(PathMethod):
    """A method that aggregates messages along edges, each of a state and a relation."""

    dependent: bool = open_setting(bool, "let the vectors of relations depend on the query")
    message: str = setting(
        "distmult",
        "how a state and a relation become a message: product, sum, or product of complex numbers",
        choices=("distmult", "transe", "rotate"),
    )
    aggregation: str = open_setting(
        str,
        "aggregation of messages: mean, maximum, minimum and deviation, scaled by degree (pna), or one",
        choices=("pna", "sum", "max", "min"),
    )

    def shape(self, task: TripleTask, **more: Any) -> Shape:
        """Return the shape of the network; ``more`` are further attributes."""
        from trueedge.methods.paths.models.network import Shape

        return Shape(
            2 * task.num_relations,
            self.dim,
            self.layers,
            self.message,
            self.aggregation,
            self.dependent,
            dropout=self.dropout,
            **more,
        )
