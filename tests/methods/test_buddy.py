"""BUDDY: counts beside breadth-first search, estimates within theory, no edge of its own seen."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import trueedge as te  # noqa: E402
from trueedge.errors import InputError  # noqa: E402
from trueedge.kernels.neighbors import sketches as kernels  # noqa: E402
from trueedge.methods import create  # noqa: E402
from trueedge.methods.pairwise.models import sketches  # noqa: E402
from trueedge.methods.pairwise.models.sketches import CountedPairs, union_size  # noqa: E402
from trueedge.training import Messages, seeded  # noqa: E402

SHORT = {"epochs": 6, "evaluate_every": 3, "batch_size": 64, "dim": 8, "select": "auc"}


@pytest.fixture(scope="module")
def task():
    """Two dense halves with a few edges between them."""
    rng = np.random.default_rng(0)
    half = rng.integers(0, 30, (260, 2))
    pairs = np.concatenate([half, 30 + half[::-1], [[0, 30], [1, 31]]])
    features = rng.random((60, 5))
    graph = te.Graph.from_edges(pairs, 60, features, self_loops="drop", repeats="drop", name="halves")
    return te.task(graph, "existing", seed=0)


def searched(graph, pairs, hops):
    """Counts by breadth-first search: an end is one hop from itself."""
    plain = nx.Graph(graph.edges.tolist())
    plain.add_nodes_from(range(graph.num_nodes))
    far = hops + 1
    rows = []
    for a, b in pairs.tolist():
        steps = [nx.single_source_shortest_path_length(plain, end, cutoff=hops) for end in (a, b)]
        counts = np.zeros((far + 1, far + 1))
        for node in set(steps[0]) | set(steps[1]):
            counts[tuple(max(1, way.get(node, far)) for way in steps)] += 1
        alone = [counts[1:far, far], counts[far, 1:far]]
        rows.append(np.concatenate([counts[1:far, 1:far].ravel(), *alone]))
    return np.array(rows)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("shape", [(1, 40, 60), (2, 25, 0), (3, 30, 120)], ids=str)
def test_exact_counts_are_those_of_a_search(hops, shape, random_graph):
    graph = random_graph(shape[0], nodes=shape[1], edges=shape[2])
    pairs = np.random.default_rng(0).integers(0, graph.num_nodes, (40, 2))
    counted = CountedPairs(graph.num_nodes, hops, 1, exact=True, key=0)
    found = counted(torch.from_numpy(pairs), Messages.of(graph))
    assert found.numpy().tolist() == searched(graph, pairs, hops).tolist()
    turned = counted(torch.from_numpy(pairs[:, ::-1].copy()), Messages.of(graph))
    assert torch.equal(counted.turned(found), turned)


@pytest.mark.parametrize("size", [1, 5, 40, 200, 640, 2500])
def test_sizes_err_as_little_as_the_sketch_allows(size):
    trials = 300
    registers = np.stack([kernels.own_sketches(size, 1, key=key)[0].max(axis=0) for key in range(trials)])
    rows = torch.arange(trials)
    found = union_size(torch.stack([rows, rows], dim=1), *[torch.from_numpy(registers)] * 2).numpy()
    errors = found / size - 1
    bound = 1.04 / math.sqrt(kernels.REGISTERS)
    assert abs(errors.mean()) < 4 * bound / math.sqrt(trials) + 0.005
    assert errors.std() < 1.25 * bound


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.8, 1.0])
def test_the_shared_part_errs_as_little_as_the_sketch_allows(share):
    size, trials = 200, 300
    common = round(share * size)
    found = []
    for key in range(trials):
        values = kernels.own_sketches(size, 128, key=key)[1]
        cut = (size + common) // 2
        left, right = values[:cut].min(axis=0), values[cut - common :].min(axis=0)
        found.append((left == right).mean())
    bound = math.sqrt(share * (1 - share) / 128)
    assert abs(np.mean(found) - share) <= 4 * bound / math.sqrt(trials) + 1e-9
    assert np.std(found) <= 1.2 * bound + 1e-9


def test_what_two_sets_share_errs_as_little_as_both_sketches_allow(random_graph):
    graph = random_graph(3, nodes=600, edges=3000)
    messages = Messages.of(graph)
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, 600, (300, 2)))
    sets = CountedPairs(600, 2, 1, exact=True, key=0).around(messages)
    exact, sizes = sets.shared(pairs).numpy()[:, 1, 1], sets.sizes()[:, 1].numpy()[pairs.numpy()]
    union = sizes.sum(axis=1) - exact
    share = exact / union
    expected = union**2 * share * (1 - share) / 128 + (exact * 1.04) ** 2 / 256
    ratios = []
    for key in range(10):
        guessed = CountedPairs(600, 2, 128, exact=False, key=key).around(messages).shared(pairs)
        ratios.append(np.mean((guessed.numpy()[:, 1, 1] - exact) ** 2 / expected))
    assert np.mean(ratios) < 1.3


def test_torch_alone_comes_to_the_numbers_of_the_kernels(random_graph, monkeypatch):
    monkeypatch.setattr(sketches, "BLOCK", 3000)
    graph = random_graph(4, nodes=80, edges=250)
    messages = Messages.of(graph)
    pairs = torch.from_numpy(np.random.default_rng(0).integers(0, 80, (50, 2)))
    registers, minima = kernels.own_sketches(80, 16, key=2)
    most, least = kernels.spread(graph.indptr, graph.indices, registers, minima)
    large = sketches.spread_here(messages, torch.from_numpy(registers), "amax")
    small = sketches.spread_here(messages, torch.from_numpy(minima), "amin")
    assert large.dtype == torch.uint8
    assert np.array_equal(large.numpy(), most)
    assert np.array_equal(small.numpy(), least)
    sums = kernels.union_sums(pairs.numpy(), registers, most)
    for ours, theirs in zip(
        sketches.union_sums_here(pairs, torch.from_numpy(registers), large), sums, strict=True
    ):
        assert ours.tolist() == theirs.tolist()
    same = kernels.equal_minima(pairs.numpy(), minima, least)
    assert sketches.equal_minima_here(pairs, torch.from_numpy(minima), small).tolist() == same.tolist()


def test_the_sketches_of_a_graph_are_made_once_and_forgotten_with_it(random_graph):
    counted = CountedPairs(30, 2, 8, exact=False, key=0)
    messages = Messages.of(random_graph(1, nodes=30, edges=60))
    assert counted.around(messages) is counted.around(messages)
    del messages
    assert len(counted._seen) == 0


def test_exact_counts_of_a_large_graph_are_refused_in_a_sentence():
    with pytest.raises(InputError, match="exact counts take"):
        CountedPairs(sketches.MOST_EXACT + 1, 2, 8, exact=True, key=0)


@pytest.mark.parametrize(
    "settings", [{}, {"counts": "exact"}, {"feature_hops": 2}, {"hops": 3, "one_hop": True}]
)
def test_a_trained_scorer_passes_the_check_and_repeats_itself(task, settings):
    scorers = [create("buddy", {**SHORT, **settings}).fit(task, seed=3) for _ in range(2)]
    pairs = np.concatenate([task.pairs("test"), [[0, 0], [59, 59]]])
    first, second = (scorer.score(pairs) for scorer in scorers)
    assert np.isfinite(first).all()
    assert first.tobytes() == second.tobytes()
    assert scorers[0].score(pairs[:, ::-1]).tobytes() == first.tobytes()
    assert te.check_scorer(scorers[0], task).ok


def test_two_halves_are_told_apart(task):
    scorer = create("buddy", {**SHORT, "epochs": 60, "learning_rate": 0.01}).fit(task)
    assert task.evaluate(scorer)["auc"] > 0.65


@pytest.mark.parametrize("counts", ["sketches", "exact"])
def test_an_edge_that_is_hidden_is_seen_nowhere(random_graph, counts):
    graph = random_graph(7, nodes=40, edges=90, features=6)
    whole = te.task(graph, "existing", seed=0)
    messages = Messages.of(whole.graph)
    method = create("buddy", {"dim": 8, "counts": counts}).for_task(whole)
    with seeded(0):
        model = method.build(whole, 0).eval()
    for edge in range(0, whole.graph.num_edges, 9):
        pair = torch.from_numpy(whole.graph.edges[[edge]].astype(np.int64))
        never = te.Graph.from_edges(np.delete(whole.graph.edges, edge, axis=0), 40, graph.features)
        answers = [
            model.score(model.encode(seen), pair, seen).item()
            for seen in (messages.without(torch.tensor([edge])), Messages.of(never), messages)
        ]
        assert answers[0] == answers[1]
        assert answers[0] != answers[2], "an edge that is left in must show, or this test sees nothing"


def test_nothing_is_learned_where_only_the_edge_itself_tells(random_graph):
    """On a random graph an edge is told by itself alone: hidden, training cannot go below chance for long."""
    graph = random_graph(8, nodes=400, edges=900)
    task = te.task(graph, "existing", seed=0)
    settings = {"epochs": 15, "batch_size": 32, "dim": 4, "select": "auc", "inputs": "spectral", "hops": 1}
    settings |= {"evaluate_every": 15, "learning_rate": 0.01, "one_hop": False, "feature_dropout": 0.9}
    found = {}
    for hide in (True, False):
        scorer = create("buddy", {**settings, "hide_positives": hide}).fit(task, seed=1)
        found[hide] = task.evaluate(scorer, "valid", ["auc"])["auc"], scorer.history.losses[-1]
    assert abs(found[True][0] - 0.5) < 0.15
    assert found[False][1] < found[True][1] - 0.3
