"""Sets of nodes around pairs, beside sets of plain Python."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.training import Messages  # noqa: E402
from trueedge.training.pair_sets import are_linked, common_neighbors, lone_neighbors, neighbors  # noqa: E402


@pytest.fixture(params=[(1, 30, 80), (2, 12, 0), (3, 40, 400), (4, 2, 1)], ids=str)
def graph(request, random_graph):
    seed, nodes, edges = request.param
    return random_graph(seed, nodes=nodes, edges=edges)


@pytest.fixture
def pairs(graph):
    drawn = np.random.default_rng(0).integers(0, graph.num_nodes, (200, 2))
    return np.concatenate([drawn, graph.edges.astype(np.int64)])


def rows_of(graph):
    return [
        set(graph.indices[a:b].tolist()) for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]


def listed(sets):
    groups = [[] for _ in range(sets.count)]
    for row, node in zip(sets.rows.tolist(), sets.nodes.tolist(), strict=True):
        groups[row].append(node)
    assert [len(group) for group in groups] == sets.sizes().tolist()
    assert np.diff(sets.indptr().numpy()).tolist() == sets.sizes().tolist()
    return groups


def test_sets_around_pairs_are_those_of_plain_python(graph, pairs):
    near, asked = rows_of(graph), torch.from_numpy(pairs)
    messages = Messages.of(graph)
    assert listed(neighbors(messages, asked[:, 0])) == [sorted(near[a]) for a, _ in pairs]
    assert listed(common_neighbors(messages, asked)) == [sorted(near[a] & near[b]) for a, b in pairs]
    first, second = lone_neighbors(messages, asked)
    assert listed(first) == [sorted(near[a] - near[b] - {b}) for a, b in pairs]
    assert listed(second) == [sorted(near[b] - near[a] - {a}) for a, b in pairs]
    assert are_linked(messages, asked[:, 0], asked[:, 1]).tolist() == [b in near[a] for a, b in pairs]


def test_an_edge_that_was_taken_out_is_in_no_set(random_graph):
    graph = random_graph(3, nodes=40, edges=400)
    gone = torch.arange(0, graph.num_edges, 3)
    left = Messages.of(graph).without(gone)
    pairs = torch.from_numpy(graph.edges.astype(np.int64))[gone]
    assert not are_linked(left, pairs[:, 0], pairs[:, 1]).any()
    hidden = {tuple(pair) for pair in pairs.tolist()}
    for row, nodes in enumerate(listed(common_neighbors(left, pairs))):
        for end in pairs[row].tolist():
            assert not hidden & {tuple(sorted((end, node))) for node in nodes}
