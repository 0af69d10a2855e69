"""Neural Common Neighbor, with and without completion, beside dense twins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import common_neighbors as cn  # noqa: E402
from trueedge.training import Messages, seeded  # noqa: E402

SMALL = {
    "dim": 16,
    "layers": 2,
    "predictor_layers": 2,
    "batch_size": 64,
    "dropout": 0.0,
    "learning_rate": 0.01,
}
NAMES = ["ncn", "ncnc"]


@pytest.fixture(scope="module")
def task():
    """Cliques that have lost some edges, and two nodes that have none."""
    rng = np.random.default_rng(0)
    inside = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)])
    edges = np.concatenate([12 * clique + inside for clique in range(6)])
    edges = edges[rng.permutation(len(edges))[:260]]
    features = rng.random((74, 5)).astype(np.float32)
    return te.task(te.Graph.from_edges(edges, 74, features, name="cliques"), "existing", 0)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def built(name, task, **settings):
    with seeded(0):
        return create(name, {**SMALL, **settings}).for_task(task).build(task, 0).eval()


def some_pairs(task, count=60):
    nodes = task.graph.num_nodes
    drawn = np.random.default_rng(1).integers(0, nodes, (count, 2))
    return np.concatenate([drawn, task.graph.edges[:20], [[3, 3], [72, 73], [72, 72], [5, 73]]]).astype(
        np.int64
    )


def dense(graph):
    return torch.from_numpy(graph.adjacency().toarray().astype(np.float32))


def scores(model, messages, pairs):
    return model.score(model.encode(messages), torch.from_numpy(pairs), messages)


def dense_completion(model, ends, others, matrix, pairs):
    """The weights of all nodes for each pair, one node after the other, (m, n)."""
    rows = []
    for a, b in pairs.tolist():
        row = torch.zeros(len(matrix))
        for node in set(range(len(matrix))) - {a, b}:
            if matrix[a, node] and matrix[b, node]:
                row[node] = 1.0
            elif matrix[a, node] or matrix[b, node]:
                asked = torch.tensor([[node, b if matrix[a, node] else a]])
                sums = (matrix[asked[:, 0]] * matrix[asked[:, 1]]) @ others
                logit = model.predictor(ends[asked[:, 0]] * ends[asked[:, 1]], sums)
                row[node] = model.completion.weigh(logit)[0]
        rows.append(row)
    return torch.stack(rows)


def dense_scores(model, messages, graph, pairs):
    ends, others = model.encode(messages).chunk(2, dim=1)
    matrix, asked = dense(graph), torch.from_numpy(pairs)
    weights = matrix[asked[:, 0]] * matrix[asked[:, 1]]
    if hasattr(model, "completion"):
        weights = dense_completion(model, ends, others, matrix, asked)
    return model.predictor(ends[asked[:, 0]] * ends[asked[:, 1]], weights @ others)


def test_scores_are_those_of_a_dense_twin(name, task):
    model, pairs, messages = built(name, task), some_pairs(task), Messages.of(task.graph)
    with torch.no_grad():
        found, expected = scores(model, messages, pairs), dense_scores(model, messages, task.graph, pairs)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("settings", [{}, {"completion_gradient": True, "completion_block": 50}], ids=str)
def test_gradients_are_those_of_a_dense_twin(name, settings, task):
    if name == "ncn" and settings:
        pytest.skip("completes nothing")
    model, pairs, messages = built(name, task, **settings), some_pairs(task, 20), Messages.of(task.graph)
    scores(model, messages, pairs).square().sum().backward()
    found = {key: value.grad.clone() for key, value in model.named_parameters()}
    model.zero_grad()
    if name == "ncnc" and not settings:
        # Without a gradient through the completion its weights are mere numbers.
        weigh = type(model.completion).weigh
        object.__setattr__(model.completion, "weigh", lambda x: weigh(model.completion, x).detach())
    dense_scores(model, messages, task.graph, pairs).square().sum().backward()
    for key, value in model.named_parameters():
        torch.testing.assert_close(
            found[key], value.grad, rtol=1e-3, atol=1e-4, msg=lambda m, k=key: f"{k}: {m}"
        )


def test_the_encoders_are_products_of_matrices(task):
    matrix, messages = dense(task.graph), Messages.of(task.graph)
    root = (matrix.sum(1) + 1).rsqrt()
    carried = root[:, None] * (matrix + torch.eye(74)) * root
    features = torch.from_numpy(np.array(task.graph.features))
    for encoder, residual in (("pure-gcn", False), ("pure-gcn", True), ("pure-sum", True)):
        inner = built("ncn", task, encoder=encoder, residual=residual).encoder.encoder
        step = carried if encoder == "pure-gcn" else matrix
        start = inner.linear(features)
        first = step @ start + (start if residual else 0)
        second = step @ first + (first if residual else 0)
        expected = second if residual else inner.mix[0] * first + inner.mix[1] * second
        found = inner(built("ncn", task).inputs, messages)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    gcn = built("ncn", task, encoder="gcn", residual=True)
    assert torch.isfinite(gcn.encode(messages)).all()


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_the_block_of_completion_decides_memory_and_not_the_result(block, task, monkeypatch):
    pairs, messages = some_pairs(task)[::4].copy(), Messages.of(task.graph)
    found = []
    for size in (block, 200):
        model = built("ncnc", task, completion_block=size, completion_gradient=True).train()
        asked, original = [], model.score_with
        monkeypatch.setattr(
            model, "score_with", lambda e, o, p, m, f=original, a=asked: (a.append(len(p)), f(e, o, p, m))[1]
        )
        answer = scores(model, messages, pairs)
        answer.square().sum().backward()
        assert max(asked) <= size
        gradients = [value.grad for value in model.parameters()]
        found.append((answer.detach(), gradients, scores(model.eval(), messages, pairs).detach()))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(found[0][2], found[1][2], rtol=1e-4, atol=1e-5)


def test_sure_edges_are_counted_as_common_neighbours_and_impossible_ones_not(task):
    pairs, messages = some_pairs(task), Messages.of(task.graph)
    none = built("ncnc", task, completion_weight=0.0)
    plain = built("ncn", task)
    plain.load_state_dict(none.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(scores(none, messages, pairs), scores(plain, messages, pairs))
        sure = built("ncnc", task, completion_offset=-1000.0)
        ends, others = sure.encode(messages).chunk(2, dim=1)
        matrix, asked = dense(task.graph), torch.from_numpy(pairs)
        union = ((matrix[asked[:, 0]] + matrix[asked[:, 1]]) > 0).float()
        union[torch.arange(len(pairs)), asked[:, 0]] = 0
        union[torch.arange(len(pairs)), asked[:, 1]] = 0
        torch.testing.assert_close(
            sure.completed_sums(ends, others, asked, messages), union @ others, rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("block", [1 << 27, 500])
def test_tables_add_up_what_lists_do(block, task, monkeypatch):
    monkeypatch.setattr(cn, "DENSE_BLOCK", block)
    messages, pairs = Messages.of(task.graph), torch.from_numpy(some_pairs(task))
    answers = []
    for messages.dense in (False, True):
        states = torch.randn(74, 6, generator=torch.Generator().manual_seed(0)).requires_grad_()
        found = cn.common_neighbor_sums(messages, pairs, states)
        (found * torch.arange(6.0)).square().sum().backward()
        answers.append((found.detach(), states.grad))
    torch.testing.assert_close(answers[0], answers[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("protocol", ["existing", "heart"])
def test_on_ddi_both_parts_are_mapped_once_more_and_edges_are_no_negatives(name, protocol, task):
    def filled(dataset):
        return create(name).for_task(SimpleNamespace(protocol=protocol, dataset=dataset))

    assert (filled("ogbl-ddi").linear_tail, filled("ogbl-ddi").reject_edges) == (True, True)
    assert (filled("ogbl-collab").linear_tail, filled("ogbl-collab").reject_edges) == (False, False)
    plain, mapped = (built(name, task, linear_tail=tail).predictor for tail in (False, True))
    products, sums = torch.rand(2, 7, 16)
    with torch.no_grad():
        found = mapped(products, sums)
        for part in ("sums", "products"):
            *first, last = getattr(mapped, part)
            assert isinstance(last, torch.nn.Linear)
            getattr(plain, part).load_state_dict(torch.nn.Sequential(*first).state_dict())
        plain.last.load_state_dict(mapped.last.state_dict())
        joined = mapped.sums[-1](plain.sums(sums)) + mapped.products[-1](plain.products(products))
        torch.testing.assert_close(found, plain.last(joined).squeeze(1))
