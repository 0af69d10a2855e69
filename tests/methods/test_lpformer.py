"""LPFormer: the nodes it attends to, its attention, and that no pair's own edge is seen anywhere."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from heart_twin import exact_pagerank  # noqa: E402
from trueedge.graph import Graph  # noqa: E402
from trueedge.kernels.walks.push import push_rows  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.lpformer import ABLATIONS  # noqa: E402
from trueedge.methods.pairwise.models.attention import (  # noqa: E402
    Segments,
    attention_logits,
    softmax,
    weighted_sum,
)
from trueedge.methods.pairwise.models.chosen_nodes import Thresholds, choose  # noqa: E402
from trueedge.methods.pairwise.models.lpformer import LPFormerModel, NormedEncoder, Ranking  # noqa: E402
from trueedge.methods.pairwise.models.near_ranks import SLACK, NearRanks, without_edge  # noqa: E402
from trueedge.methods.pairwise.models.node_attention import Pattern, node_logits, node_sum  # noqa: E402
from trueedge.training import LearnedInput, Messages, PairObjective, SparseInput, seeded  # noqa: E402
from trueedge.training.links.scorer import TrainedScorer  # noqa: E402

SMALL = {"dim": 16, "epochs": 3, "batch_size": 64, "evaluate_every": 1}


def without(graph: Graph, place: int) -> Graph:
    return Graph.from_edges(np.delete(graph.edges, place, axis=0), graph.num_nodes, graph.features)


def factors(ranks: np.ndarray, ends: np.ndarray, degrees: np.ndarray, alpha: float) -> np.ndarray:
    a, b = ends.T
    own, across = np.stack([ranks[a, a], ranks[b, b]], 1), np.stack([ranks[a, b], ranks[b, a]], 1)
    return without_edge(*map(torch.from_numpy, (own, across, degrees[ends].astype(float))), alpha).numpy()


@pytest.mark.parametrize("alpha", [0.15, 0.5, 0.9])
@pytest.mark.parametrize(("nodes", "edges"), [(14, 8), (14, 14), (14, 25), (20, 120), (2, 1)])
def test_an_edge_is_taken_out_of_pagerank_exactly(random_graph, nodes, edges, alpha):
    for seed in range(4):
        graph = random_graph(seed, nodes=nodes, edges=edges)
        ranks = exact_pagerank(graph, alpha)
        turned = factors(ranks, graph.edges.astype(np.int64), graph.degrees, alpha)
        for place, (a, b) in enumerate(graph.edges):
            others = np.setdiff1d(np.arange(nodes), [a, b])
            expected = exact_pagerank(without(graph, place), alpha)[[a, b]][:, others]
            np.testing.assert_allclose(turned[place] @ ranks[[a, b]][:, others], expected, atol=1e-13)


def test_an_edge_is_taken_out_of_pushed_pagerank_within_a_few_of_its_bounds(random_graph):
    eps = 1e-5
    for seed in range(6):
        graph = random_graph(seed, nodes=25, edges=[20, 40, 90][seed % 3])
        found = push_rows(graph.indptr, graph.indices, np.arange(25), 0.15, eps)
        rows = np.repeat(np.arange(25), np.diff(found.starts))
        ranks = np.zeros((25, 25))
        ranks[rows, found.nodes] = found.scores
        turned = factors(ranks, graph.edges.astype(np.int64), graph.degrees, 0.15)
        for place, (a, b) in enumerate(graph.edges):
            others = np.setdiff1d(np.arange(25), [a, b])
            expected = exact_pagerank(without(graph, place), 0.15)[[a, b]][:, others]
            wrong = np.abs(turned[place] @ ranks[[a, b]][:, others] - expected)
            assert (wrong <= 8 * eps * (1 + graph.degrees[others])).all()


def test_a_value_that_an_edge_leaves_grows_by_less_than_the_slack(random_graph):
    for seed in range(8):
        graph = random_graph(seed, nodes=16, edges=[12, 16, 24, 60][seed % 4])
        before = exact_pagerank(graph, 0.15)
        for place, (a, b) in enumerate(graph.edges):
            others = np.setdiff1d(np.arange(16), [a, b])
            after = exact_pagerank(without(graph, place), 0.15)[[a, b]][:, others]
            assert (after <= SLACK * before[[a, b]][:, others]).all()


def twin_sets(graph, hidden, pairs, thresholds, alpha):
    """Sets and values by plain Python, on PageRank computed anew for every pair."""
    listed = [set(), set()]
    for place, (a, b) in enumerate(graph.edges.tolist()):
        listed[0] |= {(a, b), (b, a)}
        listed[1] |= {(a, b), (b, a)} if place in hidden else set()
    whole, seen = listed[0], listed[0] - listed[1]
    answer = {}
    for row, (a, b) in enumerate(pairs.tolist()):
        own = [i for i, edge in enumerate(graph.edges.tolist()) if set(edge) == {a, b} and i in hidden]
        ranks = exact_pagerank(without(graph, own[0]) if own else graph, alpha)
        for u in set(range(graph.num_nodes)) - {a, b}:
            near = ((a, u) in seen) + ((b, u) in seen)
            kind = 2 - near
            if kind == 2 and ((a, u) in whole or (b, u) in whole):
                continue
            value = thresholds.values()[kind]
            if value < 1 and ranks[a, u] >= value and ranks[b, u] >= value:
                answer[row, kind, u] = (ranks[a, u], ranks[b, u])
    return answer


@pytest.mark.parametrize(
    "values",
    [
        (0.0, 1.0, 1.0),
        (0.0, 0.01, 1.0),
        (0.0, 0.02, 0.004),
        (0.01, 0.0, 0.01),
        (1.0, 1.0, 0.003),
        (0.03, 0.01, 1.0),
    ],
    ids=str,
)
def test_the_nodes_attended_to_are_those_of_plain_python(random_graph, values):
    thresholds = Thresholds(*values)
    for seed, edges in ((1, 30), (2, 70)):
        graph = random_graph(seed, nodes=24, edges=edges)
        rng = np.random.default_rng(seed)
        hidden = rng.choice(graph.num_edges, graph.num_edges // 4, replace=False)
        drawn = rng.integers(0, 24, (40, 2))
        pairs = np.sort(np.concatenate([drawn[drawn[:, 0] != drawn[:, 1]], graph.edges[hidden]]), axis=1)
        whole = Messages.of(graph)
        ranks = NearRanks.of(whole, 0.15, 1e-9, thresholds.least())
        for gone in (hidden, hidden[:0]):
            messages = whole.without(torch.from_numpy(gone))
            found = {}
            for one in choose(torch.from_numpy(pairs.astype(np.int64)), messages, ranks, thresholds):
                assert (one.segments.rows.diff() >= 0).all()
                for row, node, value in zip(one.segments.rows, one.nodes, one.ranks, strict=True):
                    key = (int(row), one.kind, int(node))
                    assert key not in found
                    found[key] = value.tolist()
            expected = twin_sets(graph, set(gone.tolist()), pairs, thresholds, 0.15)
            assert set(found) == set(expected)
            np.testing.assert_allclose(
                [found[key] for key in expected], list(expected.values()), rtol=1e-4, atol=1e-6
            )


def test_a_hidden_edge_leaves_a_trace_in_pagerank_where_it_is_not_taken_out(random_graph):
    graph = random_graph(2, nodes=24, edges=70)
    whole = Messages.of(graph)
    ranks = NearRanks.of(whole, 0.15, 1e-9, 0.01)
    pairs = torch.from_numpy(graph.edges[:10].astype(np.int64))
    messages = whole.without(torch.arange(10))
    thresholds = Thresholds(0.0, 0.01, 0.01)
    sums = [
        sum(float(one.ranks.sum()) for one in choose(pairs, messages, ranks, thresholds, mask=mask))
        for mask in (True, False)
    ]
    assert abs(sums[0] - sums[1]) > 0.05


def test_dropped_nodes_are_about_the_share_asked_for(random_graph):
    graph = random_graph(3, nodes=40, edges=400)
    whole = Messages.of(graph)
    ranks = NearRanks.of(whole, 0.15, 1e-6, 1.0)
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, 40, (500, 2)))
    sizes = [
        sum(len(one.nodes) for one in choose(pairs, whole, ranks, Thresholds(0.0, 1.0, 1.0), share))
        for share in (0.0, 0.3)
    ]
    assert 0.66 < sizes[1] / sizes[0] < 0.74


def attended(keys, queries, vector, rows, count):
    """Attention by torch's own softmax, a pair at a time."""
    heads, dim = vector.shape
    weights, outs = torch.zeros(len(keys), heads, dtype=keys.dtype), []
    for row in range(count):
        mine = rows == row
        own = keys[mine].view(-1, heads, dim)
        logits = (torch.nn.functional.leaky_relu(own * queries[row].view(1, heads, dim), 0.2) * vector).sum(2)
        share = torch.softmax(logits, dim=0)
        weights[mine] = share
        outs.append((share.unsqueeze(2) * own).sum(0).reshape(-1))
    return weights, torch.stack(outs)


