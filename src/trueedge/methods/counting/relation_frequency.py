"""Relation frequency: the answers that a relation has most often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.methods.counting.baseline import Baseline


@dataclass(frozen=True)
class RelationFrequency(Baseline):
    """Score an entity by the number of training triples in which it answers the relation: (?, r, entity).

    The entity of the query is not looked at. This count is the tail-relation degree.
    """

    name: ClassVar[str] = "relation-frequency"
    title: ClassVar[str] = "how often an entity answers the relation, whatever the other entity"
    citation: ClassVar[str] = (
        "Shomer et al., Toward Degree Bias in Embedding-Based Knowledge Graph Completion, 2023"
    )

    def counts(self, graph: KnowledgeGraph, relations: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tail-relation degree of every entity for each query, (b, entities)."""
        found, rows = np.unique(relations, return_inverse=True)
        table = np.zeros((len(found), graph.num_entities), dtype=np.int64)
        _, middle, tails = graph.both_directions.T
        place = np.minimum(np.searchsorted(found, middle), len(found) - 1)
        asked = found[place] == middle
        np.add.at(table, (place[asked], tails[asked]), 1)
        return table[rows.reshape(-1)]
