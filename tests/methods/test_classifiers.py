"""Classifiers: they learn from the training graph alone, and nothing of an edge gives it away."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create
from trueedge.methods.classifiers import examples
from trueedge.methods.classifiers.examples import FOLDS, degrees, folds, topology, topology_and_degrees
from trueedge.methods.classifiers.linear import logistic_regression, orthogonal_to_last
from trueedge.methods.classifiers.models.pair_perceptron import PairPerceptron

NAMES = ("mlp-deg", "mlp-topo", "linear")
SMALL = {"hidden": 16, "dropout": 0.2, "epochs": 12, "learning_rate": 0.02}
QUICK = {"mlp-deg": SMALL, "mlp-topo": SMALL, "linear": {}}


def quick(name: str, **more: object):
    return create(name, {**QUICK[name], **more})


@pytest.fixture(scope="module")
def quarters() -> Graph:
    """Four communities of 30 nodes, dense within and sparse between."""
    graph = nx.planted_partition_graph(4, 30, 0.45, 0.015, seed=3)
    return Graph.from_edges(np.array(graph.edges), 120, name="quarters")


@pytest.fixture(scope="module")
def task(quarters):
    return te.task(quarters, "degree-corrected", seed=0)


def test_degree_features_are_product_sum_minimum_and_maximum(random_graph):
    graph = random_graph(1, 20, 40)
    pairs = np.array([[0, 1], [1, 0], [5, 5]])
    for (u, v), row in zip(pairs, degrees(graph, pairs), strict=True):
        a, b = graph.degrees[u], graph.degrees[v]
        assert row.tolist() == [a * b, a + b, min(a, b), max(a, b)]


def test_topology_features_are_those_of_networkx(random_graph):
    graph = random_graph(2, 25, 90)
    other = nx.Graph(graph.edges.tolist())
    other.add_nodes_from(range(25))
    pairs = np.array([(u, v) for u in range(25) for v in range(u)])
    found = topology(graph, pairs)
    for place, theirs in ((1, nx.jaccard_coefficient), (2, nx.resource_allocation_index)):
        np.testing.assert_allclose(found[:, place], [value for *_, value in theirs(other, pairs.tolist())])
    # Adamic-Adar with logarithms below 1 raised to 1, and walks of one to three steps by matrix powers.
    weight = 1.0 / np.maximum(np.log(np.maximum(graph.degrees, 1)), 1.0)
    adjacency = graph.adjacency().toarray()
    walk = adjacency / np.maximum(graph.degrees, 1)[:, None]
    walks = graph.degrees[:, None] / graph.degrees.sum() * (walk + walk @ walk + walk @ walk @ walk)
    np.testing.assert_allclose(found[:, 0], (adjacency * weight @ adjacency)[tuple(pairs.T)])
    np.testing.assert_allclose(found[:, 3], walks[tuple(pairs.T)], rtol=1e-11)


@pytest.mark.parametrize("sampler", ["uniform", "degree-corrected"])
def test_the_features_of_a_fold_are_those_of_the_graph_without_it(quarters, sampler):
    parts = folds(quarters, topology_and_degrees, sampler, seed=5)
    assert len(parts) == FOLDS
    listed = np.concatenate([one.positives for one in parts])
    assert sorted(map(tuple, listed.tolist())) == [tuple(edge) for edge in quarters.edges.tolist()]
    for one in parts:
        hidden = {tuple(edge) for edge in one.positives.tolist()}
        rest = Graph.from_edges([e for e in quarters.edges.tolist() if tuple(e) not in hidden], 120)
        assert not rest.has_edges(one.pairs).any()
        assert np.array_equal(one.features, topology_and_degrees(rest, one.pairs))
        assert not quarters.has_edges(one.negatives).any()
        assert len(one.negatives) == len(one.positives) == one.labels.sum()


def test_where_nothing_tells_an_edge_from_another_pair_the_examples_tell_nothing_either():
    graph = Graph.from_edges(np.array(nx.gnm_random_graph(500, 4_000, seed=1).edges), 500, name="random")
    rows, labels = examples.together(folds(graph, everything, "uniform", seed=0))
    assert all(abs(auc(column, labels) - 0.5) < 0.03 for column in rows.T)
    # What the graph with the edges in it would tell: a step leads from one end to the other.
    drawn = te.negatives.uniform(graph, graph.edges, seed=0).astype(np.int64)
    leaky = everything(graph, np.concatenate([graph.edges.astype(np.int64), drawn]))
    assert auc(leaky[:, 3], np.repeat([1.0, 0.0], len(drawn))) > 0.95


def everything(graph, pairs):
    return np.column_stack([topology(graph, pairs), degrees(graph, pairs)])


def auc(values, labels):
    return te.metrics.measure(te.metrics.PairScores.check(values[labels > 0], values[labels == 0]), ["auc"])[
        "auc"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_only_the_training_graph_is_looked_at(task, name, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a part was looked at")

    with monkeypatch.context() as patch:
        patch.setattr(type(task), "part", lambda self, part="test": refuse() if self is task else _part(self))
        patch.setattr(type(task), "pairs", refuse)
        scorer = quick(name).fit(task)
    assert task.evaluate(scorer)["auc"] > 0


def _part(task):
    (part,) = task.parts.values()
    return part


@pytest.mark.parametrize("name", ["mlp-topo", "linear"])
def test_communities_are_told_apart(task, name):
    assert task.evaluate(quick(name).fit(task, seed=1))["auc"] > 0.8


def test_degrees_alone_tell_little_where_negatives_are_drawn_by_degree_and_much_where_not():
    graph = Graph.from_edges(np.array(nx.barabasi_albert_graph(400, 5, seed=2).edges), 400, name="hubs")
    values = {}
    for protocol in ("uniform", "degree-corrected"):
        task = te.task(graph, protocol, seed=0)
        values[protocol] = task.evaluate(quick("mlp-deg").fit(task))["auc"]
    assert values["uniform"] > 0.7
    assert values["uniform"] - values["degree-corrected"] > 0.12


@pytest.mark.parametrize("name", NAMES)
def test_pairs_with_the_same_numbers_tie_alone_and_in_a_crowd(task, name):
    scorer = quick(name).fit(task)
    pairs = np.array([(u, v) for u in range(0, 120, 3) for v in range(120)])
    crowd = scorer.score(pairs)
    for place in range(0, len(pairs), 401):
        assert scorer.score(pairs[place : place + 1])[0] == crowd[place]
        assert scorer.score(pairs[place : place + 1, ::-1])[0] == crowd[place]
    features = scorer.features(task.graph, pairs)
    alike = {}
    for row, value in zip(map(bytes, features), crowd.tolist(), strict=True):
        assert alike.setdefault(row, value) == value
    assert scorer.score(np.empty((0, 2), dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        (1, []),
        (2, []),
        (2, [[0, 1]]),
        (3, [[0, 1]]),
        (3, [[0, 1], [1, 2]]),
        (3, [[0, 1], [1, 2], [0, 2]]),
        (5, []),
    ],
)
def test_tiny_graphs_work_or_are_one_sentence(name, nodes, edges):
    graph = Graph.from_edges(np.array(edges, dtype=int).reshape(-1, 2), nodes, name="tiny")
    part = te.Part(np.array([[0, nodes - 1]], dtype=np.int32), np.array([[0, 0]], dtype=np.int32))
    task = te.LinkTask(
        dataset="tiny",
        protocol="own",
        seed=0,
        graph=graph,
        parts={"test": part},
        metrics=("auc",),
        headline="auc",
    )
    try:
        scorer = quick(name).fit(task)
    except InputError as error:
        told = str(error)
    else:
        told = ""
        assert np.isfinite(scorer.score(task.pairs())).all()
    assert "\n" not in told


def test_size_and_dropout_are_chosen_on_the_held_out_tenth(task, monkeypatch):
    kind = type(create("mlp-topo"))
    tried = {}
    original = kind._train

    def spy(self, hidden, dropout, *others):
        found = original(self, hidden, dropout, *others)
        tried[hidden, dropout] = found
        return found

    monkeypatch.setattr(kind, "_train", spy)
    scorer = create("mlp-topo", {"epochs": 4}).fit(task)
    assert set(tried) == {(32, 0.2), (32, 0.5), (64, 0.2), (64, 0.5)}
    best = max(tried.values(), key=lambda one: one[0])[1]
    features = topology(task.graph, task.pairs())
    rows = examples.together(folds(task.graph, topology, "uniform", 0)[1:])[0]
    from trueedge.methods.classifiers.perceptron import Scale

    expected = best(torch.from_numpy(Scale.of(rows)(features)), in_order=True).detach().numpy()
    assert np.array_equal(scorer.score(task.pairs()), expected)


def test_a_perceptron_is_the_same_function_in_training_and_outside_of_it():
    torch.manual_seed(0)
    perceptron = PairPerceptron(4, 32, 0.0)
    rows = torch.randn(50, 4, dtype=torch.float64)
    plain = torch.nn.Sequential(
        perceptron.layers[0],
        torch.nn.LeakyReLU(),
        perceptron.layers[1],
        torch.nn.LeakyReLU(),
        perceptron.layers[2],
    )
    torch.testing.assert_close(perceptron.train()(rows), plain(rows).squeeze(-1))
    torch.testing.assert_close(
        perceptron.eval()(rows, in_order=True), plain(rows).squeeze(-1), rtol=1e-12, atol=1e-12
    )


def test_the_logistic_regression_is_scikit_learns():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 5)) * [1, 10, 0.1, 1, 3]
    labels = (rows @ [1, 0.1, -4, 0, 0.3] + rng.standard_normal(400) > 0.5).astype(float)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(rows, labels)
    weights, constant = logistic_regression(rows, labels, np.ones(5))
    np.testing.assert_allclose(weights, theirs.coef_[0], rtol=1e-4)
    assert constant == pytest.approx(theirs.intercept_[0], rel=1e-4)


def test_residuals_are_scikit_learns_and_the_whole_is_its_pipeline(task):
    linear_model = pytest.importorskip("sklearn.linear_model")
    rows, labels = examples.together(folds(task.graph, topology_and_degrees, "uniform", 0))
    line = linear_model.LinearRegression().fit(rows[:, -1:], rows[:, :-1])
    _, slopes, constants = orthogonal_to_last(rows)
    np.testing.assert_allclose(slopes, line.coef_[:, 0])
    np.testing.assert_allclose(constants[:-1], line.intercept_)

    def freed(values):
        return np.column_stack([values[:, :-1] - line.predict(values[:, -1:]), values[:, -1]])

    mean, std = freed(rows).mean(axis=0), freed(rows).std(axis=0)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000)
    theirs.fit((freed(rows) - mean) / std, labels)
    asked = topology_and_degrees(task.graph, task.pairs())
    ours = create("linear").fit(task).score(task.pairs())
    np.testing.assert_allclose(
        ours, theirs.decision_function((freed(asked) - mean) / std), rtol=1e-3, atol=1e-4
    )


def test_wholly_separated_examples_and_constant_numbers_give_finite_weights():
    rows = np.column_stack([np.repeat([0.0, 1.0], 20), np.full(40, 7.0)])
    labels = np.repeat([0.0, 1.0], 20)
    for penalty in (0.0, 1.0, 1e12):
        weights, constant = logistic_regression(rows, labels, np.full(2, penalty))
        assert np.isfinite([*weights, constant]).all()
        assert penalty > 1e6 or (rows @ weights + constant > 0).tolist() == (labels > 0).tolist()