@pytest.mark.parametrize("heads", [1, 3])
def test_attention_and_its_gradients_are_those_of_a_plain_softmax(heads):
    generator = torch.Generator().manual_seed(heads)
    rows = [torch.tensor([0, 0, 2, 2, 2, 3]), torch.tensor([1, 2, 3])]
    keys = [torch.randn(len(part), heads * 5, generator=generator).requires_grad_() for part in rows]
    queries = torch.randn(5, heads * 5, generator=generator).requires_grad_()
    vector = torch.randn(heads, 5, generator=generator).requires_grad_()
    segments = [Segments(part, 5) for part in rows]
    logits = [attention_logits(key, queries, vector, one) for key, one in zip(keys, segments, strict=True)]
    weights = softmax(logits, segments)
    found = sum(weighted_sum(*part) for part in zip(weights, keys, segments, strict=True))
    own, expected = attended(torch.cat(keys), queries, vector, torch.cat(rows), 5)
    torch.testing.assert_close(torch.cat(weights), own)
    torch.testing.assert_close(found, expected)
    leaves = [*keys, queries, vector]
    probe = torch.randn(found.shape, generator=generator)
    grads = [torch.autograd.grad((out * probe).sum(), leaves, retain_graph=True) for out in (found, expected)]
    for ours, plain in zip(*grads, strict=True):
        torch.testing.assert_close(ours, plain)


