"""KGAT-: KGAT without what turned out to be redundant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.recommend.graph_recommender import LayeredRecommender

if TYPE_CHECKING:
    from trueedge.tasks import ItemTask
    from trueedge.training.recommend.inputs import RecommendInputs
    from trueedge.training.recommend.model import ItemModel


@dataclass(frozen=True)
class KGATMinus(LayeredRecommender):
    """Graph attention on users and entities with pretrained vectors, without relations and auxiliary loss."""

    name: ClassVar[str] = "kgat-minus"
    title: ClassVar[str] = "KGAT without relations and without its loss of triples"
    citation: ClassVar[str] = (
        "Lv, Ding, Liu, Chen, Feng, He, Zhou, Jiang, Dong and Tang, Are We Really Making Much Progress?"
        " Revisiting, Benchmarking, and Refining Heterogeneous Graph Neural Networks, 2021"
    )

    heads: int = setting(1, "attention heads of a layer", low=1, high=1024)
    slope: float = setting(0.01, "slope of LeakyReLU for negative numbers", low=0.0, high=1.0)

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> ItemModel:
        """Return the model."""
        from trueedge.methods.recommend.models.attention import AttentionModel
        from trueedge.methods.typed.models.attention_layer import AttentionShape

        del task
        shape = AttentionShape(self.slope, self.dropout, self.dropout)
        return AttentionModel(
            inputs, self.sizes(), self.heads, shape, False, 0.0, True, self.pretrained, pretrained
        )
