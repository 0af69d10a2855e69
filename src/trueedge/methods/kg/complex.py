"""ComplEx."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import HasQueryDropout, check_even

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class ComplEx(HasQueryDropout):
    """The sum of the products of complex vectors, with the tail's conjugate, so that direction matters."""

    name: ClassVar[str] = "complex"
    title: ClassVar[str] = "ComplEx"
    citation: ClassVar[str] = (
        "Trouillon, Welbl, Riedel, Gaussier and Bouchard, Complex Embeddings for Simple Link Prediction, 2016"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.005, "dropout": 0.3}

    def check(self) -> None:
        """Refuse an odd dimension."""
        check_even(self)

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model of complex products."""
        from trueedge.methods.kg.models.bilinear import ComplExModel

        return ComplExModel(graph.num_entities, 2 * graph.num_relations, self.dim, self.dropout)
