"""Small typed graphs, and edges as plain tuples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueedge.graph.typed import HeteroGraph, Relation


class Edge(NamedTuple):
    """An edge of a relation; ``relation`` counts relations, then reverses without a relation of their own."""

    relation: int
    source: int
    target: int


def tiny_graph() -> HeteroGraph:
    """Return nine nodes of three types.

    ``writes`` and ``written by`` are the reverses of each other, ``in`` has none, ``cites`` has no edges, and
    so nodes of the last type receive nothing but the reverse of nothing; node 3 has no edges at all.
    """
    writes = [(0, 4), (0, 5), (1, 4), (2, 6)]
    inside = [(4, 7), (5, 7), (6, 7)]
    rng = np.random.default_rng(0)
    return HeteroGraph(
        node_types=("author", "paper", "venue"),
        starts=np.array([0, 4, 7, 9]),
        relations=(
            Relation("writes", 0, 1),
            Relation("written by", 1, 0),
            Relation("in", 1, 2),
            Relation("cites", 1, 1),
        ),
        edges=tuple(
            np.array(sorted(pairs), np.int32).reshape(-1, 2)
            for pairs in (writes, [(v, u) for u, v in writes], inside, [])
        ),
        features=(
            rng.normal(size=(4, 6)).astype(np.float32),
            None,
            rng.normal(size=(2, 3)).astype(np.float32),
        ),
        name="tiny",
    )


def one_relation() -> HeteroGraph:
    """Return four nodes of one type, one of them without edges."""
    pairs = [(0, 1), (0, 2), (1, 0), (2, 1)]
    return HeteroGraph(
        node_types=("item",),
        starts=np.array([0, 4]),
        relations=(Relation("to", 0, 0),),
        edges=(np.array(pairs, np.int32),),
        features=(np.eye(4, dtype=np.float32),),
        name="one relation",
    )


def plain_edges(relations) -> list[Edge]:
    """Return all edges of relations (of ``TypedInputs.typed`` or of ``RelationRows``), one by one."""
    return [
        Edge(number, int(source), int(target))
        for number, one in enumerate(relations)
        for source, target in zip(one.source, one.target, strict=True)
    ]
