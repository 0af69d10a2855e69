"""What every method in the catalogue must be, and what every heuristic must do."""

from __future__ import annotations

import dataclasses
import inspect
import re
from types import SimpleNamespace

import numpy as np
import pytest

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.methods import catalogue, create, get
from trueedge.methods.heuristics.heuristic import Heuristic, HeuristicScorer

METHODS = {kind.name: kind for kind in catalogue()}
HEURISTICS = {name: kind for name, kind in METHODS.items() if issubclass(kind, Heuristic)}

# How far a score may move when nodes are renamed: a push stops elsewhere; nothing else may move.
RENAMING = {"ppr": 1e-2}


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


@pytest.fixture(params=sorted(METHODS))
def method(request):
    return METHODS[request.param]


@pytest.fixture(params=sorted(HEURISTICS))
def heuristic(request):
    return HEURISTICS[request.param]()


@pytest.fixture(params=[(1, 40, 50), (2, 40, 150), (3, 12, 0), (4, 1, 0), (5, 2, 1)], ids=str)
def graph(request, random_graph):
    seed, nodes, edges = request.param
    return random_graph(seed, nodes=nodes, edges=edges, features=6)


def test_the_ten_are_in_the_catalogue():
    ten = {"cn", "aa", "ra", "jaccard", "pa", "shortest-path", "katz", "lrw", "lpi", "cosine"}
    assert ten <= set(HEURISTICS)
    assert all(kind.family == "heuristics" for kind in HEURISTICS.values())


def test_every_method_says_what_it_is_and_where_it_comes_from(method):
    assert re.fullmatch(r"[a-z0-9]+([-+][a-z0-9]+)*", method.name)
    assert method.title
    assert method.family
    assert re.fullmatch(r".+, .+, (1[89]|20)\d\d", method.citation), method.citation
    assert inspect.getdoc(method)
    assert get(method.name) is method


def test_every_setting_has_a_range_that_admits_its_default_and_a_line_of_help(method):
    assert set(method.space()) == {field.name for field in dataclasses.fields(method)}
    for key, limits in method.space().items():
        assert limits.help
        assert limits.admits(getattr(method(), key))
        assert all(limits.admits(value) for value in limits.search)


def test_a_method_is_frozen_and_equal_settings_make_equal_methods(method):
    assert method() == create(method.name) == method(**method().settings())
    for key in method.space():
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(method(), key, 1)


def test_a_setting_nobody_knows_is_named(method):
    with pytest.raises(InputError, match="no_such_setting"):
        create(method.name, {"no_such_setting": 1})


def test_every_number_out_of_its_range_is_refused(method):
    for key, limits in method.space().items():
        wrong = [float("nan")]
        if limits.low is not None:
            wrong.append(limits.low - 1)
        if limits.high is not None:
            wrong.append(limits.high + 1)
        for value in wrong:
            with pytest.raises(InputError, match=key):
                create(method.name, {key: value})


def test_scores_are_finite_float64_in_the_shape_of_the_pairs(heuristic, graph):
    pairs = all_pairs(graph.num_nodes)
    scores = heuristic.score(graph, pairs)
    assert scores.dtype == np.float64
    assert scores.shape == (len(pairs),)
    assert np.isfinite(scores).all()


def test_no_pair_gives_no_score(heuristic, graph):
    assert heuristic.score(graph, []).shape == (0,)
    assert heuristic.score(graph, np.empty((0, 2), dtype=np.int32)).shape == (0,)


def test_both_directions_get_the_same_bits(heuristic, graph):
    pairs = all_pairs(graph.num_nodes)
    scores = heuristic.score(graph, pairs)
    assert heuristic.score(graph, pairs[:, ::-1]).tobytes() == scores.tobytes()


def test_scores_come_in_the_order_of_the_pairs(heuristic, graph):
    pairs = all_pairs(graph.num_nodes)
    order = np.random.default_rng(0).permutation(len(pairs))
    scores = heuristic.score(graph, pairs)
    assert heuristic.score(graph, pairs[order]).tobytes() == scores[order].tobytes()


def test_a_pair_alone_and_repeated_gets_the_bits_it_gets_in_a_crowd(heuristic, graph):
    pairs = all_pairs(graph.num_nodes)
    scores = heuristic.score(graph, pairs)
    for i in np.random.default_rng(1).integers(0, len(pairs), 25):
        assert heuristic.score(graph, pairs[i : i + 1])[0] == scores[i]
        assert (heuristic.score(graph, pairs[[i, i, i]]) == scores[i]).all()


def test_renaming_the_nodes_renames_the_scores(heuristic, graph):
    rename = np.random.default_rng(2).permutation(graph.num_nodes)
    features = np.empty_like(graph.features)
    features[rename] = graph.features
    renamed = Graph.from_edges(rename[graph.edges], graph.num_nodes, features)
    pairs = all_pairs(graph.num_nodes)
    before, after = heuristic.score(graph, pairs), heuristic.score(renamed, rename[pairs])
    np.testing.assert_allclose(after, before, rtol=RENAMING.get(heuristic.name, 0), atol=0)


def test_an_isolated_node_is_tied_to_nothing_by_structure(heuristic, random_graph):
    if heuristic.needs_features:
        pytest.skip("reads no edge")
    graph = random_graph(6, nodes=20, edges=40)
    lonely = Graph.from_edges(graph.edges, 22)
    pairs = np.array([[20, 3], [7, 21], [20, 21]])
    assert heuristic.score(lonely, pairs).tolist() == [0.0, 0.0, 0.0]


def test_the_scorer_scores_as_the_method_does_and_can_change_its_graph(heuristic, random_graph):
    first, second = (random_graph(seed, nodes=15, edges=30, features=4) for seed in (1, 2))
    pairs = all_pairs(15)
    scorer = HeuristicScorer(heuristic, first)
    assert scorer.score(pairs).tobytes() == heuristic.score(first, pairs).tobytes()
    assert scorer.with_graph(second).score(pairs).tobytes() == heuristic.score(second, pairs).tobytes()


def test_a_pair_outside_the_graph_is_named(heuristic, random_graph):
    with pytest.raises(InputError, match="row 1 has the node id 15"):
        heuristic.score(random_graph(1, nodes=15, edges=30, features=4), [[0, 1], [2, 15]])


@pytest.mark.parametrize("dataset", ["cora", "ogbl-ddi", "polbooks"])
@pytest.mark.parametrize("protocol", ["existing", "heart", "uniform"])
def test_a_pairwise_method_hides_its_positives_wherever_nobody_asked_otherwise(protocol, dataset):
    task = SimpleNamespace(protocol=protocol, dataset=dataset)
    pairwise = [kind for kind in METHODS.values() if kind.family == "pairwise"]
    assert len(pairwise) >= 8
    for kind in pairwise:
        if "hide_positives" in kind.space():
            assert kind().for_task(task).hide_positives is True, kind.name
            assert kind(hide_positives=False).for_task(task).hide_positives is False, kind.name
