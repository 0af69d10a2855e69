"""Variants that follow published code where it differs from the paper or from better practice."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree

from trueedge import methods, splits, tasks
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods.classifiers.linear import freed_and_normalized
from trueedge.methods.embeddings.spectral import flipped_pairs, laplacian


@pytest.fixture(scope="module")
def graph() -> Graph:
    return tasks.task("karate", "uniform", 0, keep_connected=False, component="all").graph


def test_the_minimum_tree_is_scipys(graph: Graph) -> None:
    whole = graph.largest_component()
    tree = minimum_spanning_tree(whole.adjacency())
    kept = {tuple(sorted(pair)) for pair in zip(*map(np.ndarray.tolist, tree.nonzero()), strict=True)}
    for seed in range(3):
        train = splits.fraction(whole, 0.25, seed=seed, tree="minimum").train
        assert kept <= set(map(tuple, train.edges.tolist()))


def test_another_tree_is_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="'random' or 'minimum'"):
        splits.fraction(graph, tree="maximum")


def test_the_default_tree_leaves_no_trace_in_a_task() -> None:
    assert "tree" not in tasks.task("karate", "uniform", 0).settings
    assert tasks.task("karate", "uniform", 0, tree="minimum").settings["tree"] == "minimum"


def test_flipped_pairs_are_the_smoothest_vectors_without_the_constant(graph: Graph) -> None:
    whole = graph.largest_component()
    values, vectors = flipped_pairs(whole, 3, seed=0)
    exact, turned = np.linalg.eigh(laplacian(whole).toarray())
    assert values == pytest.approx(exact[-1] - exact[1:4], rel=1e-2)
    # Seven iterations leave a little of the other vectors in each.
    assert 0.9 < abs(vectors[:, 0] @ turned[:, 1]) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", ["exp-l", "vn-l", "linear"])
def test_variants_differ_from_ours_and_repeat(name: str) -> None:
    task = tasks.task("karate", "uniform", 0)
    pairs = task.test.positives.astype(np.int64)
    ours = methods.create(name, {}).fit(task).score(pairs)
    theirs = [methods.create(name, {"variant": "published"}).fit(task).score(pairs) for _ in range(2)]
    assert not np.allclose(ours, theirs[0])
    assert np.array_equal(*theirs)


def test_published_features_have_norm_one_and_no_degree_in_them(graph: Graph) -> None:
    rows = freed_and_normalized(graph, graph.edges.astype(np.int64))
    assert (rows**2).sum(axis=0) == pytest.approx(np.ones(5))
    centred = rows - rows.mean(axis=0)
    assert centred[:, :4].T @ centred[:, 4] == pytest.approx(np.zeros(4), abs=1e-9)
    assert freed_and_normalized(graph, np.empty((0, 2), dtype=np.int64)).shape == (0, 5)


def test_a_linear_classifier_that_saw_the_edges_gives_the_walk_more_weight() -> None:
    pytest.importorskip("torch")
    task = tasks.task("karate", "uniform", 1)
    seen = methods.create("linear", {"variant": "published"}).fit(task)
    edges = task.graph.edges.astype(np.int64)
    others = task.test.positives.astype(np.int64)
    both = seen.score(np.concatenate([edges, others]))
    assert both[: len(edges)].mean() > both[len(edges) :].mean()


class TestTraining:
    """Options of the training loop."""

    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    def test_fixed_negatives_are_the_same_in_every_epoch(self, graph: Graph) -> None:
        from trueedge.training.links.messages import Messages
        from trueedge.training.links.objectives import PairObjective
        from trueedge.training.links.schedule import Schedule

        objective = PairObjective(graph, Messages.of(graph), Schedule(fixed_negatives=True), seed=3)
        rng = np.random.default_rng(0)
        every = np.arange(graph.num_edges)
        first = objective.negatives_of(every, rng)
        assert np.array_equal(objective.negatives_of(every[::-1], rng), first[::-1])
        anew = PairObjective(graph, Messages.of(graph), Schedule(), seed=3)
        assert not np.array_equal(anew.negatives_of(every, rng), anew.negatives_of(every, rng))

    def test_fixed_negatives_can_leave_edges_out(self, graph: Graph) -> None:
        from trueedge.training.links.messages import Messages
        from trueedge.training.links.objectives import PairObjective
        from trueedge.training.links.schedule import Schedule

        chosen = Schedule(fixed_negatives=True, reject_edges=True, negatives_per_positive=2)
        objective = PairObjective(graph, Messages.of(graph), chosen, seed=3)
        drawn = objective.negatives_of(np.arange(graph.num_edges), np.random.default_rng(0))
        assert drawn.shape == (2 * graph.num_edges, 2)
        assert not graph.has_edges(drawn).any()

    def test_far_layers_sample_their_own_neighbours(self, graph: Graph) -> None:
        import torch

        from trueedge.training.links.messages import LayeredMessages, Messages

        whole = Messages.of(graph)
        torch.manual_seed(0)
        last, far = whole.sample_neighbors(3), whole.sample_neighbors(1)
        layered = LayeredMessages.of_layers(last, far)
        assert layered.degrees.max() == 3
        assert layered.far.degrees.max() == 1
        assert layered.whole is whole
        assert whole.far is whole
        states = torch.ones(graph.num_nodes, 1)
        assert torch.equal(layered.sum(states), last.sum(states))

    def test_one_way_messages_go_up(self, graph: Graph) -> None:
        from trueedge.training.links.messages import Messages

        one_way = Messages.of(graph).one_way()
        assert len(one_way.indices) == graph.num_edges
        assert bool((one_way.indices > one_way.targets).all())

    def test_directed_rows_are_powers_of_the_upper_triangle(self, graph: Graph) -> None:
        from trueedge.methods.pairwise.models.directed_overlap import DirectedRows
        from trueedge.training.links.messages import Messages

        messages = Messages.of(graph)
        made = DirectedRows(2, 0.1)
        found = made(messages)
        upper = np.triu(graph.adjacency().toarray())
        expected = upper + 0.1 * upper @ upper
        dense = np.zeros_like(expected)
        dense[found.rows.targets.numpy(), found.rows.indices.numpy()] = found.values.numpy()
        assert dense == pytest.approx(expected)
        assert made(messages) is found

    @pytest.mark.parametrize(
        ("name", "settings"),
        [
            ("buddy", {"hide_positives": False, "fixed_negatives": True, "reject_edges": True}),
            ("neo-gnn", {"hide_positives": False, "adjacency": "directed"}),
            ("gcn", {"neighbors": 3, "far_neighbors": 2, "clip": 0.0}),
        ],
    )
    def test_published_trainings_repeat_and_differ_from_ours(self, name: str, settings: dict) -> None:
        task = tasks.task("karate", "existing", 0)
        pairs = task.test.positives.astype(np.int64)
        # Small batches: the edges of a batch are hidden, and something must be left to sample from.
        short = {"epochs": 2, "batch_size": 8, **({"layers": 2} if name == "gcn" else {})}
        ours = methods.create(name, short).fit(task, seed=1).score(pairs)
        theirs = [
            methods.create(name, {**short, **settings}).fit(task, seed=1).score(pairs) for _ in range(2)
        ]
        assert np.array_equal(*theirs)
        assert not np.allclose(ours, theirs[0])


@pytest.mark.parametrize("protocol", ["existing", "heart"])
@pytest.mark.parametrize("name", ["gcn", "sage", "gat"])
def test_networks_on_ddi_hide_a_batch_and_draw_negatives_among_what_no_message_joins(protocol, name):
    ddi = methods.create(name).for_task(SimpleNamespace(protocol=protocol, dataset="ogbl-ddi"))
    assert (ddi.hide_positives, ddi.negatives, ddi.reject_edges) == (True, "unlinked", False)
    collab = methods.create(name).for_task(SimpleNamespace(protocol=protocol, dataset="ogbl-collab"))
    assert (collab.hide_positives, collab.negatives, collab.reject_edges) == (False, "uniform", False)
    # What a user sets comes first.
    own = methods.create(name, {"negatives": "uniform", "hide_positives": False})
    ddi = own.for_task(SimpleNamespace(protocol=protocol, dataset="ogbl-ddi"))
    assert (ddi.hide_positives, ddi.negatives) == (False, "uniform")
