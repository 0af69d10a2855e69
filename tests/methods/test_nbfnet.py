"""NBFNet: what few states give is what all states give, and no edge of its own is seen."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402, N812

import trueedge as te  # noqa: E402
from trueedge.methods.pairwise.models import nbfnet  # noqa: E402
from trueedge.methods.pairwise.models.nbfnet import BellmanFord, NbfModel, pna_scales  # noqa: E402
from trueedge.methods.pairwise.models.reach import Reach  # noqa: E402
from trueedge.training import Messages, seeded  # noqa: E402


@pytest.fixture(scope="module")
def task():
    """Two halves with a few edges between them."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (150, 2))
    pairs = np.concatenate([half, 30 + half[::-1], [[0, 30], [1, 31]]])
    graph = te.Graph.from_edges(pairs, 62, self_loops="drop", repeats="drop", name="halves")
    return te.task(graph, "existing", seed=0)


def model_of(aggregation="pna", layers=4, dim=6, dropout=0.0, seed=0):
    with seeded(seed):
        return NbfModel(BellmanFord(layers, dim, aggregation, dropout))


def seen_from(model, graph, source):
    """The states of all nodes as seen from a source, node by node and message by message."""
    encoder = model.encoder
    dim, query = encoder.dim, encoder.query
    near = [graph.indices[a:b].tolist() for a, b in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)]
    logs = [np.log(len(row) + 1.0) for row in near]
    scales = [log / max(np.mean(logs), 1e-6) for log in logs]
    start = [query if node == source else torch.zeros(dim) for node in range(graph.num_nodes)]
    states = start
    for layer in encoder.layers:
        after = []
        for node, row in enumerate(near):
            sent = [states[other] * layer.relation(query) for other in row]
            heard = torch.stack([*sent, start[node]])
            if layer.aggregation == "sum":
                inputs = torch.cat([states[node], heard.sum(dim=0)])
            else:
                spread = heard.var(dim=0, unbiased=False).clamp(min=1e-6).sqrt()
                # In two steps, so that the gradients of ties are shared in the same way.
                rest = torch.stack(sent or [start[node]])
                most = torch.maximum(rest.amax(dim=0), start[node])
                least = torch.minimum(rest.amin(dim=0), start[node])
                four = torch.cat([heard.mean(dim=0), most, least, spread])
                scale = scales[node]
                inputs = torch.cat([states[node], four, scale * four, four / max(scale, 0.01)])
            after.append(F.relu(layer.norm(layer.linear(inputs))) + states[node])
        states = after
    return torch.stack(states)


@pytest.mark.parametrize("aggregation", ["pna", "sum"])
@pytest.mark.parametrize("shape", [(1, 14, 16), (2, 12, 40), (3, 6, 0)], ids=str)
def test_few_states_give_what_all_states_give(aggregation, shape, random_graph):
    graph = random_graph(shape[0], nodes=shape[1], edges=shape[2])
    model = model_of(aggregation).eval()
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, shape[1], (25, 2)))
    with torch.no_grad():
        found = model.encoder(Messages.of(graph), pairs[:, 0], pairs[:, 1])
        for row, (source, target) in zip(found, pairs.tolist(), strict=True):
            torch.testing.assert_close(row, seen_from(model, graph, source)[target], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("aggregation", ["pna", "sum"])
def test_gradients_are_those_of_all_states(aggregation, random_graph):
    graph = random_graph(5, nodes=12, edges=16)
    pairs = torch.tensor([[0, 5], [3, 3], [7, 2], [0, 9]])
    gradients = []
    for whole in (False, True):
        model = model_of(aggregation).double().train()
        if whole:
            sides = [pairs, pairs.flip(1)]
            both = [torch.stack([seen_from(model, graph, a)[b] for a, b in side.tolist()]) for side in sides]
            query = model.encoder.query.expand(len(pairs), -1)
            logits = model.predictor(torch.cat([sum(both) / 2, query], dim=1)).squeeze(1)
        else:
            messages = Messages.of(graph)
            logits = model.score(model.encode(messages), pairs, messages)
        F.softplus(logits).sum().backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    for few, all_states in zip(*gradients, strict=True):
        torch.testing.assert_close(few, all_states, rtol=1e-4, atol=1e-6)


def test_only_what_a_source_can_change_and_a_target_can_hear_is_held():
    path = te.Graph.from_edges(np.array([[i, i + 1] for i in range(19)]), 20)
    messages = Messages.of(path)
    reach = Reach(messages, torch.tensor([3 * 20 + 7]), 6)
    # Of the states seen from 3, after t rounds: t hops or nearer to 3, and 6 - t or nearer to 7.
    for after, step in enumerate(reach.rounds, start=1):
        near = {node for node in range(20) if abs(node - 3) <= after and abs(node - 7) <= 6 - after}
        assert set(step.nodes[20:].tolist()) == near
    far = Reach(messages, torch.tensor([3 * 20 + 18]), 6)
    assert [len(step.nodes) for step in far.rounds] == [20] * 6
    assert far.asked.tolist() == [18]


def test_in_parts_come_the_same_bits_and_gradients(task, monkeypatch):
    messages = Messages.of(task.graph)
    pairs = torch.from_numpy(task.pairs("test").astype(np.int64))
    answers, gradients = [], []
    for block in (1 << 25, 40_000):
        monkeypatch.setitem(nbfnet.BLOCK, "cpu", block)
        model = model_of(layers=3, dim=32)
        with torch.no_grad():
            answers.append(model.eval().score(model.encode(messages), pairs, messages))
        model.train().score(model.encode(messages), pairs, messages).sum().backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    assert torch.equal(*answers)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_scales_of_a_graph_without_edges_are_finite():
    scales = pna_scales(Messages.of(te.Graph.from_edges(np.empty((0, 2), dtype=np.int64), 3)), 0.01)
    assert torch.isfinite(scales).all()
