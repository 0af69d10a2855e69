"""The kernel behind the HeaRT negatives against its plain twin, on graphs small enough for plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import trueedge.graph as tg
from heart_twin import candidates, ranked_by_paper, ranked_by_release, score_lists
from trueedge.negatives.heart import heart

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
