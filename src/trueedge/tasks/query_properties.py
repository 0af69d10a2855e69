"""What the queries of a knowledge graph are grouped by: side, relation, degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.graph.knowledge import KnowledgeGraph
from trueedge.graph.triples import query_keys
from trueedge.metrics.ranked import DEGREE_NAMES, degree_groups

# Relations that are shown by themselves; the others are one group.
MOST_RELATIONS = 11
#: A relation has several tails for each head if it has at least this many on average (Bordes et al. 2013).
SEVERAL = 1.5


def query_properties(
    graph: KnowledgeGraph, queries: NDArray[np.int64], targets: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the properties of some queries, an array (q,) each.

    Args:
        graph: the graph that they are about.
        queries: int64 (q, 2), entity and relation; relations from R on ask for heads.
        targets: int64 (q,), their answers.
    """
    relations = graph.num_relations
    inverse = queries[:, 1] >= relations
    names = np.array(graph.relations, dtype=np.str_)
    incoming, outgoing = graph.in_degrees[targets], graph.out_degrees[targets]
    degrees = graph.tail_relation_degrees(queries[:, 1], targets)
    return {
        "side": np.where(inverse, "head", "tail"),
        "relation category": relation_categories(graph)[queries[:, 1] % relations],
        "tail-relation degree": np.array(DEGREE_NAMES)[degree_groups(degrees)],
        "in-degree of the answer": np.where(inverse, outgoing, incoming),
        "out-degree of the answer": np.where(inverse, incoming, outgoing),
        "relation": _frequent(names[queries[:, 1] % relations]),
    }


def relation_categories(graph: KnowledgeGraph) -> NDArray[np.str_]:
    """Return ``1-1``, ``1-N``, ``N-1`` or ``N-N`` for each relation, str (R,).

    A relation is "to N" if a head has 1.5 or more tails on average (Bordes et al., Translating Embeddings for
    Modeling Multi-relational Data, NeurIPS 2013).
    """
    both, relations = graph.both_directions, graph.num_relations
    keys = np.unique(query_keys(both[:, 0], both[:, 1], relations))
    sources = np.bincount(keys % (2 * relations), minlength=2 * relations)
    counts = np.bincount(both[:, 1], minlength=2 * relations)
    several = counts >= SEVERAL * np.maximum(sources, 1)
    left, right = several[relations:], several[:relations]
    return np.char.add(np.where(left, "N-", "1-"), np.where(right, "N", "1"))


def _frequent(names: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return names, with those that are not among the most frequent ones under one name."""
    found, place, counts = np.unique(names, return_inverse=True, return_counts=True)
    if len(found) <= MOST_RELATIONS:
        return names
    kept = np.zeros(len(found), dtype=np.bool_)
    kept[np.argsort(-counts, kind="stable")[:MOST_RELATIONS]] = True
    return np.where(kept[place.reshape(-1)], names, "other relations")
