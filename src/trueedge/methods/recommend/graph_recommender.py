"""The base class of recommenders that are trained by the training loop, and the settings they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from trueedge.errors import InputError
from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_interactions, setting
from trueedge.methods.published_settings import published_settings
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    import torch

    from trueedge.tasks import ItemTask, Task
    from trueedge.training.loop import Objective
    from trueedge.training.recommend.inputs import RecommendInputs
    from trueedge.training.recommend.model import ItemModel
    from trueedge.training.schedule import LoopSchedule

DEFAULTS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "regularization": 1e-5,
    "dropout": 0.1,
    "dim": 64,
    "layers": 3,
    "batch_size": 8192,
    "epochs": 1000,
    "evaluate_every": 10,
    "patience": 10,
    "pretrained": "bias",
}


@dataclass(frozen=True)
class GraphRecommender(Method):
    """A recommender on the graph of users, items and entities, trained with the BPR loss.

    Lv et al., KDD 2021, Section 4.4.3, add the product of pretrained vectors to the score. Settings that are
    published for no data set are filled in with defaults.
    """

    family: ClassVar[str] = "recommend"
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    needs_knowledge: ClassVar[bool] = False
    # The method's own defaults: they override DEFAULTS, and published settings override them.
    defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = open_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(1e-2, 1e-3, 1e-4)
    )
    regularization: float = open_setting(
        float, "weight of the squared norm of the vectors of a batch", low=0.0, high=10.0, search=(1e-4, 1e-5)
    )
    dim: int = open_setting(
        int, "size of the vectors of users and entities", low=1, high=8192, search=(32, 64)
    )
    batch_size: int = open_setting(int, "interactions per step", low=1, high=1 << 30)
    epochs: int = open_setting(int, "largest number of epochs", low=1, high=10**9)
    evaluate_every: int = open_setting(int, "epochs between validation checks", low=1, high=10**9)
    patience: int = open_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    pretrained: str = open_setting(
        str,
        "vectors of BPR-MF: their product is added to the score (bias), they are the first vectors of users"
        " and items (input), or there are none",
        choices=("bias", "input", "none"),
    )
    pretrain_epochs: int = setting(200, "largest number of epochs of BPR-MF", low=1, high=10**6)
    sampling: str = setting(
        "users",
        "what an epoch goes through: all interactions, or as many random users with an item each",
        choices=("interactions", "users"),
    )
    select: str = setting("", "validation metric for model selection; empty: the task's headline metric")

    def for_task(self, task: Task) -> Self:
        """Return this method with every setting filled in."""
        return self.filled_in({**DEFAULTS, **self.defaults, **published_settings(self.name, task)})

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> Any:
        """Train on the training interactions and select the best epoch on the validation part."""
        from trueedge.training.loop import check_device, seeded
        from trueedge.training.recommend.inputs import RecommendInputs
        from trueedge.training.recommend.train import train_items

        check_device(device)
        given = on_interactions(task, self.name)
        if self.needs_knowledge and given.graph.knowledge is None:
            raise InputError(f"{self.name} needs a knowledge graph of the items, and {task.dataset} has none")
        filled = self.for_task(task)
        with memory_errors(self.name, task.dataset):
            vectors = filled.first_vectors(given, seed, device)
            inputs = RecommendInputs(given.graph, device)
            with seeded(seed, device):
                model = filled.build(given, inputs, vectors)
            chosen = {"method": self.name, **filled.settings()}
            objective = filled.objective(model, inputs)
            schedule = filled.schedule()
            return train_items(
                model, given, inputs, objective, schedule, self.select or None, seed, device, chosen
            )

    def first_vectors(
        self, task: ItemTask, seed: int, device: str
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the vectors of BPR-MF, float32 (users, dim) and (items, dim), or None."""
        if self.pretrained == "none":
            return None
        import torch

        from trueedge.methods.recommend.bpr_mf import pretrained

        users, items = pretrained(task, seed, self.dim, self.pretrain_epochs)
        return torch.tensor(users, device=device), torch.tensor(items, device=device)

    @abstractmethod
    def build(
        self,
        task: ItemTask,
        inputs: RecommendInputs,
        pretrained: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> ItemModel:
        """Return the model in its first state; all settings are filled in."""

    def objective(self, model: ItemModel, inputs: RecommendInputs) -> Objective:
        """Return what is minimised."""
        from trueedge.training.recommend.objective import RankingObjective

        del model
        return RankingObjective(inputs, self.batch_size, self.sampling, self.regularization)

    def schedule(self) -> LoopSchedule:
        """Return the training schedule."""
        from trueedge.training.schedule import LoopSchedule

        return LoopSchedule(
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            evaluate_every=self.evaluate_every,
            patience=self.patience,
            clip=0.0,
        )


@dataclass(frozen=True)
class LayeredRecommender(GraphRecommender):
    """A recommender with layers and dropout."""

    layers: int = open_setting(int, "number of layers", low=1, high=8, search=(1, 2, 3))
    dropout: float = open_setting(float, "dropout rate", low=0.0, high=0.99, search=(0.0, 0.1))

    def sizes(self) -> list[int]:
        """Return the size of the first vectors and of each layer: every layer after the first is halved."""
        return [self.dim, *(max(1, self.dim >> number) for number in range(self.layers))]
