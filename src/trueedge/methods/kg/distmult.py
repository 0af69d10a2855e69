"""DistMult."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import HasQueryDropout

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class DistMult(HasQueryDropout):
    """The sum of the products of head, relation and tail. Inverse relations have vectors of their own."""

    name: ClassVar[str] = "distmult"
    title: ClassVar[str] = "DistMult"
    citation: ClassVar[str] = (
        "Yang, Yih, He, Gao and Deng, Embedding Entities and Relations for Learning and Inference in"
        " Knowledge Bases, 2015"
    )
    defaults: ClassVar[Mapping[str, Any]] = {"learning_rate": 0.005, "dropout": 0.3}

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model of products."""
        from trueedge.methods.kg.models.bilinear import DistMultModel

        return DistMultModel(graph.num_entities, 2 * graph.num_relations, self.dim, self.dropout)
