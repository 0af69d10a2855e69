"""Neo-GNN, beside powers of dense matrices."""

from __future__ import annotations

import gc

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import neognn, walk_overlap  # noqa: E402
from trueedge.training import Messages, PairObjective, seeded  # noqa: E402

SMALL = {
    "dim": 16,
    "layers": 2,
    "predictor_layers": 2,
    "batch_size": 128,
    "dropout": 0.0,
    "learning_rate": 0.01,
}


@pytest.fixture(scope="module")
def task():
    """Cliques that have lost some edges, and two nodes that have none."""
    rng = np.random.default_rng(0)
    inside = np.array([(a, b) for a in range(12) for b in range(a + 1, 12)])
    edges = np.concatenate([12 * clique + inside for clique in range(6)])
    edges = edges[rng.permutation(len(edges))[:260]]
    return te.task(te.Graph.from_edges(edges, 74, name="cliques"), "existing", 0)


def built(task, **settings):
    with seeded(0):
        return create("neo-gnn", {**SMALL, **settings}).for_task(task).build(task, 0).eval()


def some_pairs(task, count=60):
    drawn = np.random.default_rng(1).integers(0, task.graph.num_nodes, (count, 2))
    more = [[3, 3], [72, 73], [72, 72], [5, 73]]
    return np.concatenate([drawn, task.graph.edges[:20], more]).astype(np.int64)


def scores(model, messages, pairs):
    return model.score(model.encode(messages), torch.from_numpy(pairs), messages)


def powers(graph, hops, beta):
    matrix = graph.adjacency().toarray().astype(float)
    return sum(beta**hop * np.linalg.matrix_power(matrix, hop + 1) for hop in range(hops))


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("training", [False, True])
def test_overlaps_are_products_of_rows_of_powers_of_the_adjacency(hops, training, task):
    model, messages, pairs = (
        built(task, hops=hops, beta=0.3).train(training),
        Messages.of(task.graph),
        some_pairs(task),
    )
    weights = torch.rand(74, 1, generator=torch.Generator().manual_seed(0)).requires_grad_()
    found = model.overlap(weights, torch.from_numpy(pairs), messages)
    rows = torch.from_numpy(powers(task.graph, hops, 0.3)).float()
    products = rows[pairs[:, 0]] * rows[pairs[:, 1]]
    torch.testing.assert_close(found, products @ weights, rtol=1e-4, atol=1e-5)
    found.sum().backward()
    torch.testing.assert_close(weights.grad.squeeze(1), products.sum(0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        neognn.table_sums(model.power_table(messages), torch.from_numpy(pairs), weights),
        found,
        rtol=1e-4,
        atol=1e-4,
    )


@pytest.mark.parametrize("limit", [1 << 25, 40])
def test_searches_find_the_rows_and_overlaps_that_compiled_loops_do(limit, task, monkeypatch):
    monkeypatch.setattr(walk_overlap, "LOOKUPS", limit)
    messages, pairs = Messages.of(task.graph), torch.from_numpy(some_pairs(task))
    weights = torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64)
    ends = torch.unique(pairs)
    one, other = (
        walk_overlap.walk_rows(messages, ends, weights),
        walk_overlap.searched_walk_rows(messages, ends, weights),
    )
    assert one.rows.indptr.equal(other.rows.indptr)
    assert one.rows.indices.equal(other.rows.indices)
    assert one.values.equal(other.values)
    (sets, products), (searched, searched_products) = one.overlaps(pairs), other.searched_overlaps(pairs)
    assert sets.nodes.equal(searched.nodes)
    assert sets.rows.equal(searched.rows)
    assert products.equal(searched_products)


def test_a_score_is_the_logit_of_the_mixed_probabilities(task):
    model, messages, pairs = built(task), Messages.of(task.graph), some_pairs(task)
    torch.nn.init.normal_(model.predictor.shares, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        mix, structure, features = model.learned(model.encode(messages), torch.from_numpy(pairs), messages)
        shares = torch.softmax(model.predictor.shares, 0)
        expected = shares[0] * torch.sigmoid(structure) + shares[1] * torch.sigmoid(features)
        torch.testing.assert_close(torch.sigmoid(mix), expected)
        far = torch.tensor([200.0, -200.0, 0.0])
        mixed = neognn.mixed_logits(torch.log(torch.tensor([0.5, 0.5])), far, far)
        torch.testing.assert_close(mixed, far)


def test_the_losses_of_the_mix_and_of_both_scores_are_added_up(task):
    model = built(task)
    objective = PairObjective(
        task.graph, Messages.of(task.graph), create("neo-gnn", SMALL).for_task(task).schedule(task)
    )
    step = np.arange(50)
    found = objective.backward(model, step, np.random.default_rng(0))
    negatives = objective.draw(50, np.random.default_rng(0))
    pairs = torch.from_numpy(np.concatenate([task.graph.edges[step], negatives]).astype(np.int64))
    messages = objective.messages.without(torch.from_numpy(step))
    labels = torch.arange(100) < 50
    with torch.no_grad():
        parts = model.learned(model.encode(messages), pairs, messages)
        losses = [
            2 * torch.nn.functional.binary_cross_entropy_with_logits(part, labels.float()) for part in parts
        ]
    assert len(parts) == 3
    torch.testing.assert_close(found, sum(losses))


def test_rows_are_kept_for_one_graph_and_made_anew_for_another(task, monkeypatch):
    model, pairs = built(task), torch.from_numpy(some_pairs(task))
    whole = Messages.of(task.graph)
    fewer = whole.without(torch.arange(0, 200, 2))
    assert model.rows(pairs, whole) is model.rows(pairs[:3], whole)
    kept = model.rows(pairs, fewer)
    assert len(kept.values) < len(model.rows(pairs, whole).values)
    monkeypatch.setattr(neognn, "KEPT_WALKS", 0)
    model._kept = None
    few = model.rows(pairs[:3], whole)
    assert model._kept is None
    assert len(few.values) < len(walk_overlap.walk_rows(whole, torch.arange(74), model.weights).values)
    weights = torch.rand(74, 1)
    found = model.overlap(weights, pairs, whole)
    monkeypatch.undo()
    assert model.overlap(weights, pairs, whole).equal(found)


def test_what_is_kept_does_not_keep_a_graph_alive(task):
    model, pairs = built(task), torch.from_numpy(some_pairs(task))
    messages = Messages.of(task.graph)
    model.rows(pairs, messages)
    alive = model._kept[0]
    del messages
    gc.collect()
    assert alive() is None
