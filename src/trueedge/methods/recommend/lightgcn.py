"""LightGCN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.recommend.graph_recommender import GraphRecommender, shared_setting

if TYPE_CHECKING:
    from trueedge.tasks import ItemTask
    from trueedge.training.recommend.inputs import RecommendInputs
    from trueedge.training.recommend.model import ItemModel


@dataclass(frozen=True)
class LightGCN(GraphRecommender):
    """Vectors of users and items, averaged over several steps of the graph of interactions."""

    name: ClassVar[str] = "lightgcn"
    title: ClassVar[str] = "LightGCN: vectors smoothed over the graph of users and items"
    citation: ClassVar[str] = (
        "He, Deng, Wang, Li, Zhang and Wang, LightGCN: Simplifying and Powering Graph Convolution Network for"
        " Recommendation, 2020"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "pretrained": "none",
        "learning_rate": 5e-3,
        "regularization": 1e-4,
        "batch_size": 2048,
    }

    layers: int = shared_setting(int, "number of steps", low=1, high=8, search=(1, 2, 3))

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> ItemModel:
        """Return the model."""
        from trueedge.methods.recommend.models.lightgcn import LightGCNModel

        del task
        return LightGCNModel(inputs, self.dim, self.layers, self.pretrained, pretrained)
