"""The push kernel against a plain twin, a dense solve and PyG."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import exact_pagerank, pushed_pagerank
from trueedge.kernels.walks import push as kernel
from trueedge.kernels.walks.push import (
    LAST_STAMP,
    MOST_SOURCES_PER_BLOCK,
    PushState,
    push,
    push_rows,
    push_state,
    push_values,
)
from trueedge.kernels.walks.small_push import SmallState


def dense(rows, nodes: int) -> np.ndarray:
    table = np.zeros((len(rows.starts) - 1, nodes))
    for i in range(len(table)):
        part = slice(rows.starts[i], rows.starts[i + 1])
        table[i, rows.nodes[part]] = rows.scores[part]
    return table


@pytest.fixture
def large(monkeypatch):
    """Let every graph be too large for a core's cache."""
    monkeypatch.setattr(kernel, "MOST_NODES_IN_CACHE", -1)


@pytest.fixture(params=["small", "large"])
def either_size(request):
    """Take a graph for small, and for large: these are two kernels."""
    if request.param == "large":
        request.getfixturevalue("large")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("alpha", "eps"), [(0.15, 1e-3), (0.3, 1e-5), (0.85, 1e-8)])
@pytest.mark.usefixtures("either_size")
def test_push_equals_its_plain_twin_bit_for_bit(random_graph, seed, alpha, eps):
    graph = random_graph(seed, nodes=20, edges=8 * (seed + 1))
    rows = push_rows(graph.indptr, graph.indices, np.arange(20), alpha, eps)
    for source in range(20):
        part = slice(rows.starts[source], rows.starts[source + 1])
        found = dict(zip(rows.nodes[part].tolist(), rows.scores[part].tolist(), strict=True))
        assert found == pushed_pagerank(graph, source, alpha, eps)
        assert rows.nodes[part].tolist() == sorted(found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-7])
def test_push_falls_short_of_exact_pagerank_by_at_most_its_bound(random_graph, seed, eps):
    graph = random_graph(seed, nodes=25, edges=60)
    found = dense(push_rows(graph.indptr, graph.indices, np.arange(25), 0.15, eps), 25)
    missing = exact_pagerank(graph, 0.15) - found
    assert (missing >= -1e-14).all()
    assert (missing <= eps * graph.degrees + 1e-14).all()


@pytest.mark.compiled
def test_push_does_not_depend_on_how_nodes_are_numbered(random_graph):
    for seed in range(5):
        graph = random_graph(seed, nodes=25, edges=60)
        other = np.random.default_rng(seed).permutation(25)
        renamed = tg.Graph.from_edges(other[graph.edges], 25)
        first = dense(push_rows(graph.indptr, graph.indices, np.arange(25), 0.15, 1e-3), 25)
        second = dense(push_rows(renamed.indptr, renamed.indices, other, 0.15, 1e-3), 25)[:, other]
        np.testing.assert_allclose(first, second, rtol=1e-12)


def one_row(graph, source: int, state) -> list[float]:
    nodes = graph.num_nodes
    estimate, support = np.zeros(nodes), np.empty(nodes + 1, dtype=np.int32)
    count = push(graph.indptr, graph.indices, source, 0.15, state, estimate, support)
    assert sorted(support[:count].tolist()) == np.flatnonzero(estimate).tolist()
    return estimate.tolist()


@pytest.mark.compiled
@pytest.mark.usefixtures("either_size")
def test_a_push_leaves_no_trace_for_the_next(random_graph):
    graph = random_graph(1, nodes=30, edges=80)
    used = push_state(graph.indptr, 0.15, 1e-4)
    for source in [*range(30), *range(30)]:
        assert one_row(graph, source, used) == one_row(graph, source, push_state(graph.indptr, 0.15, 1e-4))


@pytest.mark.usefixtures("large")
def test_pushes_are_told_apart_when_their_numbers_begin_anew(random_graph):
    graph = random_graph(1, nodes=30, edges=80)
    expected = [one_row(graph, source, push_state(graph.indptr, 0.15, 1e-4)) for source in range(4)]
    used = push_state(graph.indptr, 0.15, 1e-4)
    one_row(graph, 9, used)
    used.stamp[0] = LAST_STAMP - 2
    assert [one_row(graph, source, used) for source in range(4)] == expected
    assert used.stamp[0] == 2


