"""SEAL: what it computes beside a slow twin, that no pair sees itself, and what it keeps."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812
from sklearn.metrics import roc_auc_score  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.kernels.neighbors.subgraphs import Subgraphs, enclosing_subgraphs  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import subgraphs as extraction  # noqa: E402
from trueedge.methods.pairwise.models.subgraphs import SubgraphBlock, SubgraphSource  # noqa: E402
from trueedge.training import Messages, seeded  # noqa: E402
from trueedge.training.links.scorer import TrainedScorer  # noqa: E402
from trueedge.training.loop import History  # noqa: E402

SMALL = {"dim": 8, "layers": 2, "hops": 2, "epochs": 3, "batch_size": 64, "evaluate_every": 1}
HEADS = ("dgcnn", "gcn")


@pytest.fixture(scope="module")
def cliques():
    """A ring of cliques of six nodes, each of which lacks a few edges."""
    rng = np.random.default_rng(0)
    edges = [
        (6 * c + i, 6 * c + j) for c in range(15) for i in range(6) for j in range(i) if rng.random() < 0.8
    ]
    ring = [(6 * c, (6 * c + 8) % 90) for c in range(15)]
    features = rng.random((92, 5))
    graph = te.Graph.from_edges(np.array(edges + ring), 92, features, self_loops="drop", repeats="drop")
    return te.task(graph, "existing", seed=0)


def built(task, seed=0, **settings):
    method = create("seal", {**SMALL, **settings}).for_task(task)
    with seeded(seed):
        return method.build(task, seed)


def scorer_of(model, graph):
    return TrainedScorer(model, Messages.of(graph), History(None))


def some_pairs(graph, count=60):
    drawn = np.random.default_rng(1).integers(0, graph.num_nodes, (count, 2))
    return np.concatenate([drawn, graph.edges[:20], [[3, 3], [0, 0]]]).astype(np.int64)


def dense_states(model, graph, found, pair):
    """The states after each layer of one subgraph, with matrices and the words of the papers."""
    begin, end = found.starts[pair], found.starts[pair + 1]
    size = end - begin
    adjacency = torch.zeros(size, size)
    for row in range(size):
        columns = found.indices[found.indptr[begin + row] : found.indptr[begin + row + 1]] - begin
        adjacency[row, columns] = 1.0
    root = adjacency.sum(dim=1).rsqrt()
    spread = root[:, None] * adjacency * root
    states = model.encoder.labels.weight[torch.from_numpy(found.labels[begin:end]).long()]
    if model.inputs.dim:
        rows = torch.from_numpy(graph.features[found.nodes[begin:end]]).float()
        states = torch.cat([states, rows], dim=1)
    layers = []
    for layer in model.encoder.layers:
        states = spread @ states @ layer.weight.T + layer.bias
        if model.encoder.dropout is None:
            states = states.tanh()
        elif layer is not model.encoder.layers[-1]:
            states = states.relu()
        layers.append(states)
    return layers


def sort_logit(head, layers):
    """The head as published: sorted nodes, a convolution as wide as a node, one along the nodes."""
    states = torch.cat(layers, dim=1)
    order = np.lexsort((-states[:, -2].numpy(), -states[:, -1].numpy()))
    states = states[torch.from_numpy(order)][: head.nodes]
    states = F.pad(states, (0, 0, 0, head.nodes - len(states)))
    each = F.conv1d(states.reshape(1, 1, -1), head.each.weight[:, None], head.each.bias, states.shape[1])
    along = head.along(F.max_pool1d(each.relu(), 2)).relu()
    return head.last(head.hidden(along.flatten(1)).relu()).squeeze()


def centre_logit(head, layers, second):
    product = layers[-1][0] * layers[-1][second]
    first, last = head.perceptron.layers
    return last(first(product).relu()).squeeze()


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("features", [False, True])
def test_a_score_is_what_the_papers_say(cliques, head, features):
    graph = cliques.graph
    model = built(cliques, head=head, features=features).eval()
    pairs = some_pairs(graph)
    found = enclosing_subgraphs(graph.indptr, graph.indices, pairs, SMALL["hops"])
    expected = []
    with torch.no_grad():
        for place, (a, b) in enumerate(pairs):
            layers = dense_states(model, graph, found, place)
            expected.append(
                sort_logit(model.predictor, layers)
                if head == "dgcnn"
                else centre_logit(model.predictor, layers, int(a != b))
            )
    scores = scorer_of(model, graph).score(pairs)
    np.testing.assert_allclose(scores, torch.stack(expected).numpy(), atol=2e-5)
    # In training the same subgraphs come from what is kept of the edges.
    messages, asked = Messages.of(graph), torch.from_numpy(pairs)
    model.train()
    model.predictor.eval()
    model.encoder.eval()
    trained = model.score(model.encode(messages), asked, messages).detach().numpy()
    np.testing.assert_allclose(trained, scores, atol=2e-5)


def without(graph, place):
    return te.Graph.from_edges(np.delete(graph.edges, place, axis=0), graph.num_nodes, graph.features)


def leaky(indptr, indices, pairs, *options):
    """The same subgraphs with the pair's own edge put back."""
    found = enclosing_subgraphs(indptr, indices, pairs, *options)
    rows = [found.indices[a:b] for a, b in zip(found.indptr[:-1], found.indptr[1:], strict=True)]
    for (a, b), start in zip(pairs, found.starts[:-1], strict=True):
        if b in indices[indptr[a] : indptr[a + 1]]:
            for end in (start, start + 1):
                rows[end] = np.union1d(rows[end], [start, start + 1]).astype(np.int32)
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Subgraphs(found.starts, found.nodes, found.labels, ends, np.concatenate(rows))


