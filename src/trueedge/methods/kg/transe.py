"""TransE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.kg.embedding import HasMargin
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class TransE(HasMargin):
    """A relation is a translation: the tail should be near head plus relation."""

    name: ClassVar[str] = "transe"
    title: ClassVar[str] = "TransE"
    citation: ClassVar[str] = (
        "Bordes, Usunier, García-Durán, Weston and Yakhnenko, Translating Embeddings for Modeling"
        " Multi-relational Data, 2013"
    )
    norm: int = setting(1, "the norm of the distance", choices=(1, 2))

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model of translations."""
        from trueedge.methods.kg.models.translation import TransEModel

        return TransEModel(graph.num_entities, 2 * graph.num_relations, self.dim, self.margin, self.norm)
