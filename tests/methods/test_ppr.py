"""The ppr heuristic against dense PageRank."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import exact_pagerank
from trueedge.methods.heuristics.ppr import PersonalizedPageRank


def all_pairs(nodes: int) -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(nodes), np.arange(nodes)), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("alpha", "eps"), [(0.15, 1e-6), (0.5, 1e-4), (0.05, 1e-9)])
def test_ppr_is_within_its_bound_of_the_exact_score(random_graph, seed, alpha, eps):
    graph = random_graph(seed, nodes=40, edges=30 + 10 * seed)
    pairs = all_pairs(40)
    exact = exact_pagerank(graph, alpha)
    expected = exact[pairs[:, 0], pairs[:, 1]] + exact[pairs[:, 1], pairs[:, 0]]
    score = PersonalizedPageRank(alpha=alpha, eps=eps).score(graph, pairs)
    bound = eps * graph.degrees[pairs].sum(axis=1) + 1e-12
    assert (score <= expected + 1e-12).all()
    assert (expected - score <= bound).all()


def test_ppr_scores_both_directions_the_same_bit_for_bit(random_graph):
    graph = random_graph(3, nodes=60, edges=150)
    pairs = all_pairs(60)
    method = PersonalizedPageRank()
    assert (method.score(graph, pairs) == method.score(graph, pairs[:, ::-1])).all()


def test_a_pairs_ppr_does_not_depend_on_the_other_pairs(random_graph):
    graph = random_graph(4, nodes=50, edges=90)
    pairs = np.random.default_rng(0).integers(0, 50, size=(300, 2))
    method = PersonalizedPageRank()
    together = method.score(graph, pairs)
    shuffled = np.random.default_rng(1).permutation(300)
    assert (method.score(graph, pairs[shuffled]) == together[shuffled]).all()
    assert [float(method.score(graph, pair[None])[0]) for pair in pairs[:20]] == together[:20].tolist()


def test_ppr_of_isolated_nodes_is_zero_but_with_themselves():
    graph = tg.Graph.from_edges([[0, 1]], num_nodes=4)
    scores = PersonalizedPageRank(alpha=0.15).score(graph, [[0, 2], [2, 3], [2, 2], [3, 1]])
    assert scores.tolist() == pytest.approx([0.0, 0.0, 0.3, 0.0])


def test_ppr_of_no_pairs_is_no_score(random_graph):
    assert PersonalizedPageRank().score(random_graph(0), np.empty((0, 2), dtype=int)).shape == (0,)


def test_nodes_the_graph_does_not_tell_apart_tie():
    triangle = tg.Graph.from_edges([(0, 1), (0, 2), (1, 2)])
    assert len(set(PersonalizedPageRank().score(triangle, [(0, 1), (0, 2), (1, 2)]).tolist())) == 1
