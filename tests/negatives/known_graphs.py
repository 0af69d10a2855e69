"""Graphs with positives and other known pairs, and what must hold for any negatives of theirs."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from trueedge.graph import Graph

Pair = tuple[int, int]


class Case(NamedTuple):
    """A graph, positives (some of them edges, some listed twice), and further known pairs."""

    graph: Graph
    positives: np.ndarray
    known: np.ndarray

    @property
    def taken(self) -> set[Pair]:
        """All pairs that may not be negatives, with ``u < v``."""
        return keys(self.graph.edges) | keys(self.positives) | keys(self.known)

    @property
    def free(self) -> list[Pair]:
        """All pairs that may."""
        n = self.graph.num_nodes
        return [(u, v) for u in range(n) for v in range(u + 1, n) if (u, v) not in self.taken]

    def partners(self, node: int) -> set[int]:
        """The nodes a node is known to be joined to."""
        return {v if u == node else u for u, v in self.taken if node in (u, v)}


def keys(pairs: np.ndarray) -> set[Pair]:
    return {(min(pair), max(pair)) for pair in np.asarray(pairs).reshape(-1, 2).tolist()}


def check_shared(negatives: np.ndarray, case: Case, count: int) -> None:
    """A shared set: so many, distinct as unordered pairs, never known, never a node with itself."""
    assert negatives.shape == (count, 2)
    assert negatives.dtype == np.int32
    assert (negatives[:, 0] != negatives[:, 1]).all()
    drawn = keys(negatives)
    assert len(drawn) == count
    assert not drawn & case.taken
    assert all(0 <= u < v < case.graph.num_nodes for u, v in drawn)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Anything from one node without edges to a complete graph, isolated nodes among it."""
    nodes = draw(st.integers(1, 13))
    density = draw(st.sampled_from([0.0, 0.1, 0.4, 0.8, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pairs = np.array([(u, v) for u in range(nodes) for v in range(u + 1, nodes)]).reshape(-1, 2)
    pairs = pairs[rng.random(len(pairs)) < density]
    role = rng.integers(0, 6, len(pairs))
    graph = Graph.from_edges(pairs[role <= 2], nodes)
    positives = turned(pairs[(role == 3) | (role == 2)], rng)
    if len(positives) and draw(st.booleans()):
        positives = np.concatenate([positives, positives[:1, ::-1]])
    known = turned(pairs[(role >= 4) | (role == 1)], rng)
    return Case(graph, positives, np.concatenate([known, known[:2]]))


def turned(pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The pairs in any order and direction."""
    pairs = rng.permutation(pairs)
    return np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])


def numbered_case() -> Case:
    """A case that is the same wherever and whenever it is made."""
    pairs = [(i, (7 * i + step) % 60) for i in range(60) for step in (3, 10, 29)]
    whole = Graph.from_edges(np.array(pairs), self_loops="drop", repeats="drop", name="numbered")
    edges = whole.edges
    return Case(whole.only_edges(edges[::2]), edges[1::4], edges[3::4])


def complete_but(nodes: int, *missing: Pair) -> Graph:
    """A complete graph without some edges."""
    pairs = [(u, v) for u in range(nodes) for v in range(u + 1, nodes) if (u, v) not in missing]
    return Graph.from_edges(np.array(pairs), nodes, name="dense")


def fingerprint(pairs: np.ndarray) -> str:
    return hashlib.sha256(pairs.astype("<i4").tobytes()).hexdigest()
