"""Prices of moves and merges against the whole description length, counted and computed the slow way."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.blocks.block_merges import find_merges, join, merge_price
from trueedge.kernels.blocks.blockmodel import log_partitions, sweep
from trueedge.kernels.neighbors.pair_counts import count_add, count_of, pair_counts
from trueedge.methods.blockmodels.description import description_length, length_of, make_terms
from trueedge.methods.blockmodels.fitting import make_block_graph, make_groups


def log_factorial(x: int) -> float:
    return math.lgamma(x + 1)


def log_choose(n: int, k: int) -> float:
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k)


def partitions_at_most(total: int, parts: int) -> int:
    ways = [1] + [0] * total
    for part in range(1, parts + 1):
        for m in range(part, total + 1):
            ways[m] += ways[m - part]
    return ways[total]


def slow_length(graph: Graph, blocks: np.ndarray, corrected: bool) -> float:
    """The formulas of the docstring, term by term, edge by edge."""
    names = sorted(set(blocks.tolist()))
    between = Counter(tuple(sorted((int(blocks[u]), int(blocks[v])))) for u, v in graph.edges)
    length = 0.0
    for (r, s), edges in between.items():
        length -= log_factorial(edges) + (edges * math.log(2) if r == s else 0.0)
    for r in names:
        degrees = graph.degrees[blocks == r].tolist()
        if corrected:
            length += log_factorial(sum(degrees))
            length += math.log(partitions_at_most(sum(degrees), len(degrees))) + log_factorial(len(degrees))
            length -= sum(log_factorial(count) for count in Counter(degrees).values())
        else:
            length += sum(degrees) * math.log(len(degrees))
        length -= log_factorial(len(degrees))
    if corrected:
        length -= sum(log_factorial(k) for k in graph.degrees.tolist())
    kinds = len(names) * (len(names) + 1) // 2
    length += math.log(graph.num_nodes) + log_choose(graph.num_nodes - 1, len(names) - 1)
    length += log_factorial(graph.num_nodes)
    return length + log_choose(kinds + graph.num_edges - 1, graph.num_edges)


def some_blocks(seed: int, nodes: int, many: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    blocks = rng.permutation(np.concatenate([np.arange(many), rng.integers(0, many, nodes - many)]))
    return blocks.astype(np.int64)


def table_of(counts) -> dict[tuple[int, int], int]:
    held = counts.values != 0
    return {
        (int(key >> 32), int(key & 0xFFFFFFFF)): int(value)
        for key, value in zip(counts.keys[held], counts.values[held], strict=True)
    }


@pytest.fixture(params=[False, True], ids=["plain", "corrected"])
def corrected(request):
    return request.param


@pytest.mark.parametrize("seed", range(6))
def test_the_description_length_is_that_of_its_formula(seed, corrected, random_graph):
    graph = random_graph(seed, nodes=10 + 4 * seed, edges=12 * seed)
    for many in (1, 2, 5, graph.num_nodes):
        blocks = some_blocks(seed, graph.num_nodes, many)
        expected = slow_length(graph, blocks, corrected)
        assert description_length(graph, blocks, corrected) == pytest.approx(expected, rel=1e-10)
        assert description_length(graph, 7 * blocks + 3, corrected) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("heat", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_reports_what_it_changed_and_keeps_its_counts(seed, heat, corrected, random_graph):
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, nodes=30, edges=40 + 25 * seed)
    terms = make_terms(graph, corrected)
    blocks = some_blocks(seed, 30, 6)
    groups = make_groups(graph, blocks, 6, terms)
    before = slow_length(graph, blocks, corrected)
    for _ in range(4):
        draws = rng.integers(0, 1 << 32, size=(30, 5, 3), dtype=np.uint32)
        bearable = heat * rng.exponential(size=30)
        moved, gain = sweep(graph.indptr, graph.indices, groups, terms, rng.permutation(30), draws, bearable)
        after = slow_length(graph, groups.of, corrected)
        assert before - after == pytest.approx(gain, abs=1e-8)
        assert gain >= -bearable.sum()
        assert heat > 0 or (gain > 0) == (moved > 0)
        before = after
        fresh = make_groups(graph, groups.of, 6, terms)
        assert groups.sizes.tolist() == fresh.sizes.tolist()
        assert groups.sizes.min() >= 1
        assert groups.ends.tolist() == fresh.ends.tolist()
        assert table_of(groups.edges) == table_of(fresh.edges)
        assert table_of(groups.degrees) == table_of(fresh.degrees)


@pytest.mark.parametrize("seed", range(4))
def test_a_merge_costs_what_the_lengths_differ_by(seed, corrected, random_graph):
    graph = random_graph(seed, nodes=25, edges=20 + 25 * seed)
    terms, many = make_terms(graph, corrected), 7
    blocks = some_blocks(seed, 25, many)
    groups, among = make_groups(graph, blocks, many, terms), make_block_graph(graph, blocks, many)
    kinds = [k * (k + 1) // 2 for k in (many, many - 1)]
    fewer = log_choose(24, many - 2) - log_choose(24, many - 1)
    fewer += np.subtract(*[log_choose(k + graph.num_edges - 1, graph.num_edges) for k in kinds[::-1]])
    before = slow_length(graph, blocks, corrected)
    for r in range(many):
        for s in range(many):
            if r != s:
                after = slow_length(graph, np.where(blocks == s, r, blocks), corrected)
                price = merge_price(groups, terms, among, r, s)
                assert price + fewer == pytest.approx(after - before, abs=1e-8)
    draws = np.random.default_rng(seed).integers(0, 1 << 32, size=(many, 40, 3), dtype=np.uint32)
    partner, prices = find_merges(groups, terms, among, draws)
    for r in range(many):
        assert partner[r] != r
        assert prices[r] == pytest.approx(merge_price(groups, terms, among, r, partner[r]), abs=1e-9)


def test_groups_without_an_edge_between_them_find_each_other(corrected):
    cliques = np.argwhere(np.triu(np.kron(np.eye(2), np.ones((40, 40))), 1))
    graph = Graph.from_edges(cliques, 80)
    terms, blocks = make_terms(graph, corrected), np.repeat([0, 1], 40)
    draws = np.zeros((2, 3, 3), dtype=np.uint32)
    groups = make_groups(graph, blocks, 2, terms)
    assert find_merges(groups, terms, make_block_graph(graph, blocks, 2), draws)[0].tolist() == [1, 0]


def test_merges_are_made_in_order_until_there_are_enough():
    partner = np.array([3, 2, 1, 0, -1, 0])
    order = np.array([5, 1, 2, 0, 3, 4])
    assert join(partner, order, 0).tolist() == [0, 1, 2, 3, 4, 5]
    assert join(partner, order, 1).tolist() == [0, 1, 2, 3, 4, 0]
    assert join(partner, order, 2).tolist() == [0, 1, 1, 2, 3, 0]
    assert join(partner, order, 9).tolist() == [0, 1, 1, 0, 2, 0]


def test_partitions_are_counted_exactly_when_small_and_nearly_when_large():
    path = Graph.from_edges(np.stack([np.arange(2000), np.arange(1, 2001)], axis=1))
    terms = make_terms(path, True)
    for total, parts in [(0, 0), (0, 5), (1, 1), (5, 3), (60, 7), (60, 100), (500, 20)]:
        exact = math.log(partitions_at_most(total, parts))
        assert log_partitions(total, parts, terms) == pytest.approx(exact, abs=1e-9)
    for total, parts in [(520, 2), (600, 5), (900, 12), (900, 60), (900, 2000), (1500, 6), (1500, 300)]:
        exact = math.log(partitions_at_most(total, parts))
        assert log_partitions(total, parts, terms) == pytest.approx(exact, abs=0.05)


def test_counts_of_pairs_are_those_of_a_dictionary_however_many_were_forgotten():
    rng = np.random.default_rng(0)
    nothing = np.empty(0, dtype=np.int64)
    counts, expected = pair_counts(nothing, nothing, nothing, most=20), Counter()
    for _ in range(2000):
        first, second = (int(i) for i in rng.integers(0, 1000, 2))
        for key in [*expected, (first, second)][-12:]:
            assert count_of(counts, *key) == expected[key]
        count_add(counts, first, second, 3)
        expected[first, second] += 3
        if len(expected) > 15:
            gone = next(iter(expected))
            count_add(counts, *gone, -expected.pop(gone))
    assert table_of(counts) == dict(expected)
    big = 2**31 - 1
    count_add(counts, big, big, 5)
    assert count_of(counts, big, big) == 5


def test_singletons_have_nowhere_to_go(random_graph):
    graph = random_graph(1, nodes=12, edges=20)
    terms = make_terms(graph, True)
    alone = np.arange(12)
    groups = make_groups(graph, alone, 12, terms)
    draws = np.zeros((12, 3, 3), dtype=np.uint32)
    assert sweep(graph.indptr, graph.indices, groups, terms, alone, draws, np.full(12, 9.0)) == (0, 0.0)
    assert length_of(graph, groups.of, 12, terms) == pytest.approx(slow_length(graph, alone, True))
