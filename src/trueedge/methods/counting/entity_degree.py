"""Entity degree: every query gets the same answers, the entities with the most triples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.methods.counting.baseline import Baseline


@dataclass(frozen=True)
class EntityDegree(Baseline):
    """Score an entity by the number of training triples it is in, whatever the query.

    A model that is no better has learned popularity alone.
    """

    name: ClassVar[str] = "entity-degree"
    title: ClassVar[str] = "number of triples of an entity, whatever the query"
    citation: ClassVar[str] = (
        "Mohamed et al., Popularity Agnostic Evaluation of Knowledge Graph Embeddings, 2020"
    )

    def counts(self, graph: KnowledgeGraph, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the degree of every entity for each query, (b, entities)."""
        degrees = graph.in_degrees + graph.out_degrees
        return np.broadcast_to(degrees, (len(relations), graph.num_entities))
