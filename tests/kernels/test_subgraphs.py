"""Enclosing subgraphs beside networkx and sets."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from trueedge.kernels.neighbors.subgraphs import Subgraphs, enclosing_subgraphs, join


@pytest.fixture(params=[(1, 30, 40), (2, 12, 0), (3, 25, 120), (4, 2, 1), (5, 1, 0), (6, 40, 45)], ids=str)
def graph(request, random_graph):
    seed, nodes, edges = request.param
    return random_graph(seed, nodes=nodes, edges=edges)


def pairs_of(graph, count=40):
    drawn = np.random.default_rng(0).integers(0, graph.num_nodes, (count, 2))
    return np.concatenate([drawn, graph.edges[:20], [[0, 0]]]).astype(np.int64)


def extract(graph, pairs, *options, **more):
    return enclosing_subgraphs(graph.indptr, graph.indices, pairs, *options, **more)


def listed(found):
    """Each subgraph as its nodes, its labels by node and its edges without the loops."""
    for begin, end in zip(found.starts[:-1], found.starts[1:], strict=True):
        nodes = found.nodes[begin:end].tolist()
        arcs = []
        for row in range(begin, end):
            columns = found.indices[found.indptr[row] : found.indptr[row + 1]]
            assert (np.diff(columns) > 0).all()
            assert row in columns
            arcs += [(nodes[row - begin], nodes[c - begin]) for c in columns if c != row]
        yield nodes, dict(zip(nodes, found.labels[begin:end].tolist(), strict=True)), arcs


def twin(graph, pair, hops):
    """The same by networkx, as the paper says it."""
    whole = nx.Graph()
    whole.add_nodes_from(range(graph.num_nodes))
    whole.add_edges_from(graph.edges.tolist())
    a, b = pair
    reach = hops if a != b else 0
    near = [set(nx.single_source_shortest_path_length(whole, end, cutoff=reach)) for end in (a, b)]
    part = nx.Graph(whole.subgraph(near[0] | near[1]))
    if part.has_edge(a, b):
        part.remove_edge(a, b)
    lengths = []
    for end, other in ((a, b), (b, a)):
        rest = part.copy()
        if a != b:
            rest.remove_node(other)
        lengths.append(nx.single_source_shortest_path_length(rest, end))
    labels = {}
    for node in part:
        if node in (a, b):
            labels[node] = 1
        elif node in lengths[0] and node in lengths[1]:
            d, e = (length[node] for length in lengths)
            labels[node] = 1 + min(d, e) + ((d + e) // 2) * ((d + e) // 2 + (d + e) % 2 - 1)
        else:
            labels[node] = 0
    return part, labels


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_subgraphs_and_labels_are_those_of_networkx(graph, hops):
    pairs = pairs_of(graph)
    for pair, (nodes, labels, arcs) in zip(pairs.tolist(), listed(extract(graph, pairs, hops)), strict=True):
        part, expected = twin(graph, pair, hops)
        assert nodes[: len(set(pair))] == sorted(set(pair))
        assert len(nodes) == len(set(nodes))
        assert labels == expected
        assert len(arcs) == len(set(arcs)) == 2 * part.number_of_edges()
        assert all(part.has_edge(*arc) for arc in arcs)


def test_a_path_of_labels_worked_out_by_hand():
    # 2 - 0 - 3 - 1 - 4 and the pair's own edge 0 - 1.
    edges = np.array([[0, 1], [0, 2], [0, 3], [1, 3], [1, 4]])
    graph = nx.Graph(edges.tolist())
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(5), format="csr")
    found = enclosing_subgraphs(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), np.array([[1, 0]]), 1
    )
    # Node 3 is one from both ends: 1 + 1 + 1 * (1 + 0 - 1); nodes 2 and 4 are cut off by the other end.
    assert dict(zip(found.nodes.tolist(), found.labels.tolist(), strict=True)) == {
        0: 1,
        1: 1,
        3: 2,
        2: 0,
        4: 0,
    }


def test_the_order_of_the_ends_changes_no_bit(graph):
    pairs = pairs_of(graph)
    for options in ((3,), (3, 4, 0.7, 5)):
        one, other = (extract(graph, turned, *options) for turned in (pairs, pairs[:, ::-1].copy()))
        assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def test_a_pairs_own_edge_makes_no_difference(random_graph):
    graph = random_graph(7, nodes=30, edges=60)
    for row in range(10):
        pair = graph.edges[row : row + 1].astype(np.int64)
        never = type(graph).from_edges(np.delete(graph.edges, row, axis=0), graph.num_nodes)
        for options in ((3,), (2, 3, 0.8, 1)):
            with_it, without = extract(graph, pair, *options), extract(never, pair, *options)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(with_it, without, strict=True))


def normal(found):
    return [(sorted(nodes), labels, sorted(arcs)) for nodes, labels, arcs in listed(found)]


def test_a_limit_keeps_so_many_nodes_a_hop_and_draws_by_key_and_pair(random_graph):
    graph = random_graph(8, nodes=60, edges=400)
    pairs = pairs_of(graph)
    found = extract(graph, pairs, 2, 5, key=3)
    assert np.diff(found.starts).max() <= 2 + 5 + 5
    assert normal(found) == normal(extract(graph, pairs, 2, 5, key=3))
    assert normal(found) != normal(extract(graph, pairs, 2, 5, key=4))
    # Not on what else is asked for.
    order = np.random.default_rng(1).permutation(len(pairs))
    alone = normal(extract(graph, pairs[order], 2, 5, key=3))
    assert [normal(found)[i] for i in order] == alone
    whole = list(listed(extract(graph, pairs, 1)))
    for (nodes, _, arcs), (every, _, links) in zip(listed(extract(graph, pairs, 1, 5)), whole, strict=True):
        assert set(nodes) <= set(every)
        assert set(arcs) == {arc for arc in links if set(arc) <= set(nodes)}


def test_a_limit_draws_every_node_about_equally_often():
    # A star of 20 leaves: the pair (hub, far) keeps 5 of them.
    leaves = 20
    indptr = np.concatenate([[0], leaves + np.arange(leaves + 2)]).astype(np.int64)
    indptr[-1] = indptr[-2]
    indices = np.concatenate([np.arange(1, leaves + 1), np.zeros(leaves)]).astype(np.int32)
    counts = np.zeros(leaves + 2)
    for key in range(400):
        counts[enclosing_subgraphs(indptr, indices, np.array([[0, leaves + 1]]), 1, 5, key=key).nodes] += 1
    drawn = counts[1 : leaves + 1]
    assert drawn.sum() == 400 * 5
    assert (abs(drawn - 100) < 5 * np.sqrt(400 * 0.25 * 0.75)).all()


def test_a_share_keeps_its_part_of_every_hop(random_graph):
    graph = random_graph(9, nodes=60, edges=300)
    pairs = pairs_of(graph)
    whole, half = extract(graph, pairs, 1), extract(graph, pairs, 1, 0, 0.5)
    ends = np.where(pairs[:, 0] == pairs[:, 1], 1, 2)
    assert (np.diff(half.starts) - ends == (np.diff(whole.starts) - ends) // 2).all()
    assert (np.diff(whole.starts)[ends == 1] == 1).all()
    nothing = extract(graph, pairs, 3, 0, 0.0)
    assert (np.diff(nothing.starts) == ends).all()


def test_taking_and_joining_give_what_extracting_gives(graph):
    pairs = pairs_of(graph)
    found = extract(graph, pairs, 2)
    which = np.random.default_rng(2).integers(0, len(pairs), 30)
    for one, other in (
        (found.take(which), extract(graph, pairs[which], 2)),
        (join([found.take(np.arange(5)), found.take(np.arange(5, len(pairs)))]), found),
        (found.take(which[:0]), extract(graph, pairs[:0], 2)),
        (join([]), extract(graph, pairs[:0], 2)),
    ):
        assert isinstance(one, Subgraphs)
        assert all(a.tobytes() == b.tobytes() and a.dtype == b.dtype for a, b in zip(one, other, strict=True))
    assert found.nbytes > 0


@pytest.mark.compiled
def test_many_pairs_in_many_threads_are_as_each_alone(random_graph, monkeypatch):
    graph = random_graph(10, nodes=50, edges=150)
    pairs = np.random.default_rng(3).integers(0, 50, (400, 2))
    found = extract(graph, pairs, 3, 6, key=1)
    monkeypatch.setattr("trueedge.kernels.neighbors.subgraphs.BLOCK", 7)
    monkeypatch.setattr("trueedge.kernels.arrays.threads.thread_count", lambda: 4)
    threaded = extract(graph, pairs, 3, 6, key=1)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(found, threaded, strict=True))
