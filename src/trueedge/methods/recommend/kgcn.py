"""KGCN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.method import setting
from trueedge.methods.recommend.graph_recommender import GraphRecommender, shared_setting

if TYPE_CHECKING:
    from trueedge.methods.recommend.models.kgcn import KGCNModel
    from trueedge.tasks import ItemTask
    from trueedge.training.recommend.inputs import RecommendInputs


@dataclass(frozen=True)
class KGCN(GraphRecommender):
    """Items described by their neighbours in the knowledge graph, weighted by what relations mean to a user.

    The published code samples a few neighbours of each entity; here all of them count, exactly. Lv et al.,
    KDD 2021, Appendix C.13, use the sum aggregator with vectors of size 64 and one layer of size 48, and
    found more layers worse. They do not say how a user is compared with 48 numbers: here a linear map brings
    the vector of a user to the size of the layer. With ``concat``, an item is its first vector and its state
    side by side, as in KGAT: 64 + 48 numbers are as many as KGAT's 64 + 32 + 16. With ``out_dim`` equal to
    ``dim``, ``concat`` off and ``pretrained`` none, the model is that of Wang et al., WWW 2019.
    """

    name: ClassVar[str] = "kgcn"
    title: ClassVar[str] = "KGCN: neighbours of items, weighted for each user"
    citation: ClassVar[str] = (
        "Wang, Zhao, Xie, Li and Guo, Knowledge Graph Convolutional Networks for Recommender Systems, 2019"
    )
    knowledge: ClassVar[str] = "needed"
    # BPR-MF has fitted the training part already: with less regularization, validation scores fall from the
    # first epochs on.
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 5e-4, "regularization": 0.1}

    regularization: float = shared_setting(
        float,
        "weight of the squared norm of the vectors of a batch",
        low=0.0,
        high=10.0,
        search=(1e-1, 1e-2, 1e-3),
    )
    layers: int = setting(1, "number of layers", low=1, high=2, search=(1, 2))
    out_dim: int = setting(48, "size of the state of an item", low=1, high=8192)
    concat: bool = setting(False, "score with the first vector of an item beside its state")

    def build(self, task: ItemTask, inputs: RecommendInputs, pretrained: Any) -> KGCNModel:
        """Return the model."""
        from trueedge.methods.recommend.models.kgcn import KGCNModel

        del task
        return KGCNModel(inputs, self.sizes(), self.concat, self.pretrained, pretrained)

    def sizes(self) -> list[int]:
        """Return the size of the first vectors and of each layer."""
        return [self.dim] * self.layers + [self.out_dim]
