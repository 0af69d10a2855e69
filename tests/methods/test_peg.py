"""PEG: positions, layers beside dense products, what an edge leaves in the positions, and its OGB model."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.embeddings.walk_vectors import WalkVectors  # noqa: E402
from trueedge.methods.pairwise.models import peg  # noqa: E402
from trueedge.methods.pairwise.models.peg import (  # noqa: E402
    LinearPegLayer,
    MlpPegPredictor,
    PegLayer,
    PegPredictor,
    Positions,
)
from trueedge.methods.pairwise.models.positions import (  # noqa: E402
    laplacian_positions,
    principal_components,
    walk_positions,
)
from trueedge.training import DenseInput, Messages, seeded  # noqa: E402
from trueedge.training.links.inputs import States  # noqa: E402

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


class FormerLayer(torch.nn.Module):
    """The layer as it was before it had variants."""

    def __init__(self, size, out, hidden):
        super().__init__()
        nn = torch.nn
        self.linear = nn.Linear(size, out, bias=False)
        self.bias = nn.Parameter(torch.zeros(out))
        self.weigh = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, 1), nn.Sigmoid())
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, states, messages, lengths):
        weights = self.weigh(torch.cat([lengths, lengths.new_zeros(1)]).unsqueeze(1)).squeeze(1)
        root = (messages.degrees + 1.0).rsqrt().unsqueeze(1)
        own = root * states.project(self.linear.weight)
        total = messages.weighted_sum(weights[:-1], own)
        return root * (total + weights[-1] * own) + self.bias


def test_with_the_old_defaults_states_and_gradients_are_the_same_to_the_last_bit(task):
    method = create("peg", SHORT).for_task(task)
    assert (method.positions, method.weight_activation, method.product_layers) == ("laplacian", "relu", 0)
    messages, found = Messages.of(task.graph), []
    for kind in (FormerLayer, PegLayer):
        with seeded(3), pytest.MonkeyPatch.context() as patch:
            patch.setattr(peg, "PegLayer", kind)
            model = method.build(task, 0)
            assert {type(layer) for layer in model.encoder.layers} == {kind}
        assert isinstance(model.predictor, PegPredictor)
        states = model.encode(messages)
        states.square().sum().backward()
        named = {name: value.grad for name, value in model.encoder.named_parameters()}
        found.append({"states": states.detach(), **model.state_dict(), **named})
    former, now = found
    assert list(former) == list(now)
    assert all(torch.equal(former[name], now[name]) for name in former)


@pytest.mark.parametrize("one_way", [False, True])
def test_a_layer_without_an_activation_is_the_dense_product_it_stands_for(random_graph, one_way):
    graph = random_graph(2, nodes=20, edges=40)
    messages = Messages.of(graph).one_way() if one_way else Messages.of(graph)
    with seeded(0):
        where = torch.randn(1, 20, 3).double()
        layer, given = LinearPegLayer(5, 4, 6).double(), torch.randn(20, 5).double().requires_grad_()
    found = layer(States(given), messages, Positions(where).lengths(messages))
    linked = torch.eye(20, dtype=torch.float64)
    linked[messages.targets, messages.indices] = 1.0
    root = linked.sum(dim=1).rsqrt()
    lengths = torch.from_numpy(distances(where[0].numpy()))
    first, last = layer.weigh[0], layer.weigh[1]
    weights = torch.sigmoid(last(first(lengths.reshape(-1, 1)))).reshape(20, 20)
    matrix = root[:, None] * linked * root * weights
    expected = matrix @ (given @ layer.linear.weight.t()) + layer.bias
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    learned = [given, *layer.parameters()]
    goal = torch.arange(80.0).reshape(20, 4)
    both = [torch.autograd.grad((one * goal).sum(), learned) for one in (found, expected)]
    for here, there in zip(*both, strict=True):
        torch.testing.assert_close(here, there, rtol=1e-5, atol=1e-5)


def test_the_distance_is_a_second_input_of_the_last_layer_after_an_mlp():
    with seeded(0):
        predictor, ends, places = (
            MlpPegPredictor(4, 3, 0.5).eval(),
            torch.randn(9, 2, 4),
            torch.randn(9, 2, 3),
        )
    layers = [
        (one.weight.detach().numpy(), one.bias.detach().numpy())
        for one in (*predictor.mlp.layers, predictor.linear)
    ]
    expected = []
    for (left, right), (here, there) in zip(ends.numpy(), places.numpy(), strict=True):
        hidden = left * right
        for weight, bias in layers[:2]:
            hidden = np.maximum(weight @ hidden + bias, 0.0)
        product = layers[2][0] @ hidden + layers[2][1]
        expected.append(layers[3][0] @ np.append(product, ((here - there) ** 2).sum()) + layers[3][1])
    found = predictor(ends, places).detach().numpy()
    np.testing.assert_allclose(found, np.concatenate(expected), rtol=1e-5, atol=1e-5)
    predictor.train()
    assert not torch.equal(predictor(ends, places), predictor(ends, places)), "hidden numbers are dropped"


@pytest.mark.parametrize(("protocol", "rate", "dropout"), [("existing", 0.001, 0.5), ("heart", 0.01, 0.3)])
def test_on_ddi_published_settings_are_those_of_the_ogb_model(protocol, rate, dropout):
    def filled(dataset, **settings):
        return create("peg", settings).for_task(SimpleNamespace(protocol=protocol, dataset=dataset))

    ddi = filled("ogbl-ddi")
    assert (ddi.learning_rate, ddi.predictor_dropout, ddi.clip) == (rate, dropout, 1)
    assert (ddi.layers, ddi.product_layers, ddi.dim, ddi.weight_activation) == (3, 3, 256, "none")
    assert (ddi.positions, ddi.position_dim, ddi.passes, ddi.noise) == ("deepwalk", 128, 3, 5)
    assert (ddi.batch_size, ddi.patience, ddi.evaluate_every, ddi.reject_edges) == (65536, 20, 1, True)
    others = filled("citeseer")
    assert (others.positions, others.passes, others.noise, others.clip) == ("laplacian", 1, 0, 0)
    assert (others.weight_activation, others.product_layers, others.predictor_dropout) == ("relu", 0, 0)
    # A user's choice leaves out the published values that it has no use for.
    other = filled("ogbl-ddi", positions="laplacian", product_layers=0)
    assert (other.passes, other.noise, other.predictor_dropout) == (1, 0, 0)


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({"passes": 2}, "positions=deepwalk"),
        ({"noise": 5}, "positions=deepwalk"),
        ({"predictor_dropout": 0.5}, "product_layers"),
        ({"predictor_dropout": 0.5, "product_layers": 1}, "product_layers"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(task, settings, needed):
    with pytest.raises(InputError, match=f"peg: {next(iter(settings))} needs {needed}"):
        create("peg", {**SHORT, **settings}).fit(task)


def test_more_passes_and_noise_are_those_of_deepwalk(task):
    method = create("peg", {**SHORT, "positions": "deepwalk", "passes": 2, "noise": 3}).for_task(task)
    twin = WalkVectors(6, walks=10, length=80, window=5, negatives=3, epochs=2, hierarchical=True)
    assert np.array_equal(method.place(task.graph, 4), twin.of(task.graph, 4))


def test_the_ogb_model_learns(task):
    settings = {"product_layers": 2, "weight_activation": "none", "positions": "deepwalk", "clip": 1.0}
    settings |= {"predictor_dropout": 0.1, "inputs": "learned", "epochs": 30, "learning_rate": 0.01}
    history = create("peg", {**SHORT, **settings}).fit(task, seed=1).history
    assert history.losses[-1] < history.losses[0] - 0.2