@pytest.mark.usefixtures("either_size")
def test_push_from_an_isolated_node_stays_there():
    graph = tg.Graph.from_edges([[0, 1]], num_nodes=3)
    rows = push_rows(graph.indptr, graph.indices, np.array([2]), 0.15, 1e-6)
    assert (rows.starts.tolist(), rows.nodes.tolist(), rows.scores.tolist()) == ([0, 1], [2], [0.15])


def test_push_of_a_graph_of_one_node_and_of_no_source():
    graph = tg.Graph.from_edges(np.empty((0, 2), dtype=int), num_nodes=1)
    assert push_rows(graph.indptr, graph.indices, np.array([0]), 0.2, 1e-3).scores.tolist() == [0.2]
    assert push_rows(graph.indptr, graph.indices, np.empty(0, dtype=np.int64), 0.2, 1e-3).starts.tolist() == [
        0
    ]


@pytest.mark.compiled
@pytest.mark.parametrize("eps", [1e-2, 1e-5])
def test_a_small_graph_has_the_bits_of_a_large_one(random_graph, monkeypatch, eps):
    graph = random_graph(4, nodes=300, edges=700)
    small = push_state(graph.indptr, 0.15, eps)
    monkeypatch.setattr(kernel, "MOST_NODES_IN_CACHE", -1)
    large = push_state(graph.indptr, 0.15, eps)
    assert isinstance(small, SmallState)
    assert isinstance(large, PushState)
    for source in range(0, 300, 7):
        assert one_row(graph, source, small) == one_row(graph, source, large)


def test_values_at_targets_are_those_of_the_rows(random_graph):
    graph = random_graph(2, nodes=30, edges=70)
    table = dense(push_rows(graph.indptr, graph.indices, np.arange(30), 0.15, 1e-4), 30)
    rng = np.random.default_rng(0)
    sources = rng.permutation(30)[:20]
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 5, size=20))])
    targets = rng.integers(0, 30, size=starts[-1])
    values = push_values(graph.indptr, graph.indices, sources, starts, targets, 0.15, 1e-4)
    owner = np.repeat(sources, np.diff(starts))
    assert (values == table[owner, targets]).all()


@pytest.mark.compiled
def test_rows_do_not_depend_on_the_number_of_threads(random_graph):
    graph = random_graph(5, nodes=40, edges=120)
    sources = np.arange(40).repeat(2 + MOST_SOURCES_PER_BLOCK // 20)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = push_rows(graph.indptr, graph.indices, sources, 0.15, 1e-3)
    finally:
        numba.set_num_threads(threads)
    together = push_rows(graph.indptr, graph.indices, sources, 0.15, 1e-3)
    for one, other in zip(alone, together, strict=True):
        assert (one == other).all()


@pytest.mark.exhaustive  # PyG compiles its kernel anew in every process, for ten seconds
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="PyG's own kernel needs the compiler")
def test_push_agrees_with_pyg_within_the_bound(random_graph):
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("torch_geometric.utils")
    graph = random_graph(7, nodes=60, edges=150)
    both = np.concatenate([graph.edges, graph.edges[:, ::-1]]).T.astype(np.int64)
    edge_index = torch.from_numpy(np.ascontiguousarray(both))
    index, weight = utils.get_ppr(edge_index, alpha=0.15, eps=1e-6, num_nodes=60)
    theirs = np.zeros((60, 60))
    theirs[index[0].numpy(), index[1].numpy()] = weight.numpy()
    ours = dense(push_rows(graph.indptr, graph.indices, np.arange(60), 0.15, 1e-6), 60)
    # Both fall short by at most eps * degree; theirs is rounded to float32 besides.
    assert (np.abs(ours - theirs) <= 1e-6 * graph.degrees + 1e-7 * theirs).all()
