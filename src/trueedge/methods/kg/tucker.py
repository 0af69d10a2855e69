"""TuckER."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from trueedge.methods.kg.embedding import HasThreeDropouts
from trueedge.methods.method import setting
from trueedge.methods.trained import open_setting

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph
    from trueedge.training.triples import TripleModel


@dataclass(frozen=True)
class TuckER(HasThreeDropouts):
    """A core tensor, shared by all relations, turns head and relation into the query."""

    name: ClassVar[str] = "tucker"
    title: ClassVar[str] = "TuckER"
    citation: ClassVar[str] = (
        "Balažević, Allen and Hospedales, TuckER: Tensor Factorization for Knowledge Graph Completion, 2019"
    )
    defaults: ClassVar[Mapping[str, Any]] = {
        "learning_rate": 0.0005,
        "relation_dim": 200,
        "dropout_1": 0.3,
        "dropout_2": 0.4,
        "dropout_3": 0.5,
        "bias": False,
        "unit_entities": False,
    }

    relation_dim: int = open_setting(
        int, "size of the vectors of relations", low=1, high=8192, search=(50, 100, 200)
    )
    bias: bool = open_setting(bool, "add a bias of the tail to each score")
    unit_entities: bool = open_setting(bool, "scale the vectors of entities to length 1 before each step")
    core: str = setting(
        "xavier",
        "draw the core tensor from small normal numbers, or uniformly from -1 to 1 as TuckER's authors do,"
        " which takes many more steps",
        choices=("xavier", "uniform"),
    )

    def build(self, graph: KnowledgeGraph) -> TripleModel:
        """Return a model with a core tensor."""
        from trueedge.methods.kg.models.tucker import TuckERModel

        counts = graph.num_entities, 2 * graph.num_relations
        sizes = self.dim, self.relation_dim
        return TuckERModel(*counts, *sizes, self.dropouts, self.bias, self.unit_entities, self.core)
