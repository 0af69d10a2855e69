"""R-GCN, HGT, HetSANN and RSHN against formulas that are computed edge by edge."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from tiny_graphs import one_relation, plain_edges, tiny_graph

from trueedge.methods.typed.models.hetsann import HetSANNModel, HetSANNShape, voices
from trueedge.methods.typed.models.hgt import HGTModel, LayerShape
from trueedge.methods.typed.models.rgcn import RGCNModel
from trueedge.methods.typed.models.rshn import RSHNModel, relation_graph
from trueedge.training.typed.inputs import TypedInputs
from trueedge.training.typed.relation_rows import RelationRows

DIM, OUT, HEADS = 8, 3, 2


def models(inputs, out=OUT, features="all", layers=2, dropout=0.0):
    """Return one model of each kind and option."""
    shared = (inputs, features, DIM, out, layers)
    others = (inputs, features, out, layers)
    normed = LayerShape(DIM, HEADS, dropout=dropout)
    torch.manual_seed(0)
    return {
        "rgcn": RGCNModel(*shared, 0, 0, True, "relation", dropout),
        "rgcn bases": RGCNModel(*shared, 2, 0, True, "relation", dropout),
        "rgcn without loops": RGCNModel(*shared, 0, 0, False, "relation", dropout),
        "rgcn by node": RGCNModel(*shared, 0, 0, True, "node", dropout),
        "hgt": HGTModel(*others, normed, True, "node"),
        "hgt without norm and reverses": HGTModel(*others, replace(normed, norm=False), False, "node"),
        "hgt by relation": HGTModel(*others, normed, True, "relation"),
        "hetsann": HetSANNModel(*others, HetSANNShape(DIM, HEADS, "voices", dropout)),
        "hetsann concat": HetSANNModel(*others, HetSANNShape(DIM, HEADS, "concat", dropout)),
        "rshn": RSHNModel(*shared, 2, 200, 4, dropout),
    }


NAMES = tuple(models(TypedInputs.of(one_relation(), target=0)))


@pytest.fixture(params=[tiny_graph, one_relation])
def inputs(request):
    return TypedInputs.of(request.param(), target=0)


def plain_rgcn(model, inputs, states):
    edges = plain_edges(model.rows.relations)
    # Only means over all edges of a node count a loop.
    by_node = any(one.relation < 0 for one in model.rows.relations)
    for number, layer in enumerate(model.layers):
        states = torch.relu(states) if number else states
        matrices = layer.matrices
        if layer.blocks:
            parts = matrices.view(len(matrices), layer.blocks, -1, layer.shape[2] // layer.blocks)
            matrices = torch.stack([torch.block_diag(*own) for own in parts])
        if layer.shares is not None:
            matrices = torch.einsum("rb,bio->rio", layer.shares, matrices)
        new = []
        for node in range(inputs.num_nodes):
            total = layer.bias + (0 if layer.own is None else states[node] @ layer.own)
            for relation in range(model.rows.num_relations):
                own = [edge for edge in edges if edge.relation == relation and edge.target == node]
                count = sum(edge.target == node for edge in edges) if by_node else len(own)
                for edge in own:
                    total = total + states[edge.source] @ matrices[relation] / count
            new.append(total)
        states = torch.stack(new)
    return states


def plain_hgt(model, inputs, states):
    edges, size = plain_edges(model.rows.relations), DIM // HEADS
    states, types = torch.tanh(states), inputs.node_type.tolist()
    for layer in model.layers:
        new = []
        for node, kind in enumerate(types):
            query = (states[node] @ layer.queries[kind] + layer.query_bias[kind]).view(HEADS, size)
            received = torch.zeros(HEADS, size)
            entering = [i for i, one in enumerate(model.rows.relations) if one.target_type == kind]
            by_relation = model.attention.shares is not None
            for head, group in product(
                range(HEADS), [[one] for one in entering] if by_relation else [entering]
            ):
                logits, messages = [], []
                for edge in edges:
                    if edge.target != node or edge.relation not in group:
                        continue
                    sender = types[edge.source]
                    own = torch.cat([states[edge.source], torch.ones(1)])
                    key = own @ layer.keys[sender, :, head] @ layer.attention[edge.relation, head]
                    prior = layer.prior[edge.relation, head]
                    logits.append(key @ query[head] * prior / math.sqrt(size))
                    messages.append(own @ layer.values[sender, :, head] @ layer.message[edge.relation, head])
                if logits:
                    mean = torch.softmax(torch.stack(logits), 0) @ torch.stack(messages)
                    received[head] = received[head] + mean / (len(entering) if by_relation else 1)
            moved = F.gelu(received.flatten()) @ layer.outputs[kind] + layer.output_bias[kind]
            share = torch.sigmoid(layer.skip[kind])
            mixed = share * moved + (1 - share) * states[node]
            new.append(layer.norms[kind](mixed) if layer.norms else mixed)
        states = torch.stack(new)
    return model.output(states)


def plain_hetsann(model, inputs, states):
    rows = model.rows
    edges, types = plain_edges(rows.relations), inputs.node_type.tolist()
    loop = {one.source_type: number for number, one in enumerate(rows.relations) if one.relation < 0}
    for layer in model.layers:
        new = []
        for node, kind in enumerate(types):
            target = (states[node] @ layer.matrices.of(loop[kind])).view(layer.heads, DIM)
            parts = []
            for head in range(layer.heads):
                logits, sent = [], []
                for relation, source, _ in (edge for edge in edges if edge.target == node):
                    value = (states[source] @ layer.matrices.of(relation)).view(layer.heads, DIM)[head]
                    if layer.shared:
                        vector = layer.vectors[layer.vector[relation], head] * layer.sign[relation, 0]
                        logit = target[head] @ (value + vector)
                    else:
                        count = rows.num_relations
                        logit = layer.vectors[relation, head] @ value
                        logit = logit + layer.vectors[count + relation, head] @ target[head]
                    logits.append(F.leaky_relu(logit, 0.2).reshape(()))
                    sent.append(value)
                parts.append(torch.softmax(torch.stack(logits), 0) @ torch.stack(sent))
            new.append(F.elu(torch.cat(parts) + layer.bias))
        states = torch.stack(new)
    return model.output(states)


def plain_rshn(model, inputs, states):
    edges = plain_edges(inputs.typed)
    vectors = model.of_relations(model.relation_vectors())
    for layer in model.layers:
        new = []
        for node in range(inputs.num_nodes):
            total = layer(states[node])
            for edge in edges:
                if edge.target == node:
                    total = total + layer(states[edge.source]) - vectors[edge.relation]
            new.append(torch.tanh(total))
        states = torch.stack(new)
    return model.output(states)


PLAIN = {"rgcn": plain_rgcn, "hgt": plain_hgt, "hetsann": plain_hetsann, "rshn": plain_rshn}


@pytest.mark.parametrize("name", NAMES)
def test_a_model_equals_its_formula_edge_by_edge(inputs, name):
    model = models(inputs)[name]
    for parameter in model.parameters():
        # Values that start at 0 or 1 would hide a mistake.
        parameter.data += 0.1 * torch.randn_like(parameter)
    plain = PLAIN[name.split()[0]](model, inputs, model.input(inputs))
    ours = model(inputs)
    torch.testing.assert_close(ours, plain[inputs.rows(0)], rtol=1e-4, atol=1e-5)
    parameters = list(model.parameters())
    slopes = [
        torch.autograd.grad(found.square().sum(), parameters, allow_unused=True)
        for found in (ours, plain[inputs.rows(0)])
    ]
    for got, wanted in zip(*slopes, strict=True):
        wanted = torch.zeros(()) if wanted is None else wanted
        torch.testing.assert_close(
            got if got is not None else wanted, wanted.expand_as(got), rtol=1e-3, atol=1e-4
        )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("features", ["all", "target", "one-hot", "target-only"])
def test_logits_are_of_the_target_type_and_vectors_of_all_nodes(name, features):
    for target, rows in ((1, 3), (None, 9)):
        inputs = TypedInputs.of(tiny_graph(), target=target)
        model = models(inputs, out=5, features=features)[name]
        assert model(inputs).shape == (rows, model.out_dim)
        # HGT's vectors are its last states.
        assert model.out_dim == (DIM if target is None and "hgt" in name else 5)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits(name):
    inputs = TypedInputs.of(tiny_graph(), target=0)
    found = []
    for _ in range(2):
        model = models(inputs, dropout=0.5)[name]
        torch.manual_seed(7)
        out = model(inputs)
        out.sum().backward()
        found.append([out, *(one.grad for one in model.parameters() if one.grad is not None)])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_rgcn_with_blocks_equals_its_formula_with_block_diagonal_matrices():
    inputs = TypedInputs.of(tiny_graph())
    torch.manual_seed(0)
    model = RGCNModel(inputs, "all", DIM, 4, 2, 0, 2, True, "node", 0.0)
    plain = plain_rgcn(model, inputs, model.input(inputs))
    torch.testing.assert_close(model(inputs), plain, rtol=1e-4, atol=1e-5)
    assert model.layers[0].matrices.numel() == model.rows.num_relations * DIM * DIM // 2


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_parameters_of_a_layer_grow_with_relations_and_types_as_published():
    inputs = TypedInputs.of(tiny_graph(), target=0)
    found = models(inputs, out=DIM)
    # Four relations, the reverse of "in", and the reverse of "cites", which has no edges either.
    relations, types = len(inputs.typed), 3
    assert count(found["rgcn"].layers[0]) == (relations + 1) * DIM * DIM + DIM
    assert count(found["rgcn bases"].layers[0]) == (2 + 1) * DIM * DIM + 2 * relations + DIM
    by_type = 4 * (DIM * DIM + DIM) + 1 + 2 * DIM
    by_relation = 2 * HEADS * (DIM // HEADS) ** 2 + HEADS
    assert count(found["hgt"].layers[0]) == types * by_type + relations * by_relation
    matrices = (relations + types) * DIM * HEADS * DIM
    assert (
        count(found["hetsann concat"].layers[0])
        == matrices + (relations + types) * 2 * HEADS * DIM + HEADS * DIM
    )
    assert count(found["rshn"].layers[0]) == DIM * DIM


def test_a_relation_and_its_reverse_share_a_voice():
    rows = RelationRows(TypedInputs.of(tiny_graph()), loops=True)
    found = {one.name: pair for one, pair in zip(rows.relations, voices(rows), strict=True)}
    for name, other in (("writes", "written by"), ("in", "reverse of in")):
        assert found[name][0] == found[other][0]
        assert {found[name][1], found[other][1]} == {1.0, -1.0}
    assert found["writes"][0] != found["in"][0]
    assert found["venue to itself"][1] == 0


def test_relations_that_follow_each_other_are_neighbours():
    inputs = TypedInputs.of(tiny_graph())
    names = [one.name for one in inputs.typed]
    graph = relation_graph(inputs, walks=500, length=4, seed=1)
    assert np.array_equal(graph > 0, (graph > 0).T)
    assert (np.diag(graph) == 1).all()
    # Whoever writes is at a paper, from where "written by" and "in" leave, but not "reverse of in".
    writes = graph[names.index("writes")]
    assert writes[names.index("written by")] > 0
    assert writes[names.index("in")] > 0
    assert writes[names.index("cites")] == 0
    np.testing.assert_allclose(np.square(writes).sum() - 1, 1, rtol=1e-5)
    assert np.array_equal(graph, relation_graph(inputs, walks=500, length=4, seed=1))
    assert not np.array_equal(graph, relation_graph(inputs, walks=500, length=4, seed=2))


def test_walks_end_where_no_edge_leaves():
    graph = one_relation()
    inputs = TypedInputs.of(graph)
    assert relation_graph(inputs, 100, 5, 0).shape == (2, 2)


def test_rows_of_a_type_without_outgoing_relations_are_left_out():
    graph = tiny_graph()
    rows = RelationRows(TypedInputs.of(graph))
    states = torch.randn(9, DIM)
    matrices = torch.randn(rows.num_relations, DIM, OUT)
    sent = rows.send(states, matrices)
    assert sent.shape == (rows.edges.num_sources, OUT)
    for place in range(len(rows.relation)):
        relation = int(rows.relation[place])
        one = rows.relations[relation]
        target = int(rows.edges.target[place])
        sources = one.source[one.target == target]
        wanted = states[sources] @ matrices[relation]
        assert (wanted - sent[rows.edges.source[place]]).abs().sum(1).min() < 1e-5
