"""The kernel behind the HeaRT negatives against its plain twin, on graphs small enough for plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import candidates, ranked_by_paper, ranked_by_release, score_lists
from trueedge.kernels.arrays.grouping import group_by
from trueedge.kernels.negatives.hard_candidates import corrupted_ends, heart_scratches
from trueedge.negatives.heart import checked, heart, problem_of

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

EPS, ALPHA = 1e-4, 0.15


def expected_of(graph, a, b, half, heuristics, ties, known=()):
    among = candidates(graph, a, b, known)
    lists = score_lists(graph, a, heuristics, ALPHA, EPS)
    if ties == "paper":
        return [v for _, _, v in ranked_by_paper(lists, among, graph.num_nodes)][:half], among
    order, scored = ranked_by_release(lists, among)
    has_score = set().union(*lists)
    return [v for _, v in order if scored >= half or v in has_score][:half], among


@pytest.mark.parametrize("ties", ["paper", "released"])
@pytest.mark.parametrize("heuristics", [("ra",), ("ppr", "cn"), ("ra", "ppr", "features")])
@pytest.mark.parametrize(("edges", "half"), [(12, 6), (40, 3), (40, 9), (90, 5)])
def test_the_kernel_equals_its_plain_twin(random_graph, ties, heuristics, edges, half):
    graph = random_graph(edges + half, nodes=24, edges=edges, features=4)
    positives = np.array([[0, 1], [1, 2], [0, 3], [5, 0], [7, 8], [3, 0]])
    negatives = heart(graph, positives, k=2 * half, heuristics=heuristics, eps=EPS, alpha=ALPHA, ties=ties)
    for (u, v), rows in zip(positives.tolist(), negatives, strict=True):
        for a, b, corrupted in ((u, v, rows[:half, 1].tolist()), (v, u, rows[half:, 0].tolist())):
            expected, among = expected_of(graph, a, b, half, heuristics, ties)
            assert corrupted[: len(expected)] == expected
            assert len(set(corrupted)) == half
            assert set(corrupted) <= set(among)


@pytest.mark.parametrize("keep_known", [False, True])
def test_stretches_of_end_nodes_hold_the_corrupted_ends_of_the_whole(random_graph, keep_known):
    graph = random_graph(8, nodes=24, edges=50)
    positives = np.array([[0, 1], [1, 2], [0, 3], [5, 0], [7, 8], [3, 0], [9, 1]])
    known = [[0, 4], [4, 0], [0, 5], [1, 9], [1, 23]]
    asked = checked(graph, positives, 8, ("ra", "ppr"), known, keep_known, ALPHA, EPS, "paper", 0)
    negatives = heart(graph, positives, k=8, known=known, keep_known=keep_known, alpha=ALPHA, eps=EPS)
    problem, ends = problem_of(asked), group_by(positives.ravel(), graph.num_nodes)
    scratches = heart_scratches(problem, EPS)
    for first, last in [(0, 3), (3, 4), (4, 4), (4, len(ends.keys))]:
        rows = corrupted_ends(problem, ends, positives, first, last, scratches)
        places = ends.order[ends.starts[first] : ends.starts[last]]
        assert len(rows) == len(places)
        for row, place in zip(rows, places, strict=True):
            i, side = divmod(int(place), 2)
            assert (row == negatives[i, 4 * side : 4 * side + 4, 1 - side]).all()


def test_scratch_is_given_back_as_it_came(random_graph):
    graph = random_graph(8, nodes=24, edges=50, features=4)
    positives = np.array([[0, 1], [1, 2], [0, 3], [5, 0]])
    everything = ("ra", "cn", "ppr", "features")
    for known in ([], [[0, 4], [0, 2]]):
        asked = checked(graph, positives, 8, everything, known, False, ALPHA, EPS, "paper", 0)
        problem, ends = problem_of(asked), group_by(positives.ravel(), graph.num_nodes)
        scratches = heart_scratches(problem, EPS)
        scratch = scratches.take()
        residual = scratch.push.residual.copy()
        scratches.give(scratch)
        corrupted_ends(problem, ends, positives, 0, len(ends.keys), scratches)
        assert not scratch.rows.any()
        assert not scratch.walk.taken.any()
        assert (scratch.push.residual == residual).all()
        once = corrupted_ends(problem, ends, positives, 0, len(ends.keys), scratches)
        assert (once == corrupted_ends(problem, ends, positives, 0, len(ends.keys), scratches)).all()


def test_the_other_end_leaves_the_ranking_before_ranks_are_given():
    # Around 0, node 3 is first by common neighbours and 4, 5 tie behind it; without 3 they are first.
    graph = tg.Graph.from_edges([[0, 1], [0, 2], [1, 3], [2, 3], [1, 4], [2, 5], [6, 7], [7, 8]])
    around = heart(graph, [[0, 3], [0, 8]], k=6, heuristics=("cn",))
    assert around[0, :2, 1].tolist() == [4, 5]
    assert around[1, :3, 1].tolist() == [3, 4, 5]


def test_a_tie_in_the_combined_rank_goes_by_the_sum_of_ranks_then_by_id():
    # Common neighbours of 0: 3 and 4 tie. By features 4 is nearer, so its sum of ranks is smaller.
    features = [[1, 0], [0, 0], [0, 0], [1, 5], [1, 1], [0, 0], [0, 0]]
    graph = tg.Graph.from_edges([[0, 1], [1, 3], [0, 2], [2, 4]], 7, features)
    assert heart(graph, [[0, 5]], k=2, heuristics=("cn",))[0, 0].tolist() == [0, 3]
    assert heart(graph, [[0, 5]], k=2, heuristics=("cn", "features"))[0, 0].tolist() == [0, 4]
