"""How far apart the vectors are that KG-Mixup mixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from trueedge.errors import InputError
from trueedge.training.triples.index import tail_relation_degrees

if TYPE_CHECKING:
    from trueedge.graph.knowledge import KnowledgeGraph


class EmbeddingDistances(NamedTuple):
    """The mean distances of heads and of relations."""

    head: float
    relation: float


def mean_embedding_distances(
    graph: KnowledgeGraph, entity_table: object, relation_table: object, threshold: int = 5
) -> EmbeddingDistances:
    """Return how far the vectors of rare triples are from those of other triples with the same tail.

    For each triple (in both directions) whose tail-relation degree is below a threshold: the mean Euclidean
    distance of its head's vector from those of all heads that occur with its tail, each head once, and
    likewise for relations. The results are the means over those triples. Shomer et al., Toward Degree Bias in
    Embedding-Based Knowledge Graph Completion, WWW 2023, Eq. 21 and 22 (4.21 and 4.22 in the thesis).

    Args:
        entity_table: a vector for each entity, array or tensor (entities, d).
        relation_table: a vector for each relation and inverse relation, array or tensor (2 relations, d).
        threshold: the tail-relation degree from which a triple does not count (eta).
    """
    rows = graph.both_directions.astype(np.int64)
    rows = rows[np.argsort(rows[:, 2], kind="stable")]
    low = tail_relation_degrees(rows) < threshold
    if not low.any():
        raise InputError(f"{graph.name} has no triple with a tail-relation degree below {threshold}")
    tables = [torch.as_tensor(table).detach().double() for table in (entity_table, relation_table)]
    ends = np.flatnonzero(np.r_[rows[1:, 2] != rows[:-1, 2], True]) + 1
    totals = np.zeros(2)
    for start, stop in zip(np.r_[0, ends[:-1]], ends, strict=True):
        chosen = low[start:stop]
        if not chosen.any():
            continue
        for column, table in enumerate(tables):
            ids, counts = np.unique(rows[start:stop, column][chosen], return_counts=True)
            others = np.unique(rows[start:stop, column])
            apart = torch.cdist(
                table[torch.from_numpy(ids).to(table.device)],
                table[torch.from_numpy(others).to(table.device)],
                compute_mode="donot_use_mm_for_euclid_dist",
            )
            totals[column] += float(counts @ apart.mean(dim=1).cpu().numpy())
    head, relation = totals / low.sum()
    return EmbeddingDistances(float(head), float(relation))