def differences(model, graph, places):
    """How much the score of an edge changes when that edge alone is taken from the graph."""
    pairs = graph.edges[places].astype(np.int64)
    seen = scorer_of(model, graph).score(pairs)
    never = [scorer_of(model, without(graph, place)).score(graph.edges[[place]])[0] for place in places]
    return np.abs(seen - np.array(never))


@pytest.mark.parametrize("head", HEADS)
def test_no_pair_sees_its_own_edge(random_graph, monkeypatch, head):
    graph = random_graph(3, nodes=60, edges=150)
    task = te.task(graph, "existing", seed=0)
    model = built(task, head=head)
    places = np.arange(0, 30, 3)
    assert (differences(model, task.graph, places) == 0).all()
    monkeypatch.setattr(extraction, "enclosing_subgraphs", leaky)
    assert (differences(model, task.graph, places) > 0).all()


def test_a_planted_leak_is_learned_and_without_it_there_is_nothing_to_learn(random_graph, monkeypatch):
    task = te.task(random_graph(5, nodes=300, edges=600), "uniform", seed=0)
    drawn = np.random.default_rng(2).integers(0, task.graph.num_nodes, (500, 2))
    pairs = np.concatenate([task.graph.edges.astype(np.int64), drawn])
    truth = np.arange(len(pairs)) < task.graph.num_edges
    method = create("seal", {**SMALL, "dim": 16, "epochs": 15, "hops": 1, "head": "gcn", "dropout": 0.0})
    scorer = method.fit(task)
    assert abs(task.evaluate(scorer)["auc"] - 0.5) < 0.2
    assert roc_auc_score(truth, scorer.score(pairs)) < 0.75
    monkeypatch.setattr(extraction, "enclosing_subgraphs", leaky)
    assert roc_auc_score(truth, method.fit(task).score(pairs)) > 0.95


def test_a_model_that_says_the_same_of_all_pairs_says_it_in_the_same_bits(cliques):
    model = built(cliques, head="dgcnn")
    torch.nn.init.zeros_(model.predictor.each.weight)
    torch.nn.init.uniform_(model.predictor.each.bias)
    scorer = scorer_of(model, cliques.graph)
    pairs = np.random.default_rng(3).integers(0, 92, (1500, 2))
    answers = [scorer.score(part) for part in (pairs, pairs[:7], pairs[::3], pairs[5:600])]
    assert len(np.unique(np.concatenate(answers))) == 1
    assert answers[0][0] != 0


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("dim", [8, 256])
def test_pairs_of_equal_structure_tie_in_whatever_block_they_stand(head, dim):
    # Copies of one random graph beside each other, so that a pair is there many times.
    rng = np.random.default_rng(4)
    edges = rng.integers(0, 20, (40, 2))
    copies = np.concatenate([edges + 20 * c for c in range(40)])
    graph = te.Graph.from_edges(copies, 800, self_loops="drop", repeats="drop")
    model = built(te.task(graph, "existing", seed=0), head=head, dim=dim)
    pairs = np.concatenate([np.repeat([[1, 2], [3, 17]], 40, axis=0), rng.integers(0, 20, (300, 2))])
    pairs += 20 * rng.integers(0, 40, (len(pairs), 1))
    scorer = scorer_of(model, graph)
    answer = scorer.score(pairs)
    assert len(np.unique(answer[:40])) == len(np.unique(answer[40:80])) == 1
    order = rng.permutation(len(pairs))
    assert scorer.score(pairs[order]).tobytes() == answer[order].tobytes()
    assert scorer.score(pairs[79:]).tobytes() == answer[79:].tobytes()


