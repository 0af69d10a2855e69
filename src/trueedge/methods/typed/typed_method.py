"""The base class of methods for typed graphs, and the settings they share."""

from __future__ import annotations

import dataclasses
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.errors import ScoreWarning
from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_typed, setting
from trueedge.methods.published_settings import published_settings
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from torch import nn

    from trueedge.graph.typed import HeteroGraph
    from trueedge.tasks import NodeTask, Task, TypedLinkTask
    from trueedge.training.typed.decoders import Decoder
    from trueedge.training.typed.inputs import TypedInputs
    from trueedge.training.typed.train import LinkModel, TypedSchedule

# For data sets without published settings: those that are published most often.
DEFAULTS: dict[str, Any] = {
    "learning_rate": 5e-4,
    "weight_decay": 1e-4,
    "dropout": 0.5,
    "dim": 64,
    "layers": 3,
    "batch_size": 8192,
    "epochs": 300,
    "patience": 30,
}
# In the order in which the paper numbers them: 0, 1, 2.
FEATURES = ("all", "target", "one-hot")
DECODERS = ("dot", "distmult", "bilinear")
# What is tried where nothing is published, as in HGB: it calls the full matrix DistMult.
SELECTED_DECODERS = ("dot", "bilinear")


@dataclass(frozen=True)
class TypedMethod(Method):
    """A model in HGB's pipeline: feature preprocessing, encoder, decoder.

    Settings that are published for no data set are filled in with defaults. The input features and the
    decoder are then selected on the validation part: the model is trained with each choice.
    """

    family: ClassVar[str] = "typed"
    takes: ClassVar[tuple[str, ...]] = ("typed",)
    # The method's own defaults: they override DEFAULTS, and published settings override them.
    defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(1e-3, 5e-4)
    )
    weight_decay: float = open_setting(
        float, "Adam's weight decay", low=0.0, high=1.0, search=(2e-4, 1e-4, 0.0)
    )
    dropout: float = open_setting(float, "dropout rate", low=0.0, high=0.99, search=(0.2, 0.5))
    dim: int = open_setting(int, "size of the hidden states", low=1, high=8192, search=(32, 64))
    layers: int = open_setting(int, "number of layers", low=1, high=32, search=(2, 3))
    features: str = open_setting(
        str,
        "node types that keep their features: all, the target, or none (one-hot); nodes of the others get"
        " learned vectors, or one for each type (target-only)",
        choices=(*FEATURES, "target-only"),
        search=FEATURES,
    )
    decoder: str = open_setting(
        str,
        "score of a link: dot product, with a vector (distmult) or a matrix (bilinear) for each relation",
        choices=DECODERS,
        search=DECODERS,
        only="typed-links",
    )
    batch_size: int = open_setting(int, "links per step", low=1, high=1 << 30, only="typed-links")
    epochs: int = open_setting(int, "largest number of epochs", low=1, high=10**9)
    patience: int = open_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    epoch_steps: int = setting(
        0,
        "largest number of steps in an epoch of links; 0: one for each batch. Validation checks come after"
        " epochs",
        low=0,
        high=10**9,
        only="typed-links",
    )
    evaluate_every: int = setting(1, "epochs between validation checks", low=1, high=10**9)
    first_check: int = setting(
        0, "epochs before the first validation check; 0: as many as between others", low=0, high=10**9
    )
    stop_at_chance: bool = open_setting(
        bool,
        "let training stop early though no state was better on the validation part than one prediction for"
        " all nodes; by default only if the patience is set, or the training is published",
        only="nodes",
    )
    select: str = setting(
        "loss",
        "what is compared on the validation part: its loss, or a metric; loss-and-f1 keeps a state only if"
        " both improve",
    )

    def for_task(self, task: Task) -> Self:
        """Return this method with its settings filled in, except those that are selected on validation."""
        published = published_settings(self.name, task)
        known = {**DEFAULTS, **self.defaults, **published}
        known["stop_at_chance"] = self.patience is not None or "learning_rate" in published
        filled = self.filled_in(known)
        unused = {"decoder": DECODERS[0]} if task.kind == "nodes" else {}
        if task.kind == "nodes" and filled.batch_size is None:
            unused["batch_size"] = DEFAULTS["batch_size"]
        single = _feature_choices(task)
        if len(single) == 1:
            unused["features"] = single[0]
        return filled.filled_in(unused)

    def without_effect(self, task: Task) -> list[str]:
        """Return a sentence on each setting that was set and does nothing, such as features of no node."""
        found = super().without_effect(task)
        if "features" in self.given(task) and "features" not in self.unused(task.kind):
            missing = _missing_features(task, self.features)
            found += [f"{self.name}: features={self.features} has no effect: {missing}"] if missing else []
        return found

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> Any:
        """Train on the task's graph and select the best epoch on its validation part."""
        from trueedge.training.loop import check_device

        check_device(device)
        typed = on_typed(task, self.name)
        filled = self.for_task(task)
        with memory_errors(self, task.dataset):
            choices = list(filled._choices(typed))
            found = [(one, one._fit_one(typed, seed, device)) for one in choices]
        chosen, scorer = found[0] if len(found) == 1 else min(found, key=lambda pair: _loss(pair[1]))
        if chosen._is_at_chance(typed, scorer):
            stopped = len(scorer.history.losses) < chosen.epochs
            advice = "a larger patience" if stopped else "more epochs or a higher learning_rate"
            said = (
                f"{self.name}: no state was better on the validation part than one prediction for all nodes"
            )
            kept = f"the best one, that of epoch {scorer.history.best_epoch}, is kept"
            warnings.warn(f"{said}; {kept}, and {advice} may help", ScoreWarning, stacklevel=3)
        if len(found) == 1:
            return scorer
        open_ones = [key for key in ("features", "decoder") if getattr(filled, key) is None]
        said = ", ".join(f"{key}={getattr(chosen, key)}" for key in open_ones)
        verb = "was" if len(open_ones) == 1 else "were"
        warnings.warn(f"{self.name}: {said} {verb} best on the validation part", ScoreWarning, stacklevel=3)
        return scorer

    def _is_at_chance(self, task: NodeTask | TypedLinkTask, scorer: Any) -> bool:
        """Return whether training ended with a scorer that learned nothing of the classes."""
        from trueedge.tasks import NodeTask
        from trueedge.training.typed.chance import chance_level

        history = getattr(scorer, "history", None)
        if not isinstance(task, NodeTask) or history is None or history.best is None:
            return False
        return not history.is_above(chance_level(task, self.select))

    def _choices(self, task: NodeTask | TypedLinkTask) -> Iterator[Self]:
        """Yield this method with each choice of features and decoder that is open."""
        features = (self.features,) if self.features else _feature_choices(task)
        decoders = (self.decoder,) if self.decoder else SELECTED_DECODERS
        if "valid" not in task.part_names:
            features, decoders = features[:1], decoders[:1]
        for one, other in product(features, decoders):
            yield dataclasses.replace(self, features=one, decoder=other)

    def _fit_one(self, task: NodeTask | TypedLinkTask, seed: int, device: str) -> Any:
        from trueedge.tasks import NodeTask
        from trueedge.training.loop import seeded
        from trueedge.training.typed.inputs import TypedInputs
        from trueedge.training.typed.train import train_classes, train_links

        chosen = {"method": self.name, **self.settings()}
        schedule = self.schedule()
        if isinstance(task, NodeTask):
            inputs = TypedInputs.of(task.graph, device, task.target)
            with seeded(seed, device):
                model = self.build(task, inputs, task.num_classes)
            return train_classes(model, task, inputs, schedule, seed, device, chosen)
        inputs = TypedInputs.of(task.graph, device)
        with seeded(seed, device):
            encoder: Any = self.build(task, inputs, self.dim)
            decoder = self.link_decoder(task, encoder.out_dim)
            linked = self.link_model(task, inputs, encoder, decoder)
        return train_links(linked, task, inputs, schedule, seed, device, chosen)

    @abstractmethod
    def build(self, task: NodeTask | TypedLinkTask, inputs: TypedInputs, out: int) -> nn.Module:
        """Return the untrained model; all settings are filled in.

        For node classification, it gives logits of all nodes of the target type, (n, out). For links, it
        gives vectors of all nodes, and has their size as ``out_dim``.
        """

    def link_decoder(self, task: TypedLinkTask, dim: int) -> Decoder:
        """Return the untrained decoder of links between nodes with vectors of a size."""
        from trueedge.training.typed.decoders import Decoder

        return Decoder(self.decoder, task.relations, dim)

    def link_model(
        self, task: TypedLinkTask, inputs: TypedInputs, encoder: nn.Module, decoder: Decoder
    ) -> LinkModel:
        """Return the encoder and the decoder as one untrained model of links."""
        from trueedge.training.typed.train import LinkModel

        del task, inputs
        return LinkModel(encoder, decoder, getattr(self, "penalty", 0.0))

    def schedule(self) -> TypedSchedule:
        """Return the training schedule."""
        from trueedge.training.typed.train import TypedSchedule

        names = [field.name for field in dataclasses.fields(TypedSchedule)]
        chosen = {name: getattr(self, name) for name in names if getattr(self, name, None) is not None}
        return TypedSchedule(**{**chosen, "clip": 0.0})


