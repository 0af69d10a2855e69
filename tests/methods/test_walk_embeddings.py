"""Embeddings from walks: planted groups are found, small graphs are no trouble, a seed is a seed."""

from __future__ import annotations

from types import SimpleNamespace

import numba
import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import create

METHODS = ("node2vec", "deepwalk", "line")
# So little work that a test is over soon.
QUICK = {
    "node2vec": {"vector_dim": 16, "walks": 4, "walk_length": 10, "passes": 1, "window": 3},
    "deepwalk": {"dim": 16, "walks": 4, "walk_length": 10, "window": 3},
    "line": {"dim": 16, "walks": 4, "walk_length": 10},
}


def planted(nodes: int = 80, features: int = 0) -> Graph:
    """Two groups of equal size, dense within and sparse between."""
    rng = np.random.default_rng(5)
    pairs = np.argwhere(np.triu(np.ones((nodes, nodes)), 1))
    same = (pairs[:, 0] < nodes // 2) == (pairs[:, 1] < nodes // 2)
    edges = pairs[rng.random(len(pairs)) < np.where(same, 0.2, 0.01)]
    table = rng.standard_normal((nodes, features)).astype(np.float32) if features else None
    return Graph.from_edges(edges, nodes, table, name="planted")


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def test_planted_groups_come_apart(method):
    graph = planted()
    vectors = create(method, {"walks": 40}).vectors(graph, 1)
    products = vectors @ vectors.T
    same = np.equal.outer(np.arange(80) < 40, np.arange(80) < 40)
    within, between = products[same & ~np.eye(80, dtype=bool)], products[~same]
    assert np.mean(within[:, None] > between[None, :200]) > 0.9


def test_a_seed_gives_the_same_bits_on_any_number_of_threads(method):
    graph, kind = planted(), create(method, QUICK[method])
    once = kind.vectors(graph, 3)
    assert once.dtype == np.float32
    assert once.shape == (80, 16)
    assert kind.vectors(graph, 4).tobytes() != once.tobytes()
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        assert kind.vectors(graph, 3).tobytes() == once.tobytes()
    finally:
        numba.set_num_threads(threads)


@pytest.mark.parametrize("edges", [[], [[0, 1]], [[0, 1], [1, 2]]])
@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_graphs_of_a_few_nodes_get_finite_vectors(method, nodes, edges):
    known = [edge for edge in edges if max(edge) < nodes]
    graph = Graph.from_edges(np.array(known, dtype=np.int64).reshape(-1, 2), nodes)
    vectors = create(method, QUICK[method]).vectors(graph, 0)
    assert vectors.shape == (nodes, 16)
    assert np.isfinite(vectors).all()


def test_the_score_is_the_dot_product_of_vectors(method):
    task = te.task(planted(), "uniform", 0)
    kind = create(method, QUICK[method])
    pairs = np.array([[0, 1], [70, 3], [5, 5]])
    vectors = kind.vectors(task.graph, 2).astype(np.float64)
    expected = (vectors[pairs[:, 0]] * vectors[pairs[:, 1]]).sum(axis=1)
    np.testing.assert_allclose(kind.fit(task, 2).score(pairs), expected)


def test_a_graph_is_no_task(method):
    with pytest.raises(InputError, match="vectors\\(graph, seed\\)"):
        create(method).fit(planted())


def test_p_and_q_change_node2vec():
    graph = planted()
    found = {
        create("node2vec", {**QUICK["node2vec"], "p": p, "q": q}).vectors(graph, 0).tobytes()
        for p, q in ((1.0, 1.0), (4.0, 1.0), (1.0, 4.0))
    }
    assert len(found) == 3


@pytest.mark.parametrize("features", [0, 6])
def test_vectors_are_concatenated_to_features(features):
    task = te.task(planted(features=features), "existing", 0)
    kind = create("node2vec", {**QUICK["node2vec"], "dim": 8}).for_task(task)
    assert kind.predictor == "mlp"
    assert kind.build(task, 1).inputs.dim == 16 + features


def test_concatenated_inputs_are_mapped_as_one():
    torch = pytest.importorskip("torch")
    from trueedge.methods.embeddings.models.concat_input import ConcatInput
    from trueedge.training import DenseInput, SparseInput

    rng = np.random.default_rng(0)
    sparse = rng.random((7, 5)) * (rng.random((7, 5)) < 0.3)
    dense = rng.standard_normal((7, 4)).astype(np.float32)
    weight, bias = torch.randn(3, 9), torch.randn(3)
    both = ConcatInput(SparseInput(sparse), DenseInput(torch.from_numpy(dense)))
    joined = torch.from_numpy(np.hstack([sparse.astype(np.float32), dense]))
    assert both.dim == 9
    torch.testing.assert_close(both.project(weight, bias), joined @ weight.t() + bias)


def test_settings_left_open_depend_on_the_predictor():
    uniform, existing = (te.task(planted(), protocol, 0) for protocol in ("uniform", "existing"))
    alone, beside = (create("node2vec").for_task(task) for task in (uniform, existing))
    assert (alone.predictor, alone.walk_length, alone.passes) == ("dot", 80, 1)
    assert (beside.predictor, beside.walk_length) == ("mlp", 20)
    assert create("node2vec", {"walk_length": 7}).for_task(existing).walk_length == 7


def test_vectors_are_as_good_as_those_of_word2vec_on_the_same_walks(data_folder):
    gensim = pytest.importorskip("gensim")
    from trueedge.kernels.walks.random_walks import random_walks
    from trueedge.kernels.walks.skipgram import SkipGram

    task = te.task("netscience", "degree-corrected", 0)
    graph = task.graph
    starts = np.tile(np.arange(graph.num_nodes, dtype=np.int32), 10)
    walks = np.random.default_rng(0).permutation(
        random_walks(graph.indptr, graph.indices, starts, 80, 1, 1.0, 1.0, 0)
    )
    ours = SkipGram(np.bincount(walks.ravel()), 128, 10, 5, False, 0.75, 0.0, 1)
    ours.learn(walks, 0, 0.025, 0.0001)
    # As text: of whole numbers gensim takes the wrong counts for its negatives.
    texts = [[str(node) for node in path] for path in walks]
    theirs = gensim.models.Word2Vec(
        texts, vector_size=128, window=10, sg=1, min_count=0, epochs=1, workers=1, sample=0, seed=1
    )
    vectors = np.array([theirs.wv[str(node)] for node in range(graph.num_nodes)])
    found = [task.evaluate(which, "test", ["auc"])["auc"] for which in (ours.vectors, vectors)]
    assert found[0] == pytest.approx(found[1], abs=0.015)


ADAM = {**QUICK["node2vec"], "trainer": "adam", "noise": 1}


class TestAdam:
    """Vectors that Adam learns from random ones."""

    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch")

    def test_planted_groups_come_apart(self):
        vectors = create("node2vec", {**ADAM, "walks": 10, "passes": 150}).vectors(planted(), 1)
        products = vectors @ vectors.T
        same = np.equal.outer(np.arange(80) < 40, np.arange(80) < 40)
        within, between = products[same & ~np.eye(80, dtype=bool)], products[~same]
        assert np.mean(within[:, None] > between[None, :200]) > 0.8

    def test_a_seed_gives_the_same_bits_on_any_number_of_threads(self, torch):
        kind, threads = create("node2vec", ADAM), torch.get_num_threads()
        once = kind.vectors(planted(), 3)
        assert (once.dtype, once.shape) == (np.float32, (80, 16))
        assert kind.vectors(planted(), 4).tobytes() != once.tobytes()
        try:
            torch.set_num_threads(2 if threads == 1 else 1)
            assert kind.vectors(planted(), 3).tobytes() == once.tobytes()
        finally:
            torch.set_num_threads(threads)

    def test_a_step_of_adam_moves_a_number_by_a_hundredth(self):
        from trueedge.methods.embeddings.models.adam_vectors import AdamVectors

        graph = planted()
        first, moved = (AdamVectors(16, 4, 10, 3, passes=passes).of(graph, 0) for passes in (0, 1))
        assert first.std() == pytest.approx(1.0, abs=0.1)
        # All 80 nodes are one step, and the first step of Adam has the size of the rate.
        assert np.abs(moved - first).max() == pytest.approx(0.01, rel=1e-3)

    @pytest.mark.parametrize("window", [1, 2, 3, 7, 9])
    def test_a_node_meets_those_that_follow_it_in_a_whole_window(self, window):
        from trueedge.methods.embeddings.models.adam_vectors import AdamVectors

        length = 7
        places = AdamVectors(4, 1, length, window)._places()
        found = list(zip(*(place.tolist() for place in places), strict=True))
        size = min(window, length)
        slow = [(start, start + step) for start in range(length - size + 1) for step in range(1, size)]
        assert found == slow

    @pytest.mark.parametrize("edges", [[], [[0, 1]], [[0, 1], [1, 2]]])
    def test_graphs_of_a_few_nodes_get_finite_vectors(self, edges):
        graph = Graph.from_edges(np.array(edges, dtype=np.int64).reshape(-1, 2), 3)
        vectors = create("node2vec", ADAM).vectors(graph, 0)
        assert vectors.shape == (3, 16)
        assert np.isfinite(vectors).all()

    def test_a_node_without_neighbours_stays_where_it_is(self):
        from trueedge.methods.embeddings.models.adam_vectors import AdamVectors

        graph = Graph.from_edges(np.array([[0, 1]]), 3)
        starts = np.array([2, 0], dtype=np.int32)
        assert AdamVectors(4, 1, 4, 2)._walks(graph, starts, 1, 0).tolist() == [[2] * 4, [0, 1, 0, 1]]

    @pytest.mark.parametrize("protocol", ["existing", "heart"])
    def test_published_runs_on_ogb_use_it_and_others_do_not(self, protocol):
        def filled(dataset):
            return create("node2vec").for_task(SimpleNamespace(protocol=protocol, dataset=dataset))

        ogb = filled("ogbl-ddi")
        assert (ogb.trainer, ogb.noise, ogb.passes, ogb.walk_length, ogb.window) == ("adam", 1, 2, 40, 20)
        assert (filled("citeseer").trainer, filled("citeseer").noise) == ("word2vec", 5)
