"""Sets of nodes around pairs, beside sets of plain Python."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from trueedge.training import Messages  # noqa: E402
from trueedge.training.links import pair_sets  # noqa: E402
from trueedge.training.links.pair_sets import (  # noqa: E402
    BOTH,
    FIRST,
    SECOND,
    NodeSets,
    are_linked,
    common_neighbors,
    joint_neighbors,
    lone_neighbors,
    neighbors,
    runs,
    searched_common_neighbors,
    searched_joint_neighbors,
)


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


def test_joint_sets_are_unions_that_say_whose_neighbour_each_is(graph, pairs):
    near, asked = rows_of(graph), torch.from_numpy(pairs)
    sets, sides = joint_neighbors(Messages.of(graph), asked)
    found = iter(sides.tolist())
    for (a, b), nodes in zip(pairs.tolist(), listed(sets), strict=True):
        assert nodes == sorted((near[a] | near[b]) - {a, b})
        for node in nodes:
            side = FIRST if node not in near[b] else SECOND if node not in near[a] else BOTH
            assert next(found) == side


@pytest.mark.parametrize("limit", [1 << 25, 30])
def test_searches_find_what_compiled_loops_do(graph, pairs, limit, monkeypatch):
    monkeypatch.setattr(pair_sets, "LOOKUPS", limit)
    messages, asked = Messages.of(graph), torch.from_numpy(pairs)
    assert listed(searched_common_neighbors(messages, asked)) == listed(common_neighbors(messages, asked))
    (sets, sides), (searched, of_searched) = (
        find(messages, asked) for find in (joint_neighbors, searched_joint_neighbors)
    )
    assert listed(sets) == listed(searched)
    assert sides.tolist() == of_searched.tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_and_their_gradients_are_those_of_a_dense_product(graph, pairs, weighted):
    sets = common_neighbors(Messages.of(graph), torch.from_numpy(pairs))
    drawn = torch.Generator().manual_seed(0)
    states = torch.randn(graph.num_nodes, 5, generator=drawn).requires_grad_()
    weights = torch.rand(len(sets.nodes), generator=drawn).requires_grad_() if weighted else None
    factors = torch.randn(sets.count, 5, generator=drawn)
    found = sets.sums(states, weights)
    (found * factors).sum().backward()
    values = torch.ones(len(sets.nodes)) if weights is None else weights.detach().clone().requires_grad_()
    dense = torch.zeros(sets.count, graph.num_nodes).index_put((sets.rows, sets.nodes), values)
    twin = states.detach().clone().requires_grad_()
    (dense @ twin * factors).sum().backward()
    torch.testing.assert_close(found, dense @ twin)
    torch.testing.assert_close(states.grad, twin.grad, rtol=1e-4, atol=1e-5)
    if weights is not None:
        torch.testing.assert_close(weights.grad, values.grad, rtol=1e-4, atol=1e-5)


def test_sums_that_are_turned_by_sorting_have_the_same_gradient(graph, pairs):
    sets = common_neighbors(Messages.of(graph), torch.from_numpy(pairs))
    turned = pair_sets._turned(sets, graph.num_nodes)
    places = torch.argsort(sets.nodes, stable=True)
    assert turned[1].equal(sets.rows[places])
    assert turned[2].equal(places)
    assert turned[0].diff().equal(torch.bincount(sets.nodes, minlength=graph.num_nodes))


def test_a_weight_may_be_taught_where_the_states_are_not():
    sets = NodeSets(torch.tensor([0, 0, 2]), torch.tensor([1, 2, 0]), 3)
    states, weights = torch.tensor([[1.0], [10.0], [100.0]]), torch.ones(3, requires_grad=True)
    found = sets.sums(states, weights)
    assert found.squeeze(1).tolist() == [110.0, 0.0, 1.0]
    found.sum().backward()
    assert weights.grad.tolist() == [10.0, 100.0, 1.0]


def test_runs_cover_everything_once_and_stay_within_their_limit():
    sizes = torch.tensor([3, 0, 4, 9, 1, 1, 1, 0, 20, 0])
    for limit in (1, 4, 9, 12, 100):
        found = list(runs(sizes, limit))
        assert [run.start for run in found[1:]] == [run.stop for run in found[:-1]]
        assert (found[0].start, found[-1].stop) == (0, len(sizes))
        for run in found:
            assert int(sizes[run].sum()) <= limit or run.stop - run.start == 1
    assert list(runs(torch.empty(0, dtype=torch.int64), 5)) == [slice(0, 0)]
