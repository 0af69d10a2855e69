"""ConvE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.errors import InputError
from trueedge.methods.kg.embedding import EmbeddingModel, HasThreeDropouts
from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class ConvE(HasThreeDropouts):
    """A convolution over the vectors of head and relation, each laid out as an image, makes the query."""

    name: ClassVar[str] = "conve"
    title: ClassVar[str] = "ConvE"
    citation: ClassVar[str] = (
        "Dettmers, Minervini, Stenetorp and Riedel, Convolutional 2D Knowledge Graph Embeddings, 2018"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "dropout_1": 0.2,
        "dropout_2": 0.2,
        "dropout_3": 0.3,
        "unit_entities": False,
    }

    height: int = setting(20, "rows of a vector's image; dim is a multiple", low=1, high=8192)
    filters: int = setting(32, "number of 3 x 3 filters", low=1, high=4096)
    unit_entities: bool = open_setting(bool, "scale the vectors of entities to length 1 before each step")

    def check(self) -> None:
        """Refuse a vector that makes no image."""
        check_image(self, self.height)

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a convolutional model."""
        from trueedge.methods.kg.models.conve import ConvEModel

        counts = graph.num_entities, 2 * graph.num_relations
        return ConvEModel(*counts, self.dim, self.height, self.filters, self.dropouts, self.unit_entities)


def check_image(method: EmbeddingModel, height: int) -> None:
    """Refuse a dimension that cannot be laid out for 3 x 3 filters."""
    if method.dim % height or method.dim < 3 * height or height < 2:
        raise InputError(
            f"{method.name}: dim must be height times 3 or more, and height 2 or more; got dim {method.dim}"
            f" and height {height}"
        )
