"""Neo-GNN, beside powers of dense matrices."""

from __future__ import annotations

import gc

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import neognn, walk_overlap  # noqa: E402
from trueedge.training import Messages, PairObjective, TrainedScorer, seeded  # noqa: E402
from trueedge.training.loop import History  # noqa: E402

SMALL = {
    "dim": 16,
    "layers": 2,
    "predictor_layers": 2,
    "batch_size": 128,
    "dropout": 0.0,
    "learning_rate": 0.01,
}
SHORT = {**SMALL, "epochs": 6, "evaluate_every": 2, "select": "auc"}


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


def test_both_directions_and_any_order_get_the_same_bits(task):
    scorer = TrainedScorer(built(task, hops=3), Messages.of(task.graph), History(None))
    pairs = some_pairs(task)
    found = scorer.score(pairs)
    assert np.isfinite(found).all()
    assert scorer.score(pairs[:, ::-1].copy()).tobytes() == found.tobytes()
    order = np.random.default_rng(2).permutation(len(pairs))
    assert scorer.score(pairs[order]).tobytes() == found[order].tobytes()
    assert all(scorer.score(pairs[i : i + 1])[0] == found[i] for i in range(0, len(pairs), 9))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_seed_learns_the_same_bits(threads, task):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        method = create("neo-gnn", {**SHORT, "epochs": 2, "batch_size": 512, "dropout": 0.3})
        answers = [method.fit(task, seed).score(task.pairs("valid")) for seed in (3, 3, 4)]
    finally:
        torch.set_num_threads(before)
    assert answers[0].tobytes() == answers[1].tobytes()
    assert answers[0].tobytes() != answers[2].tobytes()


@pytest.mark.parametrize("hops", [1, 2])
def test_cliques_are_found_again(hops, task):
    scorer = create("neo-gnn", {**SHORT, "epochs": 30, "evaluate_every": 10, "hops": hops}).fit(task)
    assert task.evaluate(scorer, "test", ["auc"])["auc"] > 0.85
    assert te.check_scorer(scorer, task).ok


@pytest.mark.parametrize("features", [0, 4])
@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (2, 1), (3, 3), (12, 14)])
def test_small_graphs_are_learned_from(features, nodes, edges, task, random_graph):
    graph = random_graph(7, nodes=nodes, edges=edges, features=features)
    model = create("neo-gnn", SMALL).for_task(task).build(_Only(graph), 0)
    pairs = np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), -1).reshape(-1, 2)
    answer = scores(model, Messages.of(graph), pairs)
    assert torch.isfinite(answer).all()
    answer.sum().backward()


class _Only:
    """A task as far as a model is built of it."""

    def __init__(self, graph):
        self.graph = graph


def no_structure():
    """A random graph: nothing but an edge itself tells that it is one."""
    rng = np.random.default_rng(5)
    features = rng.standard_normal((120, 16)).astype(np.float32)
    pairs = rng.integers(0, 120, (420, 2))
    return te.task(
        te.Graph.from_edges(pairs, 120, features, self_loops="drop", repeats="drop"), "existing", 0
    )


def test_a_hidden_edge_leaves_no_trace():
    task = no_structure()
    graph, model = task.graph, built(task)
    for place in (0, 17, 200):
        pair = graph.edges[place : place + 1].astype(np.int64)
        never = te.Graph.from_edges(np.delete(graph.edges, place, axis=0), graph.num_nodes, graph.features)
        hidden = Messages.of(graph).without(torch.tensor([place]))
        with torch.no_grad():
            without = scores(model, Messages.of(never), pair)
            assert scores(model, hidden, pair).equal(without)
            assert not torch.isclose(scores(model, Messages.of(graph), pair), without)
            weights = torch.ones(graph.num_nodes, 1)
            # In two hops the edge itself is a way from each end to the other.
            seen = model.overlap(weights, torch.from_numpy(pair), Messages.of(graph))
            assert seen > model.overlap(weights, torch.from_numpy(pair), hidden)


def test_only_a_model_that_sees_its_positives_learns_to_look_for_them():
    task = no_structure()
    inside, outside = {}, {}
    for hidden in (True, False):
        chosen = {**SHORT, "epochs": 30, "evaluate_every": 30, "hide_positives": hidden}
        scorer = create("neo-gnn", chosen).fit(task)
        positives = scorer.score(task.graph.edges.astype(np.int64))
        negatives = scorer.score(np.random.default_rng(0).integers(0, 120, (500, 2)))
        inside[hidden] = (positives[:, None] > negatives).mean()
        outside[hidden] = task.evaluate(scorer, "test", ["auc"])["auc"]
    assert 0.3 < outside[True] < 0.7
    assert inside[False] > inside[True] + 0.1