@pytest.mark.parametrize("heads", [1, 3])
def test_attention_to_a_table_of_nodes_is_that_to_its_rows(heads):
    generator = torch.Generator().manual_seed(heads)
    rows, nodes = torch.tensor([0, 0, 2, 2, 2, 3]), torch.tensor([1, 4, 0, 1, 3, 4])
    table, queries = (torch.randn(6, heads * 5, generator=generator).requires_grad_() for _ in range(2))
    vector = torch.randn(heads, 5, generator=generator).requires_grad_()
    segments = Segments(rows, 6)
    pattern = Pattern(segments, nodes, 6)
    probe = torch.randn(6, heads * 5, generator=generator)
    answers = []
    for by_table in (True, False):
        if by_table:
            (weights,) = softmax([node_logits(table, queries, vector, pattern)], [segments])
            found = node_sum(weights, table, pattern)
        else:
            keys = table[nodes]
            (weights,) = softmax([attention_logits(keys, queries, vector, segments)], [segments])
            found = weighted_sum(weights, keys, segments)
        answers.append([found, *torch.autograd.grad((found * probe).sum(), [table, queries, vector])])
    for ours, plain in zip(*answers, strict=True):
        torch.testing.assert_close(ours, plain)


def test_neighbours_without_pagerank_are_set_apart_and_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        rng.integers(0, 60, (600, 2)), 60, rng.random((60, 6)), self_loops="drop", repeats="drop"
    )
    task = task_of(graph)
    for ablation in ABLATIONS:
        method = create("lpformer", {"dim": 16, "eps": 1e-2, "ablation": ablation}).for_task(task)
        with seeded(0):
            model = method.build(task, 0).eval()
        pairs = torch.from_numpy(rng.integers(0, 60, (80, 2)))
        answers = []
        for bar in (0.2, 1.0):
            monkeypatch.setattr("trueedge.methods.pairwise.models.near_ranks.UNREACHED", bar)
            messages = Messages.of(task.graph).without(torch.arange(0, task.graph.num_edges, 9))
            apart = [one.unreached for one in model.chosen(pairs, messages)]
            assert any(apart) == (bar == 0.2)
            model.zero_grad()
            scores = model.score(model.encode(messages), pairs, messages)
            scores.sum().backward()
            gradient = torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])
            answers.append((scores.detach(), gradient))
        for ours, plain in zip(*answers, strict=True):
            torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)


