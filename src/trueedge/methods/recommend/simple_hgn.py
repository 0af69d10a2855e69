"""Simple-HGN for recommendation."""

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
class SimpleHGNRecommender(LayeredRecommender):
    """Graph attention on users and entities with vectors of edge types, residuals and normalized outputs."""

    name: ClassVar[str] = "simple-hgn-rec"
    title: ClassVar[str] = "Simple-HGN on the graph of users, items and entities"
    citation: ClassVar[str] = (
        "Lv, Ding, Liu, Chen, Feng, He, Zhou, Jiang, Dong and Tang, Are We Really Making Much Progress?"
        " Revisiting, Benchmarking, and Refining Heterogeneous Graph Neural Networks, 2021"
    )

    heads: int = setting(1, "attention heads of a layer", low=1, high=1024)
    edge_dim: int = setting(64, "size of the vectors of edge types", low=1, high=8192)
    slope: float = setting(0.01, "slope of LeakyReLU for negative numbers", low=0.0, high=1.0)
    residual: bool = setting(True, "add a node's own state in each layer")
    beta: float = setting(0.05, "share of the previous layer's attention", low=0.0, high=1.0)
    edge_types: bool = setting(True, "let the type of an edge change its attention")
    normalize: bool = setting(True, "divide the vectors of each layer by their norm")

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> ItemModel:
        """Return the model."""
        from trueedge.methods.recommend.models.attention import AttentionModel
        from trueedge.methods.typed.models.attention_layer import AttentionShape

        del task
        kinds = 2 * inputs.num_relations + 1 if self.edge_types else 0
        shape = AttentionShape(self.slope, self.dropout, self.dropout, kinds, self.edge_dim)
        parts = (self.residual, self.beta, self.normalize)
        return AttentionModel(inputs, self.sizes(), self.heads, shape, *parts, self.pretrained, pretrained)
