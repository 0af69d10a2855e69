"""Message passing against dense matrices, and against torch_geometric's layers with the same weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trueedge.training import DenseInput, LearnedInput, Messages, SparseInput, feature_input, input_of
from trueedge.training.links.convolutions import GatLayer, GcnLayer, GinLayer, LinearLayer, SageLayer
from trueedge.training.links.inputs import States


def dense(graph) -> torch.Tensor:
    return torch.from_numpy(graph.adjacency().toarray().astype(np.float32))


@pytest.fixture(params=range(4))
def graph(request, random_graph):
    return random_graph(request.param, nodes=25, edges=50, features=9)


@pytest.fixture
def states() -> torch.Tensor:
    return torch.randn(25, 6, generator=torch.Generator().manual_seed(0))


def test_the_sum_is_the_product_with_the_adjacency_and_so_is_its_gradient(graph, states):
    states.requires_grad_()
    weight = torch.randn(25, 6)
    (Messages.of(graph).sum(states) * weight).sum().backward()
    torch.testing.assert_close(Messages.of(graph).sum(states), dense(graph) @ states)
    torch.testing.assert_close(states.grad, dense(graph).t() @ weight)


def test_a_weighted_sum_has_the_gradients_of_the_dense_product(graph, states):
    messages = Messages.of(graph)
    weights = torch.rand(len(messages.indices), generator=torch.Generator().manual_seed(1))
    got, want = (weights.clone().requires_grad_() for _ in range(2)), None
    first, second = got
    ours, theirs = states.clone().requires_grad_(), states.clone().requires_grad_()
    matrix = torch.zeros(25, 25).index_put((messages.targets, messages.indices), second)
    left, right = messages.weighted_sum(first, ours), matrix @ theirs
    torch.testing.assert_close(left, right)
    want = torch.randn(left.shape, generator=torch.Generator().manual_seed(2))
    (left * want).sum().backward()
    (right * want).sum().backward()
    torch.testing.assert_close(first.grad, second.grad)
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_without_takes_out_both_directions_of_an_edge_and_nothing_else(graph, states):
    gone = torch.tensor([0, 3, 7])
    left = Messages.of(graph).without(gone)
    matrix = dense(graph)
    for u, v in graph.edges[gone.numpy()]:
        matrix[u, v] = matrix[v, u] = 0
    torch.testing.assert_close(left.sum(states), matrix @ states)
    assert Messages.of(graph).without(torch.empty(0, dtype=torch.int64)).indices.shape == (
        2 * graph.num_edges,
    )


@pytest.mark.parametrize("kind", ["gcn", "sage", "gin", "gat"])
def test_a_layer_equals_torch_geometrics_with_the_same_weights(kind, graph, states):
    from torch_geometric import nn as pyg

    torch.manual_seed(0)
    messages = Messages.of(graph)
    edge_index = torch.stack([messages.indices, messages.targets])
    if kind == "gcn":
        ours, theirs = GcnLayer(6, 4), pyg.GCNConv(6, 4)
        theirs.lin.weight, theirs.bias = ours.linear.weight, ours.bias
    elif kind == "sage":
        ours, theirs = SageLayer(6, 4), pyg.SAGEConv(6, 4)
        theirs.lin_l.weight, theirs.lin_l.bias = ours.neighbors.weight, ours.neighbors.bias
        theirs.lin_r.weight = ours.own.weight
    elif kind == "gin":
        ours = GinLayer(6, 4)
        theirs = pyg.GINConv(torch.nn.Sequential(ours.first, torch.nn.ReLU(), ours.second))
    else:
        ours, theirs = GatLayer(6, 4), pyg.GATConv(6, 4)
        theirs.lin.weight, theirs.bias = ours.linear.weight, ours.bias
        theirs.att_src.data = ours.from_source.data.t().unsqueeze(0)
        theirs.att_dst.data = ours.from_target.data.t().unsqueeze(0)
    states.requires_grad_()
    left = ours(States(states), messages)
    left.square().sum().backward()
    gradient, states.grad = states.grad, None
    right = theirs(states, edge_index)
    right.square().sum().backward()
    torch.testing.assert_close(left, right)
    torch.testing.assert_close(gradient, states.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer", [LinearLayer, GcnLayer, SageLayer, GinLayer, GatLayer])
def test_sparse_features_give_what_dense_ones_give(layer, graph):
    torch.manual_seed(0)
    module, messages = layer(9, 4), Messages.of(graph)
    inputs = SparseInput(graph.features), DenseInput(torch.from_numpy(graph.features.astype(np.float32)))
    gradients = []
    for one in inputs:
        module.zero_grad()
        answer = module(one, messages)
        answer.square().sum().backward()
        gradients.append([answer.detach(), *(weight.grad.clone() for weight in module.parameters())])
    for sparse, full in zip(*gradients, strict=True):
        torch.testing.assert_close(sparse, full, rtol=1e-4, atol=1e-5)


def test_features_are_held_sparse_where_most_are_zero(random_graph):
    table = np.zeros((25, 40), dtype=np.float32)
    table[:, 0] = 1
    assert isinstance(feature_input(table), SparseInput)
    assert isinstance(feature_input(np.ones((25, 3))), DenseInput)
    assert isinstance(input_of(random_graph(0, nodes=25), 8), LearnedInput)


def test_nodes_hear_from_so_many_neighbours_and_gradients_go_back_the_same_way(graph, states):
    torch.manual_seed(3)
    whole = Messages.of(graph)
    heard = whole.sample_neighbors(2)
    matrix = torch.zeros(25, 25).index_put((heard.targets, heard.indices), torch.ones(len(heard.indices)))
    assert torch.all(matrix <= dense(graph))
    torch.testing.assert_close(matrix.sum(dim=1), whole.degrees.clamp(max=2))
    # Some hear of whom they are not heard: the transpose is another matrix.
    assert not torch.equal(matrix, matrix.t())
    assert heard.whole is whole
    ours, theirs = (states.clone().requires_grad_() for _ in range(2))
    weight = torch.randn(25, 6)
    (heard.sum(ours) * weight).sum().backward()
    (matrix @ theirs * weight).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_a_weighted_sum_of_heard_messages_has_the_dense_gradients(graph, states):
    torch.manual_seed(4)
    heard = Messages.of(graph).sample_neighbors(2)
    first, second = (torch.rand(len(heard.indices)).requires_grad_() for _ in range(2))
    second.data.copy_(first.data)
    ours, theirs = (states.clone().requires_grad_() for _ in range(2))
    matrix = torch.zeros(25, 25).index_put((heard.targets, heard.indices), second)
    want = torch.randn(25, 6)
    (heard.weighted_sum(first, ours) * want).sum().backward()
    (matrix @ theirs * want).sum().backward()
    torch.testing.assert_close(first.grad, second.grad)
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_every_neighbour_is_heard_as_often_as_any_other(graph):
    torch.manual_seed(5)
    whole = Messages.of(graph)
    rounds = 600
    counts = torch.zeros(25, 25)
    for _ in range(rounds):
        heard = whole.sample_neighbors(2)
        counts.index_put_((heard.targets, heard.indices), torch.ones(len(heard.indices)), accumulate=True)
    share = (2.0 / whole.degrees.clamp(min=2.0)).unsqueeze(1).expand(25, 25)[dense(graph) > 0]
    got = counts[dense(graph) > 0] / rounds
    # Five standard errors.
    assert torch.all((got - share).abs() <= 5 * (share * (1 - share) / rounds).sqrt() + 1e-6)


def test_where_nobody_has_more_neighbours_the_graph_stays_what_it_is(graph):
    whole = Messages.of(graph)
    assert whole.sample_neighbors(int(graph.degrees.max())) is whole
