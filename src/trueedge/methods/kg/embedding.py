"""The base class of embedding models for knowledge graphs, and the settings of their training."""

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
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.tasks import Task
    from trueedge.tasks.triples import TripleTask
    from trueedge.training.triples import (
        TripleIndex,
        TripleModel,
        TripleObjective,
        TripleSchedule,
        TripleScorer,
    )

# For data sets without published settings.
DEFAULTS: dict[str, Any] = {
    "learning_rate": 0.001,
    "decay": 1.0,
    "weight_decay": 0.0,
    "dim": 200,
    "objective": "1-n",
    "batch_size": 128,
    "negatives": 100,
    "filter_negatives": True,
    "label_smoothing": 0.1,
    "epochs": 500,
    "evaluate_every": 5,
    "patience": 15,
    "average_from": 0,
    "average_every": 10,
    "average_rate": 0.0,
}
# The settings that an objective does not use.
UNUSED = {
    "1-n": ("negatives", "filter_negatives", "temperature"),
    "1-k": ("temperature",),
    "sampled": ("label_smoothing",),
}


@dataclass(frozen=True)
class EmbeddingModel(Method):
    """A model with a vector for each entity and relation, trained on triples and their inverses.

    The searched values are those of appendix C.3 of Shomer's thesis on KG-Mixup.
    """

    family: ClassVar[str] = "kg"
    takes: ClassVar[tuple[str, ...]] = ("triples",)
    # The method's own defaults: they override DEFAULTS, and published settings override them.
    defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(1e-5, 5e-5, 1e-4, 5e-4, 1e-3)
    )
    decay: float = open_setting(
        float, "factor of the learning rate per epoch", low=1e-3, high=1.0, search=(0.99, 0.995, 1.0)
    )
    weight_decay: float = open_setting(float, "Adam's weight decay", low=0.0, high=1.0)
    dim: int = open_setting(int, "size of the vectors of entities", low=1, high=8192)
    objective: str = open_setting(
        str,
        "compare an answer with all entities (1-n), or with sampled ones by cross-entropy (1-k) or with"
        " self-adversarial weights (sampled)",
        choices=("1-n", "1-k", "sampled"),
    )
    batch_size: int = open_setting(
        int, "queries (1-n) or triples (1-k, sampled) per batch", low=1, high=1 << 30
    )
    negatives: int = open_setting(int, "entities sampled per triple (1-k, sampled)", low=1, high=1 << 20)
    filter_negatives: bool = open_setting(bool, "never sample a known answer as a negative (1-k, sampled)")
    label_smoothing: float = open_setting(
        float,
        "share of a label spread over all scored entities (1-n, 1-k)",
        low=0.0,
        high=0.99,
        search=(0.0, 0.1),
    )
    temperature: float = setting(
        1.0, "temperature of self-adversarial weights (sampled); 0: equal weights", low=0.0, high=1000.0
    )
    epochs: int = open_setting(int, "largest number of epochs", low=1, high=10**9)
    evaluate_every: int = open_setting(int, "epochs between validation checks", low=1, high=10**9)
    patience: int = open_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    average_from: int = open_setting(
        int, "first epoch of stochastic weight averaging; 0: no averaging", low=0, high=10**9
    )
    average_every: int = open_setting(int, "epochs between the states that are averaged", low=1, high=10**9)
    average_rate: float = open_setting(
        float, "learning rate while weights are averaged; 0: the usual one", low=0.0, high=10.0
    )
    keep: str = setting(
        "best",
        "the epoch to keep: the best on the validation part, or the last without any validation",
        choices=("best", "last"),
    )
    select: str = setting("", "validation metric for model selection; empty: the task's headline metric")

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        known = {**DEFAULTS, **self.defaults, **self.published(task)}
        return self.filled_in(known)

    def published(self, task: Task) -> dict[str, Any]:
        """Return the settings published for a task, by name."""
        return published_settings(self.name, task)

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> TripleScorer:
        """Train on the task's triples and select the best epoch on its validation part."""
        triples = on_triples(task, self.name)
        if task.protocol == "inductive":
            raise InputError(
                f"{self.name} has a vector for each entity it was trained on, and {task.dataset} under"
                f" {task.protocol} is tested on others"
            )
        filled = self.for_task(triples)
        filled.check()
        with memory_errors(filled, task.dataset):
            return filled.train(triples, seed, device)

    def without_effect(self, task: Task) -> list[str]:
        """Return a sentence on each setting that was set and that the task or the objective does not use."""
        chosen = self.for_task(task).settings()
        objective = chosen["objective"]
        # A pre-training has the same settings, and may have another objective.
        first = chosen.get("pretrain_objective", objective)
        return super().without_effect(task) + [
            f"{self.name}: {name}={getattr(self, name)} has no effect with the objective {objective}"
            for name in self.given(task)
            if name in UNUSED[objective] and name in UNUSED[first]
        ]

    def train(self, task: TripleTask, seed: int, device: str) -> TripleScorer:
        """Train a new model; all settings are filled in."""
        from trueedge.training import seeded
        from trueedge.training.triples import train_triples

        with seeded(seed, device):
            model = self.build(task.graph)
        chosen = {"method": self.name, **self.settings()}
        return train_triples(model, task, self.schedule(task), seed, device, self.make_objective, chosen)

    @abstractmethod
    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return the untrained model; all settings are filled in."""

    def check(self) -> None:
        """Refuse settings that do not fit together; all of them are filled in."""

    def make_objective(self, index: TripleIndex) -> TripleObjective:
        """Return the objective for some training triples."""
        from trueedge.training.triples import make_objective

        return make_objective(index, self.schedule())

    def schedule(self, task: TripleTask | None = None) -> TripleSchedule:
        """Return the training schedule; without a validation part, the last epoch is kept."""
        from trueedge.training.triples import TripleSchedule

        # Fields that are not settings of the method keep the schedule's defaults.
        chosen = {field.name: getattr(self, field.name, None) for field in fields(TripleSchedule)}
        without = task is not None and "valid" not in task.part_names
        chosen |= {"select": self.select or None, "keep_last": without or self.keep == "last"}
        return TripleSchedule(**{key: value for key, value in chosen.items() if value is not None})


@dataclass(frozen=True)
class HasThreeDropouts(EmbeddingModel):
    """A model with dropout in three places, numbered as in appendix C.3."""

    dropout_1: float = open_setting(
        float, "dropout rate of the input", low=0.0, high=0.99, search=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    )
    dropout_2: float = open_setting(
        float,
        "dropout rate of feature maps or of the relation's matrix",
        low=0.0,
        high=0.99,
        search=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    )
    dropout_3: float = open_setting(
        float, "dropout rate of the output", low=0.0, high=0.99, search=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    )

    @property
    def dropouts(self) -> tuple[float, float, float]:
        """Return the three rates."""
        return self.dropout_1, self.dropout_2, self.dropout_3


@dataclass(frozen=True)
class HasQueryDropout(EmbeddingModel):
    """A model with dropout of the query alone."""

    dropout: float = open_setting(
        float, "dropout rate of the query", low=0.0, high=0.99, search=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    )


@dataclass(frozen=True)
class HasMargin(EmbeddingModel):
    """A model whose score is a margin minus a distance, trained with self-adversarial negatives."""

    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "objective": "sampled",
        "batch_size": 512,
        "label_smoothing": 0.0,
    }

    margin: float = setting(
        9.0, "a score is this minus the distance", low=0.0, high=1000.0, search=(6.0, 9.0, 12.0)
    )


def check_even(method: EmbeddingModel) -> None:
    """Refuse an odd size for vectors of complex numbers."""
    if method.dim % 2:
        raise InputError(
            f"{method.name}: dim must be even, since a complex number takes two; got {method.dim}"
        )
