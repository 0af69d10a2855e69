"""Rows that are kept give the same bits as rows that are computed again."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge as te
from trueedge.kernels.arrays.grouping import group_by
from trueedge.kernels.walks.katz import fill_katz_rows, katz_sums
from trueedge.kernels.walks.kept_rows import KeptRows
from trueedge.kernels.walks.push import fill_push_rows, push_values


def pushed(graph, sources, targets, alpha, eps) -> np.ndarray:
    keys, starts, order = group_by(sources, graph.num_nodes)
    values = np.empty(len(sources))
    values[order] = push_values(graph.indptr, graph.indices, keys, starts, targets[order], alpha, eps)
    return values


def katz(graph, sources, targets, beta) -> np.ndarray:
    return katz_sums(graph.indptr, graph.indices, np.column_stack([sources, targets]), beta)


@pytest.mark.parametrize("nodes", [15, pytest.param(60, marks=pytest.mark.compiled)])
@pytest.mark.parametrize(
    ("fill", "computed", "parameters"),
    [(fill_push_rows, pushed, (0.15, 1e-6)), (fill_katz_rows, katz, (0.02,))],
    ids=["push", "katz"],
)
def test_kept_rows_give_the_bits_of_the_kernel(fill, computed, parameters, nodes) -> None:
    rng = np.random.default_rng(0)
    kept = KeptRows(fill)
    for seed in (0, 1, 0):
        edges = np.random.default_rng(seed).integers(0, nodes, (5 * nodes // 2, 2))
        graph = te.Graph.from_edges(edges, num_nodes=nodes, self_loops="drop", repeats="drop")
        for _ in range(3):
            pairs = np.sort(rng.integers(0, nodes, (5 * nodes // 3, 2)), axis=1)
            sources, targets = pairs[:, 0].copy(), pairs[:, 1].copy()
            asked = (graph.hash, graph.indptr, graph.indices, sources, targets)
            assert np.array_equal(
                kept.values(*asked, *parameters), computed(graph, sources, targets, *parameters)
            )


def test_another_teleport_probability_has_other_rows() -> None:
    graph = te.load("karate")
    pairs = graph.edges.astype(np.int64)
    one, other = (te.methods.create("ppr", {"alpha": alpha}) for alpha in (0.15, 0.5))
    first = one.score(graph, pairs)
    assert not np.allclose(first, other.score(graph, pairs))
    assert np.array_equal(first, one.score(graph, pairs))
