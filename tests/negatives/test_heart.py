"""What the HeaRT negatives promise, and what they refuse."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import candidates, ranked_by_paper, score_lists
from trueedge.errors import InputError
from trueedge.negatives.heart import heart


def some_pairs(nodes: int, count: int, seed: int = 0) -> np.ndarray:
    pairs = np.random.default_rng(seed).integers(0, nodes, size=(3 * count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]][:count]


def test_heart_is_the_same_on_one_thread_and_on_two(random_graph):
    graph = random_graph(1, nodes=400, edges=900, features=5)
    positives = some_pairs(400, 150)
    threads = numba.get_num_threads()
    results = []
    for count in (1, min(2, threads)):
        numba.set_num_threads(count)
        try:
            results.append(heart(graph, positives, k=60, heuristics=("ra", "ppr", "features", "cn")))
        finally:
            numba.set_num_threads(threads)
    assert (results[0] == results[1]).all()


def test_the_first_half_keeps_the_source_and_the_rest_the_target(random_graph):
    graph = random_graph(2, nodes=80, edges=200)
    positives = some_pairs(80, 20)
    negatives = heart(graph, positives, k=10)
    assert negatives.shape == (20, 10, 2)
    assert negatives.dtype == np.int32
    assert (negatives[:, :5, 0] == positives[:, :1]).all()
    assert (negatives[:, 5:, 1] == positives[:, 1:]).all()


def test_a_reversed_positive_gets_the_same_negatives_reversed(random_graph):
    graph = random_graph(3, nodes=90, edges=60)
    positives = some_pairs(90, 15)
    forth = heart(graph, positives, k=20, heuristics=("ra",))
    back = heart(graph, positives[:, ::-1], k=20, heuristics=("ra",))
    assert (back[:, :10, ::-1] == forth[:, 10:]).all()
    assert (back[:, 10:, ::-1] == forth[:, :10]).all()


def test_the_seed_changes_only_what_is_drawn():
    graph = tg.Graph.from_edges([[0, 1], [1, 2], [1, 3]], num_nodes=200)
    first, second = (heart(graph, [[0, 4]], k=20, seed=seed) for seed in (0, 1))
    assert first[0, :2, 1].tolist() == second[0, :2, 1].tolist() == [2, 3]
    assert set(first[0, 2:10, 1].tolist()) != set(second[0, 2:10, 1].tolist())
    assert (heart(graph, [[0, 4]], k=20, seed=1) == second).all()


def test_what_is_drawn_is_uniform_over_the_unranked_candidates(thorough):
    graph = tg.Graph.from_edges([[0, 1], [1, 2]], num_nodes=12)
    counts = np.zeros(12)
    draws = 1500 if thorough else 400
    for seed in range(draws):
        drawn = heart(graph, [[0, 5]], k=6, heuristics=("ra",), seed=seed)[0, :3, 1]
        assert drawn[0] == 2
        counts[drawn[1:]] += 1
    free = [3, 4, 6, 7, 8, 9, 10, 11]
    assert counts.sum() == counts[free].sum() == 2 * draws
    expected = 2 * draws / len(free)
    assert (np.abs(counts[free] - expected) < 5 * np.sqrt(expected)).all()


def test_known_pairs_are_left_out_in_both_directions_unless_kept():
    graph = tg.Graph.from_edges([[0, 1], [1, 2], [1, 3], [1, 4]], num_nodes=9)
    known = [[0, 2], [3, 0]]
    around = heart(graph, [[0, 8]], k=4, heuristics=("cn",), known=known)[0, :2, 1].tolist()
    assert around[0] == 4
    assert around[1] in (5, 6, 7)
    assert set(heart(graph, [[0, 8]], k=6, heuristics=("cn",), known=known, keep_known=True)[0, :3, 1]) == {
        2,
        3,
        4,
    }


def test_keep_known_lets_neighbours_be_negatives_but_never_the_positive():
    graph = tg.Graph.from_edges([[0, 1], [1, 2], [0, 2], [0, 3]], num_nodes=4)
    negatives = heart(graph, [[0, 1]], k=4, keep_known=True)
    assert sorted(negatives[0, :2, 1].tolist()) == [2, 3]
    assert sorted(negatives[0, 2:, 0].tolist()) == [2, 3]


def test_a_positive_that_is_a_known_edge_is_served_as_well(random_graph):
    graph = random_graph(5, nodes=60, edges=120)
    positives = graph.edges[:10]
    for (u, v), rows in zip(positives.tolist(), heart(graph, positives, k=8), strict=True):
        assert not graph.has_edges(rows).any()
        assert [u, v] not in rows.tolist()


def test_equal_scores_tie_whatever_the_ids():
    rng = np.random.default_rng(0)
    for seed in range(15):
        pairs = rng.integers(0, 40, size=(160, 2))
        names = rng.permutation(40)
        graph = tg.Graph.from_edges(pairs, 40, self_loops="drop", repeats="drop")
        renamed = tg.Graph.from_edges(names[pairs], 40, self_loops="drop", repeats="drop")
        positives = some_pairs(40, 8, seed)
        back = np.argsort(names)[heart(renamed, names[positives], k=8, heuristics=("ra", "cn"))]
        for (u, v), one, other in zip(
            positives.tolist(), heart(graph, positives, k=8, heuristics=("ra", "cn")), back, strict=True
        ):
            for a, b, here, there in ((u, v, one[:4, 1], other[:4, 1]), (v, u, one[4:, 0], other[4:, 0])):
                ranked = ranked_by_paper(
                    score_lists(graph, a, ("ra", "cn"), 0.15, 1e-5), candidates(graph, a, b), 40
                )
                key = {node: (combined, total) for combined, total, node in ranked}
                assert sorted(key[x] for x in here.tolist()) == sorted(key[x] for x in there.tolist())


def test_progress_is_told_in_end_nodes(random_graph):
    graph = random_graph(6, nodes=100, edges=200)
    told = []
    heart(graph, some_pairs(100, 60), k=4, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(np.unique(some_pairs(100, 60))),) * 2
    assert len(told) > 1


def test_no_positive_is_no_negative(random_graph):
    assert heart(random_graph(0), np.empty((0, 2), dtype=int), k=6).shape == (0, 6, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 3}, "k must be an even number"),
        ({"k": 0}, "k must be an even number"),
        ({"k": True}, "k must be an even number"),
        ({"heuristics": ()}, "heuristics must be a list"),
        ({"heuristics": "ra"}, "heuristics must be a list"),
        ({"heuristics": ("ra", "pagerank")}, "no heuristic of heart is called 'pagerank'"),
        ({"heuristics": ("ra", "ra")}, "names that differ"),
        ({"heuristics": ("features",)}, "needs node features, and random-0 has none"),
        ({"ties": "relaesed"}, "did you mean 'released'"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"alpha": 1.0}, "alpha must be"),
        ({"alpha": float("nan")}, "alpha must be"),
        ({"alpha": "0.15"}, "alpha must be"),
        ({"eps": "1e-5"}, "eps must be"),
        ({"heuristics": None}, "heuristics must be a list"),
        ({"keep_known": "no"}, "keep_known must be True or False, got 'no'"),
        ({"eps": 0.0}, "eps must be"),
        ({"eps": float("nan")}, "eps must be"),
        ({"eps": 1e-20}, "eps must be"),
        ({"seed": -1}, "seed must be"),
        ({"known": [[0, 99]]}, "known: row 0 has the node id 99"),
    ],
)
def test_wrong_settings_are_named(random_graph, options, message):
    with pytest.raises(InputError, match=message):
        heart(random_graph(0), [[0, 1]], **{"k": 4, **options})


@pytest.mark.parametrize("wrong", ["karate", None, [(0, 1)]], ids=str)
def test_heart_needs_a_graph(wrong):
    with pytest.raises(InputError, match=r"^heart: graph must be a trueedge.Graph, got "):
        heart(wrong, [[0, 1]])


@pytest.mark.parametrize(
    ("positives", "message"),
    [
        ([[0, 1], [2, 2]], "positives: row 1 pairs node 2 with itself"),
        ([[0, 30]], "positives: row 0 has the node id 30"),
        ([[0, 1, 2]], r"shape \(n, 2\)"),
    ],
)
def test_wrong_positives_are_named(random_graph, positives, message):
    with pytest.raises(InputError, match=message):
        heart(random_graph(0), positives, k=4)


def test_a_node_with_too_few_candidates_is_named_with_both_numbers():
    star = tg.Graph.from_edges([[0, i] for i in range(1, 8)], num_nodes=10)
    with pytest.raises(
        InputError, match=r"k is 6, but node 0 has only 1 candidates for its 3 .* largest possible k is 2"
    ):
        heart(star, [[1, 2], [0, 8]], k=6)
    assert heart(star, [[0, 8]], k=2)[0, 0].tolist() == [0, 9]
    assert heart(star, [[0, 1]], k=4)[0, :2, 1].tolist() in ([8, 9], [9, 8])