def task_of(graph, protocol="existing"):
    return te.task(graph, protocol, 0)


def two_communities(features: int = 0) -> Graph:
    rng = np.random.default_rng(0)
    sides = [rng.integers(0, 20, (130, 2)), rng.integers(20, 40, (130, 2)), rng.integers(0, 40, (12, 2))]
    table = rng.random((40, features)) if features else None
    return Graph.from_edges(
        np.concatenate(sides),
        42,
        np.pad(table, ((0, 2), (0, 0))) if features else None,
        self_loops="drop",
        repeats="drop",
        name="two-communities",
    )


@pytest.mark.rotating(3)
@pytest.mark.parametrize(
    "settings",
    [
        *({"ablation": name} for name in ABLATIONS),
        {"attention_layers": 3, "heads": 2},
        {"head": "thesis"},
        {"layer_norm": False, "rectifier": False, "residual": True, "layers": 3},
        {"threshold_one_hop": 0.0, "threshold_common": 0.02},
        {"threshold_one_hop": 1.0, "threshold_beyond": 1.0, "threshold_common": 1.0},
        {"attention_dropout": 0.5, "feature_dropout": 0.5},
    ],
    ids=str,
)
def test_every_variant_learns_scores_mirrors_alike_and_passes_the_check(settings):
    task = task_of(two_communities(features=6))
    scorer = create("lpformer", {**SMALL, **settings}).fit(task)
    pairs = np.stack(np.meshgrid(np.arange(42), np.arange(42)), axis=-1).reshape(-1, 2)
    scores = scorer.score(pairs)
    assert np.isfinite(scores).all()
    assert scores.tobytes() == scorer.score(pairs[:, ::-1]).tobytes()
    order = np.random.default_rng(0).permutation(len(pairs))
    assert scores[order].tobytes() == scorer.score(pairs[order]).tobytes()
    assert te.check_scorer(scorer, task) is not None


def test_every_weight_gets_a_gradient_unless_its_part_is_left_out():
    task = task_of(two_communities(features=6))
    for name in ABLATIONS:
        method = create("lpformer", {**SMALL, "ablation": name, "attention_layers": 2}).for_task(task)
        with seeded(0):
            model = method.build(task, 0)
        messages = Messages.of(task.graph)
        pairs = torch.from_numpy(task.graph.edges.astype(np.int64))
        model.score(model.encode(messages), pairs, messages).sum().backward()
        still = Counter(
            key.split(".")[0]
            for key, weight in model.named_parameters()
            if weight.grad is None or not weight.grad.any()
        )
        idle = {
            "no-learnable-attention": {"encodings", "attention"},
            "no-features-in-attention": {"attention"},
        }
        assert set(still) == idle.get(name, set()), name


def test_gradients_are_the_same_bits_with_two_threads(random_graph):
    task = task_of(random_graph(1, nodes=200, edges=4000, features=6))
    method = create("lpformer", {"dim": 32}).for_task(task)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        answers = []
        for _ in range(3):
            with seeded(0):
                model = method.build(task, 0)
                objective = PairObjective(task.graph, Messages.of(task.graph), method.schedule(task))
                objective.backward(model, np.arange(1000), np.random.default_rng(0))
            found = [weight.grad for weight in model.parameters() if weight.grad is not None]
            answers.append([gradient.numpy().tobytes() for gradient in found])
    finally:
        torch.set_num_threads(before)
    assert answers[0] == answers[1] == answers[2]


