"""PageRank rows that are kept give the same bits as rows that are computed again."""

from __future__ import annotations

import numpy as np

import trueedge as te
from trueedge.kernels.walks.kept_rows import KeptRows
from trueedge.kernels.walks.push import push_values


def test_kept_rows_give_the_bits_of_the_push() -> None:
    rng = np.random.default_rng(0)
    kept = KeptRows()
    for seed in (0, 1, 0):
        edges = np.random.default_rng(seed).integers(0, 60, (150, 2))
        graph = te.Graph.from_edges(edges, num_nodes=60, self_loops="drop", repeats="drop")
        for _ in range(3):
            sources = np.sort(rng.choice(60, size=20, replace=False)).astype(np.int64)
            starts = np.arange(0, 101, 5)
            targets = rng.integers(0, 60, 100)
            asked = (graph.indptr, graph.indices, sources, starts, targets)
            found = kept.values((graph.hash, 0.15, 1e-6), *asked)
            assert np.array_equal(found, push_values(*asked, 0.15, 1e-6))


def test_another_teleport_probability_has_other_rows() -> None:
    graph = te.load("karate")
    pairs = graph.edges.astype(np.int64)
    one, other = (te.methods.create("ppr", {"alpha": alpha}) for alpha in (0.15, 0.5))
    first = one.score(graph, pairs)
    assert not np.allclose(first, other.score(graph, pairs))
    assert np.array_equal(first, one.score(graph, pairs))
