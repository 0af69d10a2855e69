"""R-GCN with one edge in each direction between two nodes, as HGB's code for links has it."""

from __future__ import annotations

import numpy as np
import torch
from tiny_graphs import tiny_graph

from trueedge.graph.typed import HeteroGraph, Relation
from trueedge.methods.typed.models.rgcn import RGCNModel
from trueedge.training.typed.inputs import TypedInputs

DIM = 4


def graph() -> HeteroGraph:
    """Return three items and two users: (0, 1) goes both ways, (1, 2) one way, and 2 is linked to itself."""
    return HeteroGraph(
        node_types=("item", "user"),
        starts=np.array([0, 3, 5]),
        relations=(Relation("like", 0, 0), Relation("buys", 1, 0)),
        edges=(np.array([(0, 1), (1, 0), (1, 2), (2, 2)], np.int32), np.array([(3, 0)], np.int32)),
        name="items",
    )


def test_reverses_are_only_where_there_is_no_link() -> None:
    found = {
        (one.name, one.source_type): sorted(zip(one.source.tolist(), one.target.tolist(), strict=True))
        for one in TypedInputs.of(graph()).single
    }
    assert found == {
        ("like", 0): [(0, 1), (1, 0), (1, 2), (2, 2)],
        ("reverse of like", 0): [(2, 1)],
        ("buys", 1): [(3, 0)],
        ("reverse of buys", 0): [(0, 3)],
        ("loop", 0): [(0, 0), (1, 1)],
        ("loop", 1): [(3, 3), (4, 4)],
    }


def test_every_ordered_pair_has_one_edge_on_any_graph() -> None:
    inputs = TypedInputs.of(tiny_graph())
    pairs = [pair for one in inputs.single for pair in torch.stack([one.source, one.target], 1).tolist()]
    linked = {pair for edges in inputs.graph.edges for u, v in edges.tolist() for pair in ((u, v), (v, u))}
    assert sorted(pairs) == sorted(map(list, linked | {(node, node) for node in range(inputs.num_nodes)}))


def test_a_layer_with_single_edges_equals_its_formula() -> None:
    inputs = TypedInputs.of(graph())
    torch.manual_seed(0)
    model = RGCNModel(inputs, "one-hot", DIM, DIM, 1, 0, 2, True, "node", 0.0, single_edges=True)
    layer, states = model.layers[0], model.input(inputs)
    # Two relations, their reverses, and one matrix for the loops of both node types.
    assert model.rows.num_matrices == len(layer.matrices) == 5
    numbers = {(False, 0): 0, (False, 1): 1, (False, 2): 2, (True, 0): 3, (True, 1): 4}
    degrees = np.zeros(inputs.num_nodes)
    total = torch.zeros(inputs.num_nodes, DIM)
    for one in inputs.single:
        matrix = layer.full()[numbers[one.reverse, one.relation]]
        for source, target in zip(one.source.tolist(), one.target.tolist(), strict=True):
            degrees[target] += 1
            total[target] += states[source] @ matrix
    wanted = total / torch.tensor(degrees, dtype=torch.float32)[:, None] + states @ layer.own + layer.bias
    torch.testing.assert_close(model(inputs), wanted)


def test_a_node_counts_itself_once_where_means_are_of_relations() -> None:
    inputs = TypedInputs.of(graph())
    torch.manual_seed(0)
    model = RGCNModel(inputs, "one-hot", DIM, DIM, 1, 0, 0, True, "relation", 0.0, single_edges=True)
    layer, states = model.layers[0], model.input(inputs)
    # The edge from 2 to itself is one of a relation, not a loop that was added.
    edges = [one for one in inputs.single if one.name != "loop"]
    assert sorted(one.name for one in model.rows.relations) == sorted(one.name for one in edges)
    total = states @ layer.own + layer.bias
    for one in edges:
        place = [found.name for found in model.rows.relations].index(one.name)
        matrix = layer.full()[model.rows.matrix[place]]
        counts = torch.bincount(one.target, minlength=inputs.num_nodes).float()
        for source, target in zip(one.source.tolist(), one.target.tolist(), strict=True):
            total[target] = total[target] + states[source] @ matrix / counts[target]
    torch.testing.assert_close(model(inputs), total)
