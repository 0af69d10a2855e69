"""Small interactions with a knowledge graph for tests."""

from __future__ import annotations

import numpy as np

from trueedge.graph import KnowledgeGraph
from trueedge.graph.interactions import Interactions


def planted(users: int = 64, items: int = 80, groups: int = 8, each: int = 8, seed: int = 0) -> Interactions:
    """Return users who like items of one genre, and a knowledge graph that knows the genres.

    Relation 0 leads from an item to its genre, relation 1 to a studio that says nothing.
    """
    rng = np.random.default_rng(seed)
    genre = np.arange(items) % groups
    pairs = []
    for user in range(users):
        liked = np.flatnonzero(genre == user % groups)
        mostly = rng.choice(liked, each - 1, replace=False)
        other = rng.choice(np.setdiff1d(np.arange(items), liked), 1)
        pairs += [(user, item) for item in (*mostly, *other)]
    facts = [(item, 0, items + genre[item]) for item in range(items)]
    facts += [(item, 1, items + groups + rng.integers(6)) for item in range(items)]
    graph = KnowledgeGraph.from_triples(np.array(facts), items + groups + 6, 2)
    return Interactions.from_pairs(np.array(pairs), users, items, knowledge=graph, name="planted")


def tangled(seed: int = 0, users: int = 7, items: int = 9, entities: int = 14) -> Interactions:
    """Return random interactions whose knowledge graph has every oddity.

    Items are joined with items and with themselves, two entities by several relations or in both directions,
    and the last item has no neighbours.
    """
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(rng.random((users, items)) < 0.35)
    pairs = np.unique(np.concatenate([pairs, [[0, 0], [users - 1, items - 1]]]), axis=0)
    ends = np.delete(np.arange(entities), items - 1)
    facts = np.column_stack([rng.choice(ends, 40), rng.integers(0, 3, 40), rng.choice(ends, 40)])
    odd = [(0, 0, 0), (0, 0, 10), (0, 1, 10), (10, 1, 0), (0, 2, 10), (1, 0, 2), (2, 0, 1)]
    facts = np.unique(np.concatenate([facts, odd]), axis=0)
    graph = KnowledgeGraph.from_triples(facts, entities, 3)
    return Interactions.from_pairs(pairs, users, items, knowledge=graph, name="tangled")
