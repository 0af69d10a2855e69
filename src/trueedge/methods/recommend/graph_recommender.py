"""The base class of recommenders that are trained by the training loop, and the settings they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.methods.memory import memory_errors
from trueedge.methods.method import Method, on_interactions, setting
from trueedge.scorers.learned import learned, single

if TYPE_CHECKING:
    import torch

    from trueedge.tasks import ItemTask, Task
    from trueedge.training.loop import Objective
    from trueedge.training.recommend.inputs import RecommendInputs
    from trueedge.training.recommend.model import ItemModel
    from trueedge.training.schedule import LoopSchedule

# The paper trains for up to 1,000 epochs. On these data sets, the best validation value comes within 100.
DEFAULTS: dict[str, Any] = {
    "learning_rate": 1e-3,
    "regularization": 1e-5,
    "dropout": 0.1,
    "dim": 64,
    "layers": 3,
    "batch_size": 8192,
    "epochs": 200,
    "evaluate_every": 5,
    "patience": 5,
    "pretrained": "bias",
}
# What the pretrained vectors are called in a saved model.
NAMES = ("pretrained_users", "pretrained_items")


def shared_setting(kind: type, help: str, **limits: Any) -> Any:
    """Return a setting whose default is in a method's ``defaults``, or else in ``DEFAULTS``."""
    return setting(None, help, kind=kind, **limits)


@dataclass(frozen=True)
class GraphRecommender(Method):
    """A recommender on the graph of users, items and entities, trained with the BPR loss.

    Lv et al., KDD 2021, Section 4.4.3, add the product of pretrained vectors to the score.
    """

    family: ClassVar[str] = "recommend"
    takes: ClassVar[tuple[str, ...]] = ("interactions",)
    # The method's own defaults: they override DEFAULTS.
    defaults: ClassVar[Mapping[str, Any]] = {}

    learning_rate: float = shared_setting(
        float, "Adam's learning rate", low=1e-8, high=10.0, search=(1e-2, 1e-3, 1e-4)
    )
    regularization: float = shared_setting(
        float, "weight of the squared norm of the vectors of a batch", low=0.0, high=10.0, search=(1e-4, 1e-5)
    )
    dim: int = shared_setting(
        int, "size of the vectors of users and entities", low=1, high=8192, search=(32, 64)
    )
    batch_size: int = shared_setting(int, "interactions per step", low=1, high=1 << 30)
    epochs: int = shared_setting(int, "largest number of epochs", low=1, high=10**9)
    evaluate_every: int = shared_setting(int, "epochs between validation checks", low=1, high=10**9)
    patience: int = shared_setting(
        int, "validation checks without improvement before stopping", low=0, high=10**9
    )
    pretrained: str = shared_setting(
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

    def __post_init__(self) -> None:
        for name, value in {**DEFAULTS, **self.defaults}.items():
            if name in self.space() and getattr(self, name) is None:
                object.__setattr__(self, name, value)
        super().__post_init__()

    def fit(self, task: Task, seed: int = 0, device: str = "cpu") -> Any:
        """Train on the training interactions and select the best epoch on the validation part."""
        from trueedge.training.loop import check_device, seeded
        from trueedge.training.recommend.inputs import RecommendInputs
        from trueedge.training.recommend.train import train_items

        check_device(device)
        given = on_interactions(task, self.name)
        if self.knowledge == "needed" and given.graph.knowledge is None:
            raise InputError(f"{self.name} needs a knowledge graph of the items, and {task.dataset} has none")
        with memory_errors(self, task.dataset):
            vectors = self.first_vectors(given, seed, device)
            inputs = RecommendInputs(given.graph, device)
            with seeded(seed, device):
                model = self.build(given, inputs, vectors)
            chosen = {"method": self.name, **self.settings()}
            objective = self.objective(model, inputs)
            schedule = self.schedule()
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

        def vectors() -> dict[str, NDArray[np.float32]]:
            return dict(zip(NAMES, pretrained(task, seed, self.dim, self.pretrain_epochs), strict=True))

        sides = (task.graph.num_users, self.dim), (task.graph.num_items, self.dim)
        found = learned(vectors, **dict(zip(NAMES, sides, strict=True)))
        users, items = (torch.tensor(single(found[name]), device=device) for name in NAMES)
        return users, items

    @abstractmethod
    def build(
        self,
        task: ItemTask,
        inputs: RecommendInputs,
        pretrained: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> ItemModel:
        """Return the model in its first state."""

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
    """A recommender with layers and dropout, on interactions and, if there is one, a knowledge graph."""

    knowledge: ClassVar[str] = "used"

    layers: int = shared_setting(int, "number of layers", low=1, high=8, search=(1, 2, 3))
    dropout: float = shared_setting(float, "dropout rate", low=0.0, high=0.99, search=(0.0, 0.1))

    def sizes(self) -> list[int]:
        """Return the size of the first vectors and of each layer: every layer after the first is halved."""
        return [self.dim, *(max(1, self.dim >> number) for number in range(self.layers))]
