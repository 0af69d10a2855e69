"""Sketches beside plain sets, and their estimates within what theory says."""

from __future__ import annotations

import numpy as np
import pytest

from trueedge.kernels.neighbors import sketches as kernels


@pytest.fixture(params=[(1, 30, 60), (2, 70, 200), (3, 5, 0), (4, 1, 0)], ids=str)
def graph(request, random_graph):
    seed, nodes, edges = request.param
    return random_graph(seed, nodes=nodes, edges=edges)


def reached(graph, hops):
    """The nodes within 0, 1, ... hops of each node."""
    near = [
        set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]
    levels = [[{node} for node in range(graph.num_nodes)]]
    for _ in range(hops):
        levels.append([own.union(*(near[node] for node in own)) for own in levels[-1]])
    return levels


def test_spreading_gives_the_sketches_of_the_sets_within_reach(graph):
    own = kernels.own_sketches(graph.num_nodes, 16, key=9)
    registers, minima = own
    for sets in reached(graph, 3)[1:]:
        registers, minima = kernels.spread(graph.indptr, graph.indices, registers, minima)
        for node, members in enumerate(sets):
            rows = sorted(members)
            assert registers[node].tolist() == own[0][rows].max(axis=0).tolist()
            assert minima[node].tolist() == own[1][rows].min(axis=0).tolist()


def test_a_single_node_sets_one_register_and_hashes_of_31_bits():
    registers, minima = kernels.own_sketches(300, 8, key=2)
    assert (np.count_nonzero(registers, axis=1) == 1).all()
    assert registers.max() <= kernels.TOP
    assert minima.min() >= 0
    assert len(np.unique(minima)) > 0.999 * minima.size
    other = kernels.own_sketches(300, 8, key=3)[1]
    assert (other != minima).mean() > 0.99


def test_half_of_all_nodes_have_rank_one_and_registers_are_taken_evenly():
    registers, _ = kernels.own_sketches(3000, 1, key=4)
    ranks, places = registers.max(axis=1), registers.argmax(axis=1)
    assert abs((ranks == 1).mean() - 0.5) < 0.05
    assert abs((ranks == 2).mean() - 0.25) < 0.05
    assert np.bincount(places, minlength=256).max() < 40


def test_sums_and_equal_minima_are_those_of_the_rows(graph):
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, graph.num_nodes, (50, 2))
    left = kernels.own_sketches(graph.num_nodes, 16, key=9)
    right = kernels.spread(graph.indptr, graph.indices, *left)
    powers, zeros = kernels.union_sums(pairs, left[0], right[0])
    same = kernels.equal_minima(pairs, left[1], right[1])
    for at, (a, b) in enumerate(pairs):
        union = np.maximum(left[0][a], right[0][b]).tolist()
        assert powers[at] == sum(2 ** (kernels.TOP - rank) for rank in union if rank)
        assert zeros[at] == union.count(0)
        assert same[at] == (left[1][a] == right[1][b]).sum()


def test_exact_sets_are_those_of_plain_python(graph):
    pairs = np.random.default_rng(0).integers(0, graph.num_nodes, (60, 2))
    bits = kernels.own_bits(graph.num_nodes)
    before = reached(graph, 0)[0]
    for sets in reached(graph, 2)[1:]:
        more = kernels.spread_bits(graph.indptr, graph.indices, bits)
        shared = kernels.shared_bits(pairs, bits, more)
        assert shared.tolist() == [len(before[a] & sets[b]) for a, b in pairs]
        bits, before = more, sets


@pytest.mark.compiled
def test_threads_do_not_change_a_bit(random_graph, monkeypatch):
    graph = random_graph(5, nodes=900, edges=3000)
    own = kernels.own_sketches(900, 8, key=1)
    answers = []
    for threads in (1, 3):
        monkeypatch.setattr("trueedge.kernels.arrays.threads.thread_count", lambda threads=threads: threads)
        answers.append(kernels.spread(graph.indptr, graph.indices, *own))
    for one, other in zip(*answers, strict=True):
        assert one.tobytes() == other.tobytes()
