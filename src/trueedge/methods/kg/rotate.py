"""RotatE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trueedge.methods.kg.embedding import HasMargin, check_even

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class RotatE(HasMargin):
    """A relation is a rotation of complex numbers: the tail should be near the rotated head."""

    name: ClassVar[str] = "rotate"
    title: ClassVar[str] = "RotatE"
    citation: ClassVar[str] = (
        "Sun, Deng, Nie and Tang, RotatE: Knowledge Graph Embedding by Relational Rotation in Complex Space,"
        " 2019"
    )

    def check(self) -> None:
        """Refuse an odd dimension."""
        check_even(self)

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model of rotations."""
        from trueedge.methods.kg.models.translation import RotatEModel

        return RotatEModel(graph.num_entities, 2 * graph.num_relations, self.dim, self.margin)
