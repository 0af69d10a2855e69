"""What must hold for any split of a graph."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import strategies as st

from trueedge.graph import Graph
from trueedge.splits import Split


def keys(pairs: np.ndarray) -> list[tuple[int, int]]:
    return [(min(pair), max(pair)) for pair in np.asarray(pairs).tolist()]


def check(split: Split, graph: Graph) -> None:
    """Parts are disjoint, together they are the graph's edges, and train is on the same nodes."""
    parts = [keys(split.train.edges), keys(split.valid), keys(split.test)]
    joined = sum(len(part) for part in parts)
    assert joined == graph.num_edges
    assert set().union(*parts) == set(keys(graph.edges))
    assert split.train.num_nodes == graph.num_nodes
    assert split.train.features is graph.features
    assert split.train.labels == graph.labels
    assert split.train.name == graph.name
    for part in (split.valid, split.test, split.train.edges):
        assert part.dtype == np.int32
        assert part.ndim == 2


@st.composite
def graphs(draw: st.DrawFn, min_edges: int = 1) -> Graph:
    """Small graphs of any density, with isolated nodes and several components."""
    nodes = draw(st.integers(2, 14))
    pairs = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=min_edges, unique=True))
    return Graph.from_edges(np.array(chosen).reshape(-1, 2), nodes)


def numbered_graph(nodes: int = 60) -> Graph:
    """A graph that is the same wherever and whenever it is made."""
    pairs = [(i, (7 * i + step) % nodes) for i in range(nodes) for step in (3, 10, 29)]
    return Graph.from_edges(np.array(pairs), nodes, self_loops="drop", repeats="drop", name="numbered")


def fingerprint(split: Split) -> str:
    """A hash of the parts alone, so that it tells of a change in drawing and of nothing else."""
    digest = hashlib.sha256()
    for part in (split.train.edges, split.valid, split.test):
        digest.update(part.astype("<i4").tobytes())
    return digest.hexdigest()
