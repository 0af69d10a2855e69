"""RotatE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import EmbeddingModel, check_even
from trueedge.methods.method import setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class RotatE(EmbeddingModel):
    """A relation is a rotation of complex numbers: the tail should be near the rotated head."""

    name: ClassVar[str] = "rotate"
    title: ClassVar[str] = "RotatE"
    citation: ClassVar[str] = (
        "Sun, Deng, Nie and Tang, RotatE: Knowledge Graph Embedding by Relational Rotation in Complex Space,"
        " 2019"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.005,
        "objective": "sampled",
        "batch_size": 512,
        "label_smoothing": 0.0,
    }

    margin: float = setting(
        9.0, "a score is this minus the distance", low=0.0, high=1000.0, search=(6.0, 9.0, 12.0)
    )

    def check(self) -> None:
        """Refuse an odd dimension."""
        check_even(self)

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model of rotations."""
        from trueedge.methods.kg.models.translation import RotatEModel

        return RotatEModel(graph.num_entities, 2 * graph.num_relations, self.dim, self.margin)
