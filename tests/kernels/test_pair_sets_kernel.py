"""Sets of nodes around pairs, beside sets of plain Python and powers of matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from trueedge.graph import Graph
from trueedge.kernels.neighbors import pair_sets
from trueedge.kernels.neighbors.pair_sets import common_sets, joint_sets, turned_sets
from trueedge.kernels.walks import walk_rows as walking
from trueedge.kernels.walks.walk_rows import row_overlaps, walk_rows


def star_and_more():
    """A hub beside small nodes: its list is searched, not walked through."""
    spokes = [(0, node) for node in range(1, 60)]
    return Graph.from_edges([*spokes, (1, 2), (3, 4), (60, 1), (60, 59), (61, 62)], 64)


@pytest.fixture(params=["sparse", "dense", "empty", "edge", "star"])
def graph(request, random_graph):
    made = {
        "sparse": lambda: random_graph(1, nodes=30, edges=60),
        "dense": lambda: random_graph(2, nodes=20, edges=250),
        "empty": lambda: random_graph(3, nodes=7, edges=0),
        "edge": lambda: Graph.from_edges([(0, 1)], 2),
        "star": star_and_more,
    }
    return made[request.param]()


def arrays(graph):
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def all_pairs(graph):
    nodes = np.arange(graph.num_nodes)
    return np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2).astype(np.int64)


def rows_of(graph):
    return [set(graph.neighbors(node).tolist()) for node in range(graph.num_nodes)]


def split(starts, *parts):
    return [tuple(part[a:b].tolist() for part in parts) for a, b in itertools.pairwise(starts)]


def test_common_sets_are_intersections_of_plain_python(graph):
    near, pairs = rows_of(graph), all_pairs(graph)
    expected = [(sorted(near[a] & near[b]),) for a, b in pairs]
    assert split(*common_sets(*arrays(graph), pairs)) == expected


def test_joint_sets_are_unions_that_say_whose_neighbour_each_is(graph):
    near, pairs = rows_of(graph), all_pairs(graph)
    for (nodes, sides), (a, b) in zip(split(*joint_sets(*arrays(graph), pairs)), pairs, strict=True):
        assert nodes == sorted((near[a] | near[b]) - {a, b})
        for node, side in zip(nodes, sides, strict=True):
            assert side == (pair_sets.BOTH if node in near[a] & near[b] else 1 if node in near[a] else 2)


def test_no_pair_has_no_set(graph):
    none = np.empty((0, 2), dtype=np.int64)
    assert [part.tolist() for part in common_sets(*arrays(graph), none)] == [[0], []]
    assert [part.tolist() for part in joint_sets(*arrays(graph), none)] == [[0], [], []]


def test_many_blocks_write_what_one_does(random_graph, monkeypatch):
    graph = random_graph(4, nodes=25, edges=120)
    pairs = all_pairs(graph)
    whole = [*common_sets(*arrays(graph), pairs), *joint_sets(*arrays(graph), pairs)]
    monkeypatch.setattr(pair_sets, "BLOCK", 7)
    parts = [*common_sets(*arrays(graph), pairs), *joint_sets(*arrays(graph), pairs)]
    for left, right in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(left, right)


def test_turned_sets_are_the_columns(graph):
    starts, nodes = common_sets(*arrays(graph), all_pairs(graph))
    turned, rows, places = turned_sets(starts, nodes, graph.num_nodes)
    of_entry = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for node in range(graph.num_nodes):
        here = slice(turned[node], turned[node + 1])
        assert rows[here].tolist() == of_entry[nodes == node].tolist()
        assert places[here].tolist() == np.flatnonzero(nodes == node).tolist()


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_walk_rows_are_rows_of_powers_of_the_adjacency(graph, hops, monkeypatch):
    monkeypatch.setattr(walking, "BLOCK", 5)
    dense, weights = graph.adjacency().toarray().astype(float), 0.1 ** np.arange(hops)
    power = sum(weights[hop] * np.linalg.matrix_power(dense, hop + 1) for hop in range(hops))
    ends = np.arange(graph.num_nodes)[::-1].copy()
    starts, nodes, values = walk_rows(*arrays(graph), ends, weights)
    made = np.zeros_like(power)
    for q, (row, numbers) in enumerate(split(starts, nodes, values)):
        assert row == sorted(row)
        made[ends[q], row] = numbers
        assert (made[ends[q], row] > 0).all()
    np.testing.assert_allclose(made, power, rtol=1e-12, atol=0)


def test_row_overlaps_multiply_what_two_rows_share(graph):
    rows = walk_rows(*arrays(graph), np.arange(graph.num_nodes), np.array([1.0, 0.1]))
    dense = np.zeros((graph.num_nodes, graph.num_nodes))
    for node, (columns, values) in enumerate(split(*rows)):
        dense[node, columns] = values
    pairs = all_pairs(graph)
    for (nodes, products), (a, b) in zip(split(*row_overlaps(*rows, pairs)), pairs, strict=True):
        product = dense[a] * dense[b]
        assert nodes == np.flatnonzero(product).tolist()
        assert products == product[nodes].tolist()