def _feature_choices(task: Any) -> tuple[str, ...]:
    """Return the choices of features that differ for a task's graph."""
    graph: HeteroGraph | None = task.graph
    # Data of another kind is refused when the method is fitted.
    if graph is None or getattr(task, "data", "typed") != "typed":
        return FEATURES
    having = [number for number, table in enumerate(graph.features) if table is not None]
    target = getattr(task, "target", None)
    if not having:
        return FEATURES[2:]
    if having == [target]:
        return ("target", "one-hot")
    return FEATURES if target in having else ("all", "one-hot")


def _missing_features(task: Any, chosen: str) -> str:
    """Say why a choice of features is the same as ``one-hot``; empty if it is not."""
    graph: HeteroGraph | None = task.graph
    if graph is None or task.data != "typed":
        return ""
    target: int | None = getattr(task, "target", None)
    if chosen in ("target", "target-only") and target is None:
        return "links have no target type, so no node keeps its features"
    if chosen in FEATURES[:2] and all(table is None for table in graph.features):
        return f"{task.dataset} has no features"
    if chosen == "target" and target is not None and graph.features[target] is None:
        return f"nodes of type {graph.node_types[target]!r} have no features"
    return ""


def _loss(scorer: Any) -> float:
    """Return the validation value of a trained scorer, lower is better."""
    history = scorer.history
    if history.best is None:
        return float(history.losses[-1])
    return float(-history.best if history.higher_is_better else history.best)


@dataclass(frozen=True)
class HasFixedNegatives(TypedMethod):
    """A method whose training negatives may be drawn once."""

    fixed_negatives: bool = setting(
        False,
        "draw training negatives once, and repeat the batches in the same order, as HGB does for links",
        only="typed-links",
    )


@dataclass(frozen=True)
class HasRedrawnValidation(TypedMethod):
    """A method whose validation loss of links may be that of other negatives at each check."""

    redraw_valid: bool = setting(
        False,
        "draw other negatives for the validation loss at each check, as the published code for links",
        only="typed-links",
    )
