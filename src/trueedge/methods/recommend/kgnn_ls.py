"""KGNN-LS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.recommend.kgcn import KGCN

if TYPE_CHECKING:
    from trueedge.methods.recommend.models.kgcn import KGCNModel
    from trueedge.tasks import ItemTask
    from trueedge.training.loop import Objective
    from trueedge.training.recommend.inputs import RecommendInputs


@dataclass(frozen=True)
class KGNNLS(KGCN):
    """KGCN whose weights of relations must also predict a user's items from items nearby.

    Each item of a batch gets a label by two steps of label propagation in the knowledge graph of the user,
    without its own label; the cross-entropy with the true label is added to the loss. The paper propagates
    until nothing changes, the published code as many steps as there are layers; but with one step, items that
    are joined through entities say nothing about each other. The published code takes the predicted label for
    a logit; here it is a probability, as in the paper.
    """

    name: ClassVar[str] = "kgnn-ls"
    title: ClassVar[str] = "KGNN-LS: KGCN with label smoothness"
    citation: ClassVar[str] = (
        "Wang, Zhang, Zhang, Leskovec, Zhao, Li and Wang, Knowledge-aware Graph Neural Networks with Label"
        " Smoothness Regularization for Recommender Systems, 2019"
    )

    ls_weight: float = setting(
        0.1, "weight of the label smoothness loss", low=0.0, high=1000.0, search=(0.1, 0.5, 1.0)
    )

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> KGCNModel:
        """Return the model, with the labels that it must predict."""
        import torch

        from trueedge.training.recommend.label_smoothness import LabelSmoothness

        model = super().build(task, inputs, pretrained)
        # Drawn here, where torch's random numbers depend on the seed.
        model.smoothness = LabelSmoothness(inputs, int(torch.randint(1 << 62, ())))
        return model

    def objective(self, model: Any, inputs: RecommendInputs) -> Objective:
        """Return what is minimised."""
        from trueedge.training.recommend.label_smoothness import SmoothnessObjective

        shared = (inputs, self.batch_size, self.sampling, self.regularization)
        return SmoothnessObjective(*shared, model.smoothness, self.ls_weight)