def test_sparse_features_are_dropped_as_dense_ones_are():
    from trueedge.methods.pairwise.models.feature_dropout import FeatureDropout

    rng = np.random.default_rng(0)
    table = (rng.random((30, 50)) < 0.1).astype(np.float32)
    inputs, dropout = SparseInput(table), FeatureDropout(0.4)
    weight = torch.randn(8, 50, generator=torch.Generator().manual_seed(0)).requires_grad_()
    thinned = dropout(inputs)
    mapped = thinned.project(weight)
    rows = np.repeat(np.arange(30), np.diff(inputs.indptr.numpy()))
    kept = np.zeros_like(table)
    kept[rows, inputs.indices.numpy()] = thinned.thinned.numpy()
    assert 0.4 < (kept != 0).sum() / table.sum() < 0.8
    assert np.allclose(kept[kept != 0], 1 / 0.6)
    probe = torch.randn(mapped.shape)
    (found,) = torch.autograd.grad((mapped * probe).sum(), weight)
    torch.testing.assert_close(mapped.detach(), torch.from_numpy(kept) @ weight.detach().t())
    torch.testing.assert_close(found, probe.t() @ torch.from_numpy(kept))
    dropout.eval()
    assert dropout(inputs) is inputs


def leak_model(graph, **settings):
    method = create(
        "lpformer", {**SMALL, "eps": 1e-12, "threshold_one_hop": 1e-3, "threshold_beyond": 1e-3, **settings}
    ).for_task(task_of(graph))
    with seeded(0):
        return method.build(task_of(graph), 0).eval()


@pytest.mark.parametrize("open_mask", ["", "mask_ranks", "mask_input"])
def test_a_hidden_edge_scores_as_on_a_graph_that_never_had_it_and_only_with_the_masks(
    random_graph, open_mask
):
    graph = random_graph(5, nodes=40, edges=90, features=6)
    model = leak_model(graph, **({open_mask: False} if open_mask else {}))
    mask = not open_mask
    for encoding in model.encodings:
        # A model that listens: PageRank is small beside the weights it starts with.
        encoding.first.weight.data.mul_(100.0)
    whole = Messages.of(graph)
    differences, seen = [], []
    with torch.no_grad():
        for place in range(0, graph.num_edges, 5):
            pair = torch.from_numpy(graph.edges[place : place + 1].astype(np.int64))
            scores = [
                model.score(model.encode(messages), pair, messages).item()
                for messages in (
                    whole.without(torch.tensor([place])),
                    Messages.of(without(graph, place)),
                    whole,
                )
            ]
            differences.append(abs(scores[0] - scores[1]))
            seen.append(abs(scores[2] - scores[1]))
    assert (max(differences) < 3e-6) == mask
    assert (max(differences) > 3e-5) != mask
    # With the edge in sight the score is another one: there is something to hide.
    assert max(seen) > 1e-2


def test_another_graph_is_scored_with_its_own_pagerank():
    task = task_of(two_communities(features=6))
    scorer = create("lpformer", SMALL).fit(task)
    fewer = without(task.graph, 3)
    pairs = task.graph.edges[:20].astype(np.int64)
    fresh = TrainedScorer(scorer.model, Messages.of(fewer), scorer.history)
    assert scorer.with_graph(fewer).score(pairs).tobytes() == fresh.score(pairs).tobytes()
    assert scorer.with_graph(task.graph).score(pairs).tobytes() == scorer.score(pairs).tobytes()


@pytest.mark.parametrize(("nodes", "edges"), [(1, []), (2, [[0, 1]]), (3, [[0, 1]]), (3, [[0, 1], [1, 2]])])
def test_all_pairs_of_tiny_graphs_get_finite_scores(nodes, edges):
    graph = Graph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), nodes)
    model = LPFormerModel(
        LearnedInput(nodes, 8),
        NormedEncoder([8, 8], 0.1, 0.1),
        Ranking(Thresholds(0.0, 1e-2, 1e-2)),
        layers=1,
        heads=1,
        dropout=0.1,
        predictor_layers=2,
        predictor_dropout=0.1,
    )
    pairs = torch.cartesian_prod(torch.arange(nodes), torch.arange(nodes))
    whole = Messages.of(graph)
    for messages in (whole, whole.without(torch.arange(len(edges)))):
        assert torch.isfinite(model.score(model.encode(messages), pairs, messages)).all()
