"""Simple-HGN, GAT and GCN against loops over a small graph, and what their settings change."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph, Labels, Relation
from trueedge.methods.typed.models.gcn import normalized_adjacency
from trueedge.training.loop import seeded
from trueedge.training.typed.inputs import TypedInputs

NAMES = ("simple-hgn", "gat-hetero", "gcn-hetero")
SMALL = {"dim": 4, "layers": 3, "features": "one-hot", "dropout": 0.5}


def tiny_graph(order: np.ndarray | None = None) -> HeteroGraph:
    """Return two authors, three papers and two terms, the last of which has no edge."""
    starts = np.array([0, 2, 5, 7])
    writes = np.array([[0, 2], [0, 3], [1, 3], [1, 4]])
    has = np.array([[2, 5], [3, 5]])
    cites = np.array([[2, 3], [3, 4]])
    place = np.arange(7) if order is None else np.argsort(order)
    edges = tuple(
        (lambda rows: rows[np.lexsort(rows.T[::-1])].astype(np.int32))(place[pairs])
        for pairs in (writes, has, cites)
    )
    relations = (Relation("writes", 0, 1), Relation("has", 1, 2), Relation("cites", 1, 1))
    labels = Labels(0, np.array([0, 1], np.int32), np.array([0, 1], np.int32), ("a", "b"))
    return HeteroGraph(("author", "paper", "term"), starts, relations, edges, labels=labels)


def build(name: str, graph: HeteroGraph, kind: str = "nodes", out: int = 3, **settings: Any) -> tuple:
    """Return an untrained model in double precision, and its inputs."""
    # The tiny graph has too few edges to be split; models see only the kind of a task.
    protocol = {"nodes": "node-classification", "links": "typed-links"}[kind]
    task: Any = te.task(small_graph(20, 24, 6), protocol)
    method: Any = methods.create(name, {**SMALL, **settings}).for_task(task)
    inputs = TypedInputs.of(graph, target=graph.labels.type if kind == "nodes" else None)
    with seeded(0):
        model = method.build(task, inputs, out)
    return model.double().eval(), inputs


@pytest.fixture
def labelled() -> HeteroGraph:
    return small_graph(authors=20, papers=24, terms=6)


def slow_arcs(graph: HeteroGraph) -> dict[tuple[int, int], int]:
    """The type of each arc (source, target), as the published code assigns them."""
    relations, found = graph.num_relations, {}
    for number, pairs in enumerate(graph.edges):
        for u, v in pairs.tolist():
            found[u, v] = number
    for node in range(graph.num_nodes):
        found[node, node] = relations
    for number, pairs in enumerate(graph.edges):
        for u, v in pairs.tolist():
            found.setdefault((v, u), number + relations + 1)
    return found


def slow_layer(weights, prefix, states, arcs, heads, slope, previous=None, beta=0.0) -> tuple:
    """One layer of attention, one head and one node at a time."""
    get = {key.removeprefix(prefix): value for key, value in weights.items() if key.startswith(prefix)}
    total = np.zeros((len(states), heads, len(get["map.weight"]) // heads))
    dim, attention = total.shape[2], {}
    for head in range(heads):
        matrix = get["map.weight"][head * dim : (head + 1) * dim]
        values = [matrix @ state for state in states]
        for node in range(len(states)):
            raw = {}
            for (u, v), kind in arcs.items():
                if v != node:
                    continue
                x = get["vectors"][head, :, 0] @ values[u] + get["vectors"][head, :, 1] @ values[v]
                if "kinds.weight" in get:
                    size = get["kinds.weight"].shape[1]
                    mapped = (
                        get["kind_map.weight"][head * size : (head + 1) * size] @ get["kinds.weight"][kind]
                    )
                    x += get["kind_vectors"][head] @ mapped
                raw[u] = math.exp(x if x > 0 else slope * x)
            for u, power in raw.items():
                share = power / sum(raw.values())
                if previous is not None:
                    share = (1 - beta) * share + beta * previous[u, node, head]
                attention[u, node, head] = share
                total[node, head] += share * values[u]
    total = total.reshape(len(states), -1)
    if "residual.weight" in get:
        total += states @ get["residual.weight"].T
    if "bias" in get:
        total += get["bias"]
    return total, attention


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.expm1(x))


def slow_input(weights: dict[str, np.ndarray]) -> np.ndarray:
    return np.concatenate(
        [weights[f"input.maps.{t}.weight"] + weights[f"input.maps.{t}.bias"] for t in range(3)]
    )


def arrays(model: torch.nn.Module) -> dict[str, np.ndarray]:
    return {key: value.numpy() for key, value in model.state_dict().items()}


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def test_simple_hgn_for_nodes_equals_a_loop() -> None:
    graph = tiny_graph()
    model, inputs = build("simple-hgn", graph, heads=2, beta=0.3, slope=0.1)
    weights, arcs = arrays(model), slow_arcs(graph)
    states, previous = slow_input(weights), None
    for number in range(2):
        states, previous = slow_layer(weights, f"layers.{number}.", states, arcs, 2, 0.1, previous, 0.3)
        states = elu(states)
    states, _ = slow_layer(weights, "last.", states, arcs, 1, 0.1)
    np.testing.assert_allclose(model(inputs).detach(), unit(states[:2]), rtol=1e-9)


def test_simple_hgn_for_links_equals_a_loop() -> None:
    graph = tiny_graph()
    model, inputs = build("simple-hgn", graph, "links", heads=2, slope=0.1)
    weights, arcs = arrays(model), slow_arcs(graph)
    states = slow_input(weights)
    found = [states]
    for number in range(3):
        states, _ = slow_layer(weights, f"layers.{number}.", states, arcs, 2, 0.1)
        states = elu(states) if number < 2 else states
        found.append(states.reshape(len(states), 2, -1).mean(1))
    wanted = np.concatenate([unit(one) for one in found], axis=1)
    vectors = model(inputs).detach()
    assert vectors.shape == (7, model.out_dim)
    np.testing.assert_allclose(vectors, wanted, rtol=1e-9)


def test_links_can_be_scored_by_the_last_layer_alone() -> None:
    graph = tiny_graph()
    whole, inputs = build("simple-hgn", graph, "links", beta=0.0)
    last, _ = build("simple-hgn", graph, "links", beta=0.0, every_layer=False)
    last.load_state_dict(whole.state_dict())
    assert last.out_dim == SMALL["dim"]
    torch.testing.assert_close(last(inputs), whole(inputs)[:, -last.out_dim :])


@pytest.mark.parametrize("kind", ["nodes", "links"])
def test_gat_equals_a_loop(kind: str) -> None:
    graph = tiny_graph()
    model, inputs = build("gat-hetero", graph, kind, heads=2, slope=0.1, residual=True)
    if kind == "links":
        for layer in model.layers:
            torch.nn.init.normal_(layer.bias)
    weights, arcs = arrays(model), slow_arcs(graph)
    states = slow_input(weights)
    for number, heads in enumerate((2, 2, 1)):
        states, _ = slow_layer(weights, f"layers.{number}.", states, arcs, heads, 0.1)
        states = elu(states) if number < 2 else states
    np.testing.assert_allclose(model(inputs).detach(), states[: 2 if kind == "nodes" else 7], rtol=1e-9)


@pytest.mark.parametrize("kind", ["nodes", "links"])
def test_gcn_equals_a_loop(kind: str) -> None:
    graph = tiny_graph()
    model, inputs = build("gcn-hetero", graph, kind)
    normalized_adjacency(inputs.arcs)
    weights, arcs = arrays(model), slow_arcs(graph)
    degree = np.bincount([v for _, v in arcs], minlength=7)
    matrix = np.zeros((7, 7))
    for u, v in arcs:
        matrix[v, u] = 1 / math.sqrt(degree[u] * degree[v])
    states = slow_input(weights)
    for number in range(3):
        own = weights.get(f"layers.{number}.weight")
        assert (own is None) == (kind == "nodes" and number == 0)
        states = matrix @ (elu(states) if number else states) @ (np.eye(4) if own is None else own)
        states += weights[f"layers.{number}.bias"]
    # The matrix is kept in single precision.
    found = model.float()(inputs).detach()
    np.testing.assert_allclose(found, states[: 2 if kind == "nodes" else 7], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_new_node_numbers_give_the_same_vectors(name: str) -> None:
    order = np.array([1, 0, 4, 2, 3, 6, 5])
    model, inputs = build(name, tiny_graph(), "links")
    turned, turned_inputs = build(name, tiny_graph(order), "links")
    weights = model.state_dict()
    for kind, (first, last) in enumerate(((0, 2), (2, 5), (5, 7))):
        key = f"input.maps.{kind}.weight"
        weights[key] = weights[key][order[first:last] - first]
    turned.load_state_dict(weights)
    if name == "gcn-hetero":
        model, turned = model.float(), turned.float()
    torch.testing.assert_close(turned(turned_inputs), model(inputs)[order])


@pytest.mark.parametrize("name", NAMES)
def test_a_node_without_edges_hears_only_itself(name: str) -> None:
    model, inputs = build(name, tiny_graph(), "links")
    model = model.float()
    before = model(inputs).detach()
    with torch.no_grad():
        model.input.maps[0].weight += 1.0
        model.input.maps[1].weight += 1.0
        model.input.maps[2].weight[0] += 1.0
    after = model(inputs).detach()
    assert torch.isfinite(after).all()
    torch.testing.assert_close(after[6], before[6])
    assert (after[:6] != before[:6]).any(dim=1).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_type_and_one_relation_are_enough(name: str) -> None:
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(0, 20, (60, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32)
    labels = Labels(0, np.arange(20, dtype=np.int32), (np.arange(20) % 2).astype(np.int32), ("even", "odd"))
    graph = HeteroGraph(("node",), np.array([0, 20]), (Relation("edge", 0, 0),), (pairs,), labels=labels)
    task = te.task(graph, "node-classification")
    scorer: Any = methods.create(name, {**SMALL, "epochs": 3}).fit(task)
    assert scorer.predict(np.arange(20)).shape == (20, 2)


@pytest.mark.parametrize(
    ("setting", "gone"),
    [
        ({"edge_types": False}, ("kinds.", "kind_map", "kind_vectors")),
        ({"residual": False}, ("residual",)),
    ],
)
def test_an_ablation_removes_its_weights_and_no_others(
    setting: dict[str, Any], gone: tuple[str, ...]
) -> None:
    full, _ = build("simple-hgn", tiny_graph())
    less, inputs = build("simple-hgn", tiny_graph(), **setting)
    left = {key for key in full.state_dict() if not any(f".{one}" in key for one in gone)}
    assert set(less.state_dict()) == left
    assert len(left) < len(full.state_dict())
    kept = {key: value for key, value in full.state_dict().items() if key in left}
    less.load_state_dict(kept)
    assert not torch.allclose(less(inputs), full(inputs))


def test_beta_and_normalization_change_the_logits_as_they_should() -> None:
    full, inputs = build("simple-hgn", tiny_graph(), beta=0.05)
    plain, _ = build("simple-hgn", tiny_graph(), beta=0.05, normalize=False)
    no_beta, _ = build("simple-hgn", tiny_graph(), beta=0.0)
    torch.testing.assert_close(torch.nn.functional.normalize(plain(inputs)), full(inputs))
    torch.testing.assert_close(full(inputs).norm(dim=1), torch.ones(2, dtype=torch.float64))
    assert not torch.allclose(plain(inputs).norm(dim=1), torch.ones(2, dtype=torch.float64))
    assert not torch.allclose(no_beta(inputs), full(inputs))


def test_the_type_of_an_edge_changes_its_attention() -> None:
    model, inputs = build("simple-hgn", tiny_graph(), "links")
    before = model(inputs).detach()
    with torch.no_grad():
        for layer in model.layers:
            # The relation "has", which only connects papers and the first term.
            layer.kinds.weight[1] += 3.0
    after = model(inputs).detach()
    assert not torch.allclose(after[5], before[5])
    torch.testing.assert_close(after[6], before[6])


@pytest.mark.parametrize("name", NAMES)
def test_training_learns_the_classes(name: str) -> None:
    task = te.task(small_graph(150, 200, 30), "node-classification")
    settings = {"dim": 16, "layers": 2, "features": "all", "epochs": 60, "learning_rate": 0.01}
    scorer = methods.create(name, settings).fit(task)
    losses = scorer.history.losses
    assert losses[-1] < 0.8 * losses[0]
    # A third would be chance.
    assert task.evaluate(scorer)["micro-f1"] > 0.6
    again = methods.create(name, settings).fit(task)
    assert again.history.losses == losses


@pytest.mark.parametrize("name", NAMES)
def test_links_are_learned_with_every_decoder(name: str, labelled: HeteroGraph) -> None:
    task = te.task(labelled, "typed-links", relation="author-paper")
    for decoder in ("dot", "distmult", "bilinear"):
        settings = {**SMALL, "decoder": decoder, "epochs": 4, "batch_size": 32}
        scorer: Any = methods.create(name, settings).fit(task)
        assert np.isfinite(scorer.score_links(task.positives["valid"])).all()


@pytest.mark.parametrize(
    ("dataset", "settings"),
    [
        ("dblp", {"layers": 3, "features": "one-hot", "heads": 8, "beta": 0.05, "slope": 0.05}),
        ("imdb", {"layers": 6, "features": "all", "learning_rate": 0.001, "slope": 0.1}),
        ("acm", {"layers": 3, "features": "target", "residual": True}),
    ],
)
def test_published_settings_are_used(dataset: str, settings: dict[str, Any], labelled: HeteroGraph) -> None:
    task = replace(te.task(labelled, "node-classification"), dataset=dataset)
    filled = methods.create("simple-hgn").for_task(task)
    assert {key: getattr(filled, key) for key in settings} == settings
    own = methods.create("simple-hgn", {"layers": 2}).for_task(task)
    assert own.layers == 2


def test_links_have_other_defaults_than_nodes(labelled: HeteroGraph) -> None:
    nodes = methods.create("simple-hgn").for_task(te.task(labelled, "node-classification"))
    links = methods.create("simple-hgn").for_task(te.task(labelled, "typed-links", relation="author-paper"))
    assert (nodes.beta, nodes.residual, nodes.heads) == (0.05, True, 8)
    assert (links.beta, links.residual, links.heads) == (0.0, False, 2)


def test_a_beta_above_one_is_refused() -> None:
    with pytest.raises(InputError, match="beta"):
        methods.create("simple-hgn", {"beta": 1.5})