def test_a_block_is_kept_when_it_comes_back_and_goes_with_its_graph(random_graph):
    first, second = (random_graph(seed, nodes=40, edges=90) for seed in (1, 2))
    task = te.task(first, "existing", seed=0)
    pairs = some_pairs(first)
    model = built(task)
    scorers = [scorer_of(model, graph) for graph in (first, second)]
    fresh = [scorer_of(built(task), graph).score(pairs) for graph in (first, second)]
    for _ in range(3):
        for scorer, expected in zip(scorers, fresh, strict=True):
            assert scorer.score(pairs).tobytes() == expected.tobytes()
    kept = [model.source._of(scorer.messages) for scorer in scorers]
    assert all(one.blocks for one in kept)
    assert scorers[0].with_graph(second).score(pairs).tobytes() == fresh[1].tobytes()
    del scorers, scorer, kept
    gc.collect()
    assert len(model.source._kept) == 0


def test_no_more_is_kept_than_is_allowed(random_graph):
    graph = random_graph(1, nodes=40, edges=90)
    messages, asked = Messages.of(graph), torch.from_numpy(some_pairs(graph))
    blocks = [asked[start : start + 10] for start in range(0, 80, 10)]
    for memory in (0, 30_000, 1 << 30):
        source = SubgraphSource(3, 0, 1.0, 0, memory)
        for _ in range(3):
            for block in blocks:
                source.block(messages, block, 1)
        held = source._of(messages).blocks.values()
        assert sum(block.nbytes for block in held) <= memory
        assert len(held) == (0 if memory == 0 else 8 if memory == 1 << 30 else len(held))
        source.batch(messages, asked)
        keys, edges = source._of(messages).edges
        assert len(keys) == len(edges.starts) - 1 == (graph.num_edges if memory == 1 << 30 else 0)


@pytest.mark.parametrize("memory", [0, 1 << 30])
def test_a_training_batch_holds_the_subgraphs_of_its_pairs(random_graph, memory):
    graph = random_graph(1, nodes=40, edges=90)
    messages, pairs = Messages.of(graph), some_pairs(graph)
    source = SubgraphSource(2, 3, 1.0, 7, memory)
    block, place = source.batch(messages, torch.from_numpy(pairs))
    assert isinstance(block, SubgraphBlock)
    for row, pair in enumerate(pairs):
        alone = enclosing_subgraphs(graph.indptr, graph.indices, pair[None], 2, 3, 1.0, 7)
        begin, end = block.starts[place[row]], block.starts[place[row] + 1]
        assert block.nodes[begin:end].tolist() == alone.nodes.tolist()
        assert block.labels[begin:end].tolist() == alone.labels.tolist()
        arcs = slice(int(block.indptr[begin]), int(block.indptr[end]))
        assert (block.indices[arcs] - begin).tolist() == alone.indices.tolist()
        assert block.nodes[block.ends[place[row]].long()].tolist() == sorted(pair.tolist())


def test_small_graphs_and_limits_work():
    for edges, nodes in (([[0, 1]], 2), ([[0, 1], [1, 2]], 3)):
        graph = te.Graph.from_edges(np.array(edges), nodes)
        task = SimpleNamespace(graph=graph, protocol="existing", dataset="small")
        for head in HEADS:
            model = built(task, head=head, nodes_per_hop=1, share_per_hop=0.5)
            everyone = np.stack(np.meshgrid(range(nodes), range(nodes)), -1).reshape(-1, 2)
            assert np.isfinite(scorer_of(model, graph).score(everyone)).all()


def test_there_is_nothing_to_hide_and_the_published_settings_are_found(cliques, data_folder):
    with pytest.raises(InputError, match="hide_positives"):
        create("seal", {"hide_positives": True})
    task = te.task("citeseer", "heart-released")
    method = create("seal").for_task(task)
    assert not method.schedule(task).hide_positives
    expected = {"learning_rate": 0.01, "layers": 3, "dim": 256, "hops": 3, "patience": 20, "features": False}
    assert expected.items() <= method.settings().items()
    assert method.batch_size == 512
    assert create("seal").for_task(cliques).features
