"""R-GCN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import EmbeddingModel
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class RGCN(EmbeddingModel):
    """Messages along each relation, whose matrix is a sum of shared ones; DistMult scores triples."""

    name: ClassVar[str] = "rgcn"
    title: ClassVar[str] = "R-GCN"
    citation: ClassVar[str] = (
        "Schlichtkrull, Kipf, Bloem, van den Berg, Titov and Welling, Modeling Relational Data with Graph"
        " Convolutional Networks, 2018"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.005, "batch_size": 1024}

    layers: int = setting(2, "number of layers", low=1, high=32, search=(1, 2))
    bases: int = setting(4, "matrices that those of all relations are made of", low=1, high=1000)
    dropout: float = setting(
        0.2, "dropout rate of each layer's output", low=0.0, high=0.99, search=(0.0, 0.2, 0.4)
    )

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a graph network with DistMult."""
        from trueedge.methods.kg.models.relational import Arcs, RGCNModel

        counts = graph.num_entities, 2 * graph.num_relations
        arcs = Arcs(graph.both_directions, *counts, by_relation=True)
        return RGCNModel(arcs, *counts, self.dim, self.layers, self.bases, self.dropout)
