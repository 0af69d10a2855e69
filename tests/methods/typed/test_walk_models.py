"""HetGNN and GATNE against plain loops on small graphs."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from tests.methods.typed.tiny_graphs import tiny_graph
from tests.typed_graphs import small_graph

from trueedge.methods.typed.models.gatne import (
    GatneModel,
    SkipGramObjective,
    sampled_neighbors,
    undirected,
)
from trueedge.methods.typed.models.hetgnn import HetGnnEncoder, context_pairs, neighbors_by_type, untyped
from trueedge.training.typed.inputs import TypedInputs


def test_hetgnn_weighs_the_types_that_a_node_has_neighbors_of() -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(tiny_graph())
    neighbors = neighbors_by_type(inputs, 2, 0)
    model = HetGnnEncoder(inputs, "all", 4, neighbors, "mean", 0.0).eval()
    contents, found = model.contents(inputs), model(inputs)
    assert (contents[-1] == 0).all()
    for node in range(9):
        sides = [contents[node]]
        for kind in range(3):
            own = neighbors[node].reshape(3, 2)[kind]
            if own[0] >= 0:
                sides.append(model.combine[kind](contents[own]).mean(0))
        weight = model.score[inputs.node_type[node]]
        logits = [F.leaky_relu(weight @ torch.cat([side, contents[node]]), 0.01) for side in sides]
        wanted = torch.stack(logits).softmax(0) @ torch.stack(sides)
        torch.testing.assert_close(found[node], wanted)
    # The last author has no edges.
    torch.testing.assert_close(found[3], contents[3])


def test_hetgnn_reads_the_neighbors_of_a_type_as_a_sequence() -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(tiny_graph())
    model = HetGnnEncoder(inputs, "all", 4, neighbors_by_type(inputs, 2, 0), "lstm", 0.0).eval()
    contents = model.contents(inputs)
    found = model.encode(contents, torch.tensor([0, 5]))
    torch.testing.assert_close(found, model(inputs)[[0, 5]])
    content = model.content[1](model.input(inputs)[5].view(1, 1, 4))[0].view(-1)
    torch.testing.assert_close(contents[5], content)


def test_hetgnn_encodes_some_nodes_from_what_they_need_alone() -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(small_graph())
    for aggregate in ("lstm", "mean"):
        model = HetGnnEncoder(inputs, "all", 4, neighbors_by_type(inputs, 3, 0), aggregate, 0.0).eval()
        nodes = torch.tensor([0, 7, inputs.num_nodes - 1])
        torch.testing.assert_close(model.encode_some(inputs, nodes), model(inputs)[nodes])
    lone = TypedInputs.of(tiny_graph())
    model = HetGnnEncoder(lone, "all", 4, neighbors_by_type(lone, 2, 0), "lstm", 0.0).eval()
    # The last author has no edges, so that nobody stands for its neighbours.
    torch.testing.assert_close(model.encode_some(lone, torch.tensor([3, 5])), model(lone)[[3, 5]])


def test_pairs_of_walks_are_near_and_are_set_against_the_same_type() -> None:
    graph = small_graph()
    inputs = TypedInputs.of(graph)
    indptr, indices = untyped(inputs)
    linked = np.zeros((graph.num_nodes, graph.num_nodes), dtype=bool)
    for node in range(graph.num_nodes):
        linked[node, indices[indptr[node] : indptr[node + 1]]] = True
    assert (linked == linked.T).all()
    assert not linked.diagonal().any()
    reach = np.linalg.matrix_power(linked + np.eye(len(linked)), 2) > 0
    center, context, drawn = next(context_pairs(inputs, 10, 2, 500, 1, np.random.default_rng(0)))
    assert reach[center, context].all()
    assert (graph.types[context] == graph.types[drawn]).all()


def test_gatne_adds_what_neighbors_by_each_relation_say_to_the_base() -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(tiny_graph())
    model = GatneModel(inputs, (0, 2), 6, 3, 4, 2, np.random.default_rng(0))
    vectors = model(inputs).view(9, 2, 6)
    assert (model.neighbors % 4 == torch.arange(4)[:, None]).all()
    assert set((model.neighbors[0, 0] // 4).tolist()) == {4, 5}
    for node in range(9):
        said = torch.stack(
            [sum(model.edge[row] for row in model.neighbors[node, kind].tolist()) for kind in range(4)]
        )
        for place, relation in enumerate((0, 2)):
            weights = (torch.tanh(said @ model.hidden[relation]) @ model.score[relation]).softmax(0)
            added = (weights * said).sum(0) @ model.spread[relation]
            wanted = F.normalize(model.base[node] + added, dim=0)
            torch.testing.assert_close(vectors[node, place], wanted)
    links = torch.tensor([[4, 2, 7], [0, 0, 4]])
    wanted = torch.stack([vectors[4, 1] @ vectors[7, 1], vectors[0, 0] @ vectors[4, 0]])
    torch.testing.assert_close(model.decode(model(inputs), links), wanted)


def test_neighbors_are_all_there_if_few_and_a_lone_node_is_its_own() -> None:
    inputs = TypedInputs.of(tiny_graph())
    found = sampled_neighbors(*undirected(inputs, 0), 3, np.random.default_rng(0))
    assert set(found[0].tolist()) == {4, 5}
    assert set(found[4].tolist()) == {0, 1}
    assert found[3].tolist() == [3, 3, 3]
    none = sampled_neighbors(*undirected(inputs, 3), 2, np.random.default_rng(0))
    assert none[5].tolist() == [5, 5]


def test_walks_along_a_relation_stay_within_its_types() -> None:
    graph = small_graph()
    inputs = TypedInputs.of(graph)
    objective = SkipGramObjective(inputs, (0, 2, 3), 1, 6, 2, 4, 64, 0)
    kinds = {0: {0, 1}, 2: {1, 2}, 3: {1}}
    seen = set()
    for given, node, context, drawn in objective.steps(np.random.default_rng(0)):
        relation = int(given)
        seen.add(relation)
        assert {*graph.types[node.numpy()], *graph.types[context.numpy()]} <= kinds[relation]
        assert (graph.types[drawn.numpy()] == graph.types[context.numpy()][:, None]).all()
    assert seen == {0, 2, 3}
