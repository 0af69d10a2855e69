"""Small typed graphs for tests."""

from __future__ import annotations

import numpy as np
from scipy.sparse import random_array

from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.graph.typed_validation import sorted_edges


def small_graph(
    authors: int = 60, papers: int = 90, terms: int = 20, multi: bool = False, seed: int = 0
) -> HeteroGraph:
    """Return authors of three classes, their papers and the papers' terms; edges mostly stay in a class."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, authors, papers, terms]).astype(np.int64)
    classes = [rng.integers(0, 3, count) for count in (authors, papers, terms)]
    writes = _pairs(rng, classes[0], classes[1], 3) + starts[[0, 1]]
    has = _pairs(rng, classes[1], classes[2], 4) + starts[[1, 2]]
    cites = _pairs(rng, classes[1], classes[1], 2) + starts[1]
    cites = cites[cites[:, 0] != cites[:, 1]]
    pairs = (writes, writes[:, ::-1], has, cites)
    edges = tuple(sorted_edges(one, int(starts[-1]))[0] for one in pairs)
    relations = (
        Relation("author-paper", 0, 1),
        Relation("paper-author", 1, 0),
        Relation("paper-term", 1, 2),
        Relation("paper-cites-paper", 1, 1),
    )
    dense = rng.normal(size=(authors, 5)).astype(np.float32) + classes[0][:, None].astype(np.float32)
    sparse = random_array((papers, 30), density=0.1, format="csr", random_state=rng, dtype=np.float32)
    values = np.eye(3, dtype=np.bool_)[classes[0]] | (rng.random((authors, 3)) < 0.2)
    labels = Labels(
        0,
        np.arange(authors, dtype=np.int32),
        values if multi else classes[0].astype(np.int32),
        ("red", "green", "blue"),
        np.arange(authors) % 10 >= 3,
    )
    return HeteroGraph(
        ("author", "paper", "term"), starts, relations, edges, (dense, sparse, None), labels, name="small"
    )


def _pairs(rng: np.random.Generator, left: np.ndarray, right: np.ndarray, degree: int) -> np.ndarray:
    """Return links from each node on the left to nodes on the right, four of five times of its own class."""
    found = []
    for node, kind in enumerate(left):
        for _ in range(degree):
            same = np.flatnonzero(right == kind)
            choice = same if len(same) and rng.random() < 0.8 else np.arange(len(right))
            found.append((node, rng.choice(choice)))
    return np.array(found)
