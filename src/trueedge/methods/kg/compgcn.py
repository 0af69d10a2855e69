"""CompGCN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from trueedge.methods.kg.conve import check_image
from trueedge.methods.kg.embedding import HasThreeDropouts
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class CompGCN(HasThreeDropouts):
    """Messages that combine entities and relations; DistMult or ConvE scores triples."""

    name: ClassVar[str] = "compgcn"
    title: ClassVar[str] = "CompGCN"
    citation: ClassVar[str] = (
        "Vashishth, Sanyal, Nitin and Talukdar, Composition-based Multi-Relational Graph Convolutional"
        " Networks, 2020"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "batch_size": 1024,
        "dropout_1": 0.2,
        "dropout_2": 0.2,
        "dropout_3": 0.3,
    }

    layers: int = setting(1, "number of layers", low=1, high=32, search=(1, 2))
    composition: str = setting(
        "corr",
        "how entity and relation are combined: difference (sub), product (mult), circular correlation (corr)",
        choices=("sub", "mult", "corr"),
    )
    decoder: str = setting("conve", "how triples are scored", choices=("distmult", "conve"))
    dropout: float = setting(
        0.1, "dropout rate of each layer's output", low=0.0, high=0.99, search=(0.1, 0.2, 0.3)
    )
    height: int = setting(20, "rows of a vector's image for ConvE; dim is a multiple", low=1, high=8192)
    filters: int = setting(32, "number of 3 x 3 filters of ConvE", low=1, high=4096)

    def check(self) -> None:
        """Refuse a vector that makes no image."""
        if self.decoder == "conve":
            check_image(self, self.height)

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a graph network with its decoder."""
        from trueedge.methods.kg.models.conve import ConvolutionalQuery
        from trueedge.methods.kg.models.relational import Arcs, CompGCNModel, Composition

        counts = graph.num_entities, 2 * graph.num_relations
        arcs = Arcs(graph.both_directions, *counts, by_relation=False)
        decoder = None
        if self.decoder == "conve":
            decoder = ConvolutionalQuery(self.dim, self.height, self.filters, self.dropouts)
        composition = cast("Composition", self.composition)
        return CompGCNModel(arcs, *counts, self.dim, self.layers, composition, decoder, self.dropout)
