"""KG-Mixup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.methods.kg.bias import BiasMethod
from trueedge.methods.kg.embedding import DEFAULTS, EmbeddingModel, HasThreeDropouts
from trueedge.methods.method import setting
from trueedge.methods.published_settings import published_settings
from trueedge.methods.trained import open_setting
from trueedge.randomness import derive

if TYPE_CHECKING:
    from trueedge.tasks import Task
    from trueedge.tasks.triples import TripleTask
    from trueedge.training.triples import TripleIndex, TripleObjective, TripleScorer


@dataclass(frozen=True)
class KGMixup(BiasMethod):
    """Mixes triples that are rare with others that have the same tail, and trains on the mixes too.

    Pre-train the embedding model; keep its vectors and draw all other weights anew; then train with synthetic
    triples and average the weights (Algorithm 1). Here the averaged model is validated, and its best epoch is
    kept. The published code validates other weights and keeps the last epoch: ``keep=last``. It also leaves
    out the tail's bias of synthetic triples (``tail_bias=False``), and always mixes with objective 1-k.
    """

    # The settings that the pre-training has of its own: `epochs` is `pretrain_epochs` there.
    pretrained: ClassVar[tuple[str, ...]] = (
        "epochs",
        "learning_rate",
        "decay",
        "label_smoothing",
        "objective",
        "batch_size",
        "evaluate_every",
        "patience",
    )
    suffix: ClassVar[str] = "kgmixup"
    addition: ClassVar[str] = "KG-Mixup"
    citation: ClassVar[str] = (
        "Shomer, Jin, Wang and Tang, Toward Degree Bias in Embedding-Based Knowledge Graph Completion, 2023"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "objective": "1-k",
        "average_from": 10,
        "threshold": 5,
        "samples": 5,
        "synthetic_weight": 1.0,
    }

    threshold: int = open_setting(
        int,
        "triples with a tail-relation degree below this are mixed (eta)",
        low=1,
        high=10**6,
        search=(3, 5, 10),
    )
    samples: int = open_setting(
        int, "most synthetic triples for each of them (k)", low=1, high=1000, search=(5, 10)
    )
    synthetic_weight: float = open_setting(
        float,
        "weight of synthetic triples in the loss (beta); 0: no triples are mixed",
        low=0.0,
        high=1000.0,
        search=(0.01, 0.1, 1.0),
    )
    alpha: float = setting(1.0, "shares of a mix are drawn from Beta(alpha, alpha)", low=0.01, high=100.0)
    partners: str = setting(
        "any",
        "mix with any other triple that has the same tail, or only with another head and another relation",
        choices=("any", "distinct"),
    )
    tail_bias: bool = setting(True, "add the tail's bias to scores of synthetic triples; published: false")
    pretrain_epochs: int = open_setting(
        int, "largest number of epochs of the pre-training", low=1, high=10**9
    )
    pretrain_learning_rate: float = open_setting(
        float, "learning rate of the pre-training", low=1e-8, high=10.0
    )
    pretrain_decay: float = open_setting(
        float, "factor of the learning rate per epoch of the pre-training", low=1e-3, high=1.0
    )
    pretrain_label_smoothing: float = open_setting(
        float, "label smoothing of the pre-training", low=0.0, high=0.99
    )
    pretrain_objective: str = open_setting(
        str, "objective of the pre-training", choices=("1-n", "1-k", "sampled")
    )
    pretrain_batch_size: int = open_setting(
        int, "queries (1-n) or triples (1-k, sampled) per batch of the pre-training", low=1, high=1 << 30
    )
    pretrain_evaluate_every: int = open_setting(
        int, "epochs between validation checks of the pre-training", low=1, high=10**9
    )
    pretrain_patience: int = open_setting(
        int, "validation checks without improvement before the pre-training stops", low=0, high=10**9
    )

    @classmethod
    def fitting(cls, model: type[EmbeddingModel]) -> type[BiasMethod]:
        """Return the class with dropout rates of the pre-training for a model that has three of them."""
        return KGMixupOfThreeDropouts if issubclass(model, HasThreeDropouts) else cls

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in.

        The pre-training is that of the embedding model alone, except for what the user has set.
        """
        alone = {**DEFAULTS, **self.base.defaults, **published_settings(self.base.name, task)}
        first = {}
        for key in self.pretrained:
            if getattr(self, f"pretrain_{key}") is None:
                own = getattr(self, key)
                first[f"pretrain_{key}"] = alone[key] if own is None else own
        return replace(super().for_task(task), **first)

    def train(self, task: TripleTask, seed: int, device: str) -> TripleScorer:
        """Pre-train a model, keep its vectors, and train a new one from them."""
        import torch

        from trueedge.training import seeded
        from trueedge.training.triples import train_triples

        first = self.pretrain(task, derive(seed, "pre-training"), device)
        with seeded(seed, device):
            model = self.build(task.graph)
        model = model.to(device)
        with torch.no_grad():
            model.entities.copy_(first.model.entities)
            model.relations.copy_(first.model.relations)
        chosen = {"method": self.name, **self.settings()}
        scorer = train_triples(model, task, self.schedule(task), seed, device, self.make_objective, chosen)
        scorer.pretraining = first.history
        return scorer

    def pretrain(self, task: TripleTask, seed: int, device: str) -> TripleScorer:
        """Train the embedding model alone, and keep its best epoch."""
        from trueedge.training import Checkpoint, seeded, use_callbacks
        from trueedge.training.callbacks import current
        from trueedge.training.triples import train_triples

        changed = {key: getattr(self, f"pretrain_{key}") for key in self.pretrained}
        alone = replace(self, **changed)
        schedule = replace(alone.schedule(task), average_from=0, keep_last="valid" not in task.part_names)
        with seeded(seed, device):
            model = alone.build(task.graph)
        kept = current().checkpoint
        if kept is not None:
            kept = Checkpoint(kept.path.with_name(f"{kept.path.stem}-pretraining{kept.path.suffix}"))
        chosen = {"method": f"{self.name} pre-training", **self.settings()}
        with use_callbacks(current().progress, kept):
            return train_triples(model, task, schedule, seed, device, settings=chosen)

    def make_objective(self, index: TripleIndex) -> TripleObjective:
        """Return the objective with synthetic triples."""
        from trueedge.training.triples import Mixing, MixupObjective, make_objective

        objective = make_objective(index, self.schedule())
        if not self.synthetic_weight:
            return objective
        mixing = Mixing(
            threshold=self.threshold,
            samples=self.samples,
            alpha=self.alpha,
            weight=self.synthetic_weight,
            partners="distinct" if self.partners == "distinct" else "any",
            tail_bias=self.tail_bias,
        )
        return MixupObjective(objective, mixing)


@dataclass(frozen=True)
class KGMixupOfThreeDropouts(KGMixup):
    """KG-Mixup of a model with three dropout rates: the pre-training has its own."""

    pretrained: ClassVar[tuple[str, ...]] = (*KGMixup.pretrained, "dropout_1", "dropout_2", "dropout_3")

    pretrain_dropout_1: float = open_setting(
        float, "dropout rate of the input in the pre-training", low=0.0, high=0.99
    )
    pretrain_dropout_2: float = open_setting(
        float,
        "dropout rate of feature maps or of the relation's matrix in the pre-training",
        low=0.0,
        high=0.99,
    )
    pretrain_dropout_3: float = open_setting(
        float, "dropout rate of the output in the pre-training", low=0.0, high=0.99
    )
