"""KGAT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.recommend.graph_recommender import LayeredRecommender

if TYPE_CHECKING:
    from trueedge.tasks import ItemTask
    from trueedge.training.loop import Objective
    from trueedge.training.recommend.inputs import RecommendInputs
    from trueedge.training.recommend.model import ItemModel


@dataclass(frozen=True)
class KGAT(LayeredRecommender):
    """Attention from vectors of relations, which a second loss learns from triples (TransR)."""

    name: ClassVar[str] = "kgat"
    title: ClassVar[str] = "KGAT: knowledge graph attention network"
    citation: ClassVar[str] = (
        "Wang, He, Cao, Liu and Chua, KGAT: Knowledge Graph Attention Network for Recommendation, 2019"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"pretrained": "input"}

    relation_dim: int = setting(64, "size of the vectors of relations", low=1, high=8192)
    triple_batch: int = setting(8192, "triples per step of the second loss", low=1, high=1 << 30)
    triple_loss: bool = setting(True, "learn from triples by a second loss")

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> ItemModel:
        """Return the model."""
        from trueedge.methods.recommend.models.kgat import KGATModel

        del task
        return KGATModel(inputs, self.sizes(), self.relation_dim, self.dropout, self.pretrained, pretrained)

    def objective(self, model: ItemModel, inputs: RecommendInputs) -> Objective:
        """Return both losses."""
        from trueedge.methods.recommend.models.kgat import KGATObjective

        triples = self.triple_batch if self.triple_loss else 0
        return KGATObjective(model, inputs, self.batch_size, self.sampling, self.regularization, triples)
