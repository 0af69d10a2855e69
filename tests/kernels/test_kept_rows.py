"""Rows that are kept are those that are computed again."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import trueedge as te
from trueedge.kernels.arrays.grouping import group_by
from trueedge.kernels.walks import side_by_side
from trueedge.kernels.walks.katz import fill_katz_rows, katz_sums
from trueedge.kernels.walks.kept_rows import KeptRows
from trueedge.kernels.walks.push import push_values
from trueedge.kernels.walks.side_by_side import LANES
from trueedge.kernels.walks.wide_push import fill_push_rows


def pushed(graph, sources, targets, alpha, eps) -> np.ndarray:
    keys, starts, order = group_by(sources, graph.num_nodes)
    values = np.empty(len(sources))
    values[order] = push_values(graph.indptr, graph.indices, keys, starts, targets[order], alpha, eps)
    return values


def katz(graph, sources, targets, beta) -> np.ndarray:
    return katz_sums(graph.indptr, graph.indices, np.column_stack([sources, targets]), beta)


# Without the compiler, pushes on larger graphs take minutes.
NODES = 15 if numba.config.DISABLE_JIT else 60


def random_graphs():
    for seed in (0, 1, 0):
        edges = np.random.default_rng(seed).integers(0, NODES, (3 * NODES // 2, 2))
        yield te.Graph.from_edges(edges, num_nodes=NODES, self_loops="drop", repeats="drop")


def asked_of(graph, rng):
    pairs = np.sort(rng.integers(0, NODES, (5 * NODES // 3, 2)), axis=1)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def test_kept_rows_give_the_bits_of_the_kernel() -> None:
    rng, kept = np.random.default_rng(0), KeptRows(fill_katz_rows)
    for graph in random_graphs():
        for _ in range(3):
            sources, targets = asked_of(graph, rng)
            found = kept.values(graph.hash, graph.indptr, graph.indices, sources, targets, 0.02)
            assert np.array_equal(found, katz(graph, sources, targets, 0.02))


@pytest.mark.parametrize(
    ("alpha", "eps"), [(0.15, 1e-6), (0.5, 1e-2), pytest.param(0.05, 1e-9, marks=pytest.mark.compiled)]
)
def test_pushes_side_by_side_are_those_of_one_source_but_for_the_order_of_sums(alpha, eps) -> None:
    rng, kept = np.random.default_rng(0), KeptRows(fill_push_rows)
    for graph in random_graphs():
        for _ in range(3):
            sources, targets = asked_of(graph, rng)
            found = kept.values(graph.hash, graph.indptr, graph.indices, sources, targets, alpha, eps)
            alone = pushed(graph, sources, targets, alpha, eps)
            assert np.array_equal(found > 0, alone > 0)
            np.testing.assert_allclose(found, alone, rtol=1e-13)


def test_a_row_does_not_depend_on_the_sources_beside_it() -> None:
    graph = next(random_graphs())
    together, alone = np.zeros((2, NODES, NODES))
    fill_push_rows(graph.indptr, graph.indices, np.arange(NODES), together, 0.15, 1e-7)
    for node in range(NODES):
        fill_push_rows(graph.indptr, graph.indices, np.array([node]), alone, 0.15, 1e-7)
    assert np.array_equal(together, alone)


@pytest.mark.compiled
def test_compiled_steps_are_the_plain_ones() -> None:
    graph = next(random_graphs())
    nodes, rng = graph.num_nodes, np.random.default_rng(1)
    shares, residual, estimate = rng.random((3, LANES * nodes))
    tables = [[residual.copy(), estimate.copy(), np.zeros(LANES * nodes)] for _ in range(2)]
    risen = [estimate.copy() for _ in range(2)]
    added = rng.random(2 * LANES)
    for node in range(nodes):
        row = (graph.indices, int(graph.indptr[node]), int(graph.indptr[node + 1]))
        steps = [
            step(*row, shares, node, *mine, 1.5, 0.85, 3.0)
            for step, mine in zip((one_push, side_by_side._plain_push_step), tables, strict=True)
        ]
        rises = [
            step(*row, mine, node, 0.1, added, node % 2)
            for step, mine in zip((one_rise, side_by_side._plain_rise_step), risen, strict=True)
        ]
        assert steps[0] == steps[1]
        assert rises[0] == rises[1]
    assert all(np.array_equal(one, other) for one, other in zip(*tables, strict=True))
    assert np.array_equal(*risen)


@numba.njit
def one_push(indices, start, end, shares, node, residual, estimate, following, threshold, kept, degree):
    return side_by_side.push_step(
        indices, start, end, shares, node, residual, estimate, following, threshold, kept, degree
    )


@numba.njit
def one_rise(indices, start, end, table, node, beta, added, kind):
    return side_by_side.rise_step(indices, start, end, table, node, beta, added, kind)


def test_another_teleport_probability_has_other_rows() -> None:
    graph = te.load("karate")
    pairs = graph.edges.astype(np.int64)
    one, other = (te.methods.create("ppr", {"alpha": alpha}) for alpha in (0.15, 0.5))
    first = one.score(graph, pairs)
    assert not np.allclose(first, other.score(graph, pairs))
    assert np.array_equal(first, one.score(graph, pairs))


@pytest.mark.parametrize(
    ("fill", "parameters"), [(fill_push_rows, (0.15, 1e-4)), (fill_katz_rows, (0.02,))], ids=["ppr", "katz"]
)
def test_numbering_nodes_anew_changes_no_bit(fill, parameters) -> None:
    every = np.arange(NODES)
    sources, targets = (each.ravel() for each in np.meshgrid(every, every))
    for graph in random_graphs():
        found = KeptRows(fill).values(graph.hash, graph.indptr, graph.indices, sources, targets, *parameters)
        rows = np.zeros((NODES, NODES))
        fill(graph.indptr, graph.indices, every, rows, *parameters)
        assert np.array_equal(found, rows[sources, targets])


def test_a_graph_without_edges_has_rows_too() -> None:
    graph = te.Graph.from_edges(np.empty((0, 2), dtype=np.int64), num_nodes=3)
    asked = np.array([0, 1, 2]), np.array([0, 2, 2])
    found = KeptRows(fill_push_rows).values("none", graph.indptr, graph.indices, *asked, 0.15, 1e-4)
    assert found.tolist() == [0.15, 0.0, 0.15]
