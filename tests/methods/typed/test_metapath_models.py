"""HAN, MAGNN and GTN against plain loops and dense matrices on small graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from tests.methods.typed.tiny_graphs import tiny_graph
from tests.typed_graphs import small_graph

from trueedge.graph.metapaths import MetaPath, metapath_neighbors, parse_metapath, step_matrix
from trueedge.methods.typed.models.gtn import GtnModel
from trueedge.methods.typed.models.han import HanLayer, NodeAttention, PathAttention, neighbor_arcs
from trueedge.methods.typed.models.magnn import InstanceAttention, Instances, Rotations, turned
from trueedge.training.typed.inputs import TypedInputs


def random_states(count: int, dim: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32))


@pytest.mark.parametrize("text", ["author-paper-author", "author-paper-venue-paper-author"])
def test_han_attends_to_the_neighbors_of_a_meta_path_and_to_the_node_itself(text: str) -> None:
    torch.manual_seed(0)
    matrix = metapath_neighbors(tiny_graph(), text)
    layer, states = NodeAttention(6, 3, 2, 0.0).eval(), random_states(4, 6)
    found = layer(states, neighbor_arcs(matrix, "cpu"))
    values = layer.map(states).view(4, 2, 3)
    near = matrix.toarray() | np.eye(4, dtype=bool)
    for node in range(4):
        for head in range(2):
            neighbors = np.flatnonzero(near[node])
            logits = torch.stack(
                [
                    F.leaky_relu(
                        values[node, head] @ layer.receiver[0, head]
                        + values[j, head] @ layer.sender[0, head],
                        0.2,
                    )
                    for j in neighbors
                ]
            )
            wanted = F.elu(logits.softmax(0) @ values[neighbors, head] + layer.bias.view(2, 3)[head])
            torch.testing.assert_close(found.view(4, 2, 3)[node, head], wanted)


def test_han_weighs_meta_paths_by_the_mean_score_of_all_nodes() -> None:
    torch.manual_seed(0)
    attention, sides = PathAttention(4, 5), [random_states(3, 4, seed) for seed in range(2)]
    scores = [np.mean([attention.score(row).item() for row in side]) for side in sides]
    weights = torch.tensor(scores).softmax(0)
    wanted = weights[0] * sides[0] + weights[1] * sides[1]
    torch.testing.assert_close(attention(sides), wanted.float())


def test_a_node_without_meta_path_neighbors_keeps_its_own_state_in_han() -> None:
    torch.manual_seed(0)
    arcs = neighbor_arcs(metapath_neighbors(tiny_graph(), "author-paper-author"), "cpu")
    layer, states = HanLayer(1, 6, 3, 2, 4, 0.0).eval(), random_states(4, 6)
    own = layer.by_path[0]
    torch.testing.assert_close(layer(states, [arcs])[3], F.elu(own.map(states[3]) + own.bias))


def dense_gtn(
    model: GtnModel, inputs: TypedInputs, states: torch.Tensor, shares: torch.Tensor
) -> torch.Tensor:
    """Form every product: Equations 3 to 6 of the paper."""
    count = inputs.num_nodes
    factors = []
    for share in shares:
        factor = share[-1] * torch.eye(count)
        for number, (target, source, matrix) in enumerate(model.steps):
            block = torch.zeros(count, count)
            block[inputs.rows(target), inputs.rows(source)] = matrix.to_dense()
            factor = factor + share[number] * block
        factors.append(factor)
    composed = factors[0] @ factors[1]
    for factor in factors[2:]:
        sums = composed.sum(1, keepdim=True)
        composed = torch.where(sums > 0, composed / sums, 0.0) @ factor
    composed = composed + torch.eye(count)
    return composed / composed.sum(1, keepdim=True) @ states


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("dropped", [(), (2,)])
def test_gtn_without_products_equals_gtn_with_them(layers: int, dropped: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    inputs = TypedInputs.of(tiny_graph(), target=0)
    model = GtnModel(inputs, "all", 5, layers, 2, dropped, 0.0, 3.0, 2)
    torch.nn.init.normal_(model.selection)
    states = random_states(9, 5).requires_grad_()
    shares = model.shares()
    slope = random_states(9, 5, 1)
    for channel in range(2):
        found = model.convolve(inputs, states, shares[channel])
        wanted = dense_gtn(model, inputs, states, shares[channel])
        torch.testing.assert_close(found, wanted)
        given = (states, model.selection)
        slopes = [
            torch.autograd.grad((one * slope).sum(), given, retain_graph=True) for one in (found, wanted)
        ]
        torch.testing.assert_close(slopes[0], slopes[1])


def test_the_neighbors_of_dropped_types_get_the_mean_of_their_states() -> None:
    inputs = TypedInputs.of(tiny_graph(), target=0)
    model = GtnModel(inputs, "all", 4, 1, 1, (1,), 0.0, 1.0, 2)
    assert model.steps == []
    ends = {(target, source) for target, source, _ in model.from_dropped}
    assert ends == {(0, 1), (2, 1)}
    for target, source, matrix in model.from_dropped:
        wanted = step_matrix(tiny_graph(), MetaPath((target, source), (None,)), 0).toarray().astype(float)
        wanted /= np.maximum(wanted.sum(1, keepdims=True), 1)
        assert np.allclose(matrix.to_dense().numpy(), wanted)


@pytest.mark.parametrize("text", ["author-paper-author", "author-paper-venue-paper-author"])
def test_magnn_encodes_every_instance_by_rotations(text: str) -> None:
    torch.manual_seed(0)
    graph = tiny_graph()
    inputs, path = TypedInputs.of(graph, target=0), parse_metapath(graph, text)
    instances = Instances.of(inputs, path, 100, 0)
    turns, attention, states = Rotations([path], 4), InstanceAttention(4, 2, 0.0), random_states(9, 4)
    table = torch.cat(
        [turned(states[inputs.rows(at)], turn) for at, turn in zip(path.types, turns(path), strict=True)]
    )
    found = attention(states[:4], table, instances)
    units = torch.view_as_complex(F.normalize(turns.turns, dim=-1))
    for node in range(4):
        encoded = [
            encoded_path(graph, path, nodes, states, units, turns.number)
            for nodes in instance_nodes(graph, path, node)
        ]
        if not encoded:
            assert (found[node] == 0).all()
            continue
        rows = torch.stack(encoded)
        logits = F.leaky_relu(states[node] @ attention.of_node + rows @ attention.of_instance, 0.01)
        torch.testing.assert_close(found[node].view(2, 4), logits.softmax(0).T @ rows)


def instance_nodes(graph, path: MetaPath, node: int) -> list[list[int]]:
    """List the paths from a node, as ids of the whole graph."""
    found = [[node]]
    for step in range(path.length):
        matrix = step_matrix(graph, path, step).toarray()
        first, last = graph.starts[path.types[step]], graph.starts[path.types[step + 1]]
        found = [[*p, int(j + last)] for p in found for j in np.flatnonzero(matrix[p[-1] - first])]
    return found


def encoded_path(graph, path, nodes, states, units, number) -> torch.Tensor:
    """Equation 4 of MAGNN, from the far end to the node: o = h + o * r."""
    complex_states = torch.view_as_complex(states.view(len(states), -1, 2))
    found = complex_states[nodes[-1]]
    for step in reversed(range(path.length)):
        first, last = path.types[step], path.types[step + 1]
        turn = units[number[min(first, last), max(first, last), -1]]
        found = complex_states[nodes[step]] + found * (turn.conj() if first > last else turn)
    return torch.view_as_real(found / len(nodes)).flatten()


def test_magnn_keeps_at_most_the_asked_number_of_instances() -> None:
    graph = small_graph()
    path = parse_metapath(graph, "author-paper-term-paper-author")
    instances = Instances.of(TypedInputs.of(graph, target=0), path, 7, 0)
    assert instances.places.shape == (60, 7, 5)
    assert instances.there.sum(1).max() == 7
