"""PEG: positions, layers beside dense products, and what an edge leaves in the positions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import peg  # noqa: E402
from trueedge.methods.pairwise.models.peg import PegLayer, PegPredictor, Positions  # noqa: E402
from trueedge.methods.pairwise.models.positions import (  # noqa: E402
    laplacian_positions,
    principal_components,
    walk_positions,
)
from trueedge.training import DenseInput, Messages, seeded  # noqa: E402

SHORT = {"epochs": 6, "evaluate_every": 3, "batch_size": 64, "dim": 8, "layers": 2, "select": "auc"}
SHORT |= {"position_dim": 6}


@pytest.fixture(scope="module")
def task():
    """Two dense halves with a few edges between them."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (260, 2))
    pairs = np.concatenate([half, 30 + half[::-1], [[0, 30], [1, 31]]])
    features = rng.random((60, 20))
    graph = te.Graph.from_edges(pairs, 60, features, self_loops="drop", repeats="drop", name="halves")
    return te.task(graph, "existing", seed=0)


def distances(rows):
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=-1)


def test_positions_are_the_smooth_eigenvectors_of_the_laplacian(random_graph):
    graph = random_graph(3, nodes=60, edges=200)
    dense = graph.adjacency().toarray()
    root = 1 / np.sqrt(np.maximum(dense.sum(axis=0), 1))
    _, vectors = np.linalg.eigh(np.eye(60) - root[:, None] * dense * root)
    expected = vectors[:, 1:9] * (dense.sum(axis=0) > 0)[:, None]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True).clip(1e-12)
    found = laplacian_positions(graph, 8, seed=0)
    # Signs of eigenvectors are free, and distances do not see them.
    np.testing.assert_allclose(distances(found), distances(expected), atol=1e-3)


def test_positions_of_tiny_graphs_are_filled_up_with_zeros_and_loners_stand_at_nought(random_graph):
    for nodes, edges in ((1, 0), (2, 1), (6, 4)):
        found = laplacian_positions(random_graph(1, nodes=nodes, edges=edges), 10, seed=0)
        assert found.shape == (nodes, 10)
        assert np.isfinite(found).all()
    lonely = te.Graph.from_edges(np.array([[0, 1], [1, 2]]), 4)
    assert not laplacian_positions(lonely, 3, seed=0)[3].any()


def test_positions_from_walks_bring_neighbours_together(task):
    found = walk_positions(task.graph, 8, seed=0)
    apart = distances(found)
    assert apart[:30, :30].mean() < apart[:30, 30:].mean()


def test_principal_components_are_those_of_a_singular_value_decomposition():
    rng = np.random.default_rng(0)
    features = rng.random((50, 12)) @ np.diag(3.0 ** -np.arange(12)) @ rng.random((12, 30))
    found = principal_components(features, 5, seed=1)
    left, values, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(distances(found), distances(left[:, :5] * values[:5]), atol=1e-6, rtol=1e-3)
    assert np.array_equal(principal_components(features, 40, seed=1), features.astype(np.float32))


def test_a_layer_is_the_dense_product_it_stands_for(random_graph, monkeypatch):
    monkeypatch.setattr(peg, "BLOCK", 7)
    graph = random_graph(2, nodes=20, edges=40)
    messages = Messages.of(graph)
    with seeded(0):
        states, where, layer = torch.randn(20, 5), torch.randn(1, 20, 3), PegLayer(5, 4, 6)
    positions = Positions(where)
    found = layer(DenseInput(states), messages, positions.lengths(messages))
    linked = torch.from_numpy(graph.adjacency().toarray().astype(np.float32)) + torch.eye(20)
    root = linked.sum(dim=1).rsqrt()
    lengths = torch.from_numpy(distances(where[0].numpy()))
    weights = layer.weigh(lengths.reshape(-1, 1)).reshape(20, 20)
    expected = (root[:, None] * linked * root * weights) @ (states @ layer.linear.weight.t()) + layer.bias
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_agreeing_states_never_speak_against_an_edge():
    predictor = PegPredictor()
    with torch.no_grad():
        predictor.linear.weight[0, 0] = -3.0
    predictor.train()(torch.ones(1, 2, 3), torch.zeros(1, 2, 2))
    assert predictor.linear.weight[0, 0].item() == pytest.approx(1e-5)


@pytest.mark.parametrize("folds", [0, 2])
def test_a_hidden_edge_is_seen_by_positions_computed_once_and_by_those_of_its_fold_not(
    random_graph, folds, monkeypatch
):
    graph = random_graph(7, nodes=40, edges=90, features=6)
    task, edge = te.task(graph, "existing", seed=0), 5
    method = create("peg", {**SHORT, "folds": folds}).for_task(task)
    never = te.Graph.from_edges(np.delete(task.graph.edges, edge, axis=0), 40, graph.features)
    # Dealt by the ends, so that the other edges stay where they are when one is gone.
    monkeypatch.setattr(
        type(method),
        "fold_edges",
        lambda self, graph: [
            np.flatnonzero(graph.edges.sum(axis=1) % 2 == fold) for fold in range(self.folds)
        ],
    )
    pair = torch.from_numpy(task.graph.edges[[edge]].astype(np.int64))
    messages = Messages.of(task.graph)

    def score(graph, seen):
        with seeded(0):
            model = method.build(SimpleNamespace(graph=graph), 0).eval()
        model.positions.fold = 1 + int(pair.sum()) % 2 if folds else 0
        return model.score(model.encode(seen), pair, seen).item()

    hidden = score(task.graph, messages.without(torch.tensor([edge])))
    assert (hidden == score(never, Messages.of(never))) == (folds > 0)
    assert hidden != score(task.graph, messages), "an edge that is left in must show"


def test_a_batch_is_of_one_fold_and_every_edge_comes_once(task):
    method = create("peg", {**SHORT, "folds": 4, "batch_size": 20}).for_task(task)
    objective = method.objective(method.schedule(task))(task.graph, Messages.of(task.graph))
    steps = list(objective.steps(np.random.default_rng(0)))
    assert sorted(np.concatenate(steps).tolist()) == list(range(task.graph.num_edges))
    assert all(len(set(objective.fold_of[step].tolist())) == 1 for step in steps)
    with seeded(0):
        model = method.build(task, 0)
    read, here = [], model.positions.here
    model.positions.here = lambda: read.append(model.positions.fold) or here()
    objective.backward(model, steps[0], np.random.default_rng(0))
    assert set(read) == {1 + objective.fold_of[steps[0][0]]}
    assert model.positions.fold == 0
