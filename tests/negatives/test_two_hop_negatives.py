from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import Case, cases, fingerprint, numbered_case
from scipy import stats

from trueedge import InputError
from trueedge.graph import Graph
from trueedge.negatives import two_hop


def two_steps_away(case: Case, head: int) -> set[int]:
    graph = case.graph
    reached = {int(far) for near in graph.neighbors(head) for far in graph.neighbors(int(near))}
    return reached - {head} - case.partners(head)


@settings(max_examples=500, deadline=None)
@given(cases(), st.integers(0, 2**63))
def test_each_head_gets_as_many_as_it_has_positives_or_all_there_are(case: Case, seed: int) -> None:
    negatives = two_hop(case.graph, case.positives, case.known, seed)
    assert negatives.dtype == np.int32
    wanted = Counter(case.positives[:, 0].tolist())
    expected = {head: min(count, len(two_steps_away(case, head))) for head, count in wanted.items()}
    assert Counter(negatives[:, 0].tolist()) == +Counter(expected)
    assert len({tuple(pair) for pair in negatives.tolist()}) == len(negatives) <= len(case.positives)
    for head, tail in negatives.tolist():
        assert tail in two_steps_away(case, head)
    assert (negatives == two_hop(case.graph, case.positives, case.known, seed)).all()


def test_every_choice_of_tails_is_equally_likely(thorough: bool) -> None:
    star = Graph.from_edges(np.array([(0, i) for i in range(1, 7)] + [(6, 7)]), 9)
    place = {both: i for i, both in enumerate(itertools.permutations([2, 3, 5, 6], 2))}
    counts = np.zeros(len(place))
    for seed in range(1200 if thorough else 400):
        drawn = two_hop(star, [(1, 7), (1, 8)], known=[(4, 1)], seed=seed)
        counts[place[int(drawn[0, 1]), int(drawn[1, 1])]] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_heads_come_in_the_order_of_their_first_positive() -> None:
    star = Graph.from_edges(np.array([(0, i) for i in range(1, 7)]), 9)
    drawn = two_hop(star, [(5, 7), (2, 7), (5, 8), (0, 7), (7, 8)])
    assert drawn[:, 0].tolist() == [5, 5, 2]


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    case = numbered_case()
    monkeypatch.setattr(sys.modules["trueedge.negatives.two_hop"], "_BLOCK", 20)
    negatives = two_hop(case.graph, case.positives, case.known)
    assert all(tail in two_steps_away(case, head) for head, tail in negatives.tolist())
    wanted = Counter(case.positives[:, 0].tolist())
    expected = {head: min(count, len(two_steps_away(case, head))) for head, count in wanted.items()}
    assert Counter(negatives[:, 0].tolist()) == +Counter(expected)


def test_no_positives_have_no_negatives() -> None:
    assert two_hop(Graph.from_edges([], 1), []).shape == (0, 2)
    assert two_hop(Graph.from_edges([], 4), [(0, 1), (2, 1)]).shape == (0, 2)


def test_seeds_differ_and_one_never_changes() -> None:
    case = numbered_case()
    drawn = {fingerprint(two_hop(case.graph, case.positives, case.known, seed)) for seed in range(10)}
    assert len(drawn) == 10
    assert fingerprint(two_hop(case.graph, case.positives, case.known, 11)) == PINNED


def test_wrong_input_is_named() -> None:
    case = numbered_case()
    with pytest.raises(InputError, match="positives: row 1 joins the node 3 to itself"):
        two_hop(case.graph, [(0, 1), (3, 3)])
    with pytest.raises(InputError, match="known: row 0 has the node id 99"):
        two_hop(case.graph, case.positives, known=[(0, 99)])


PINNED = "ee1510e02f0082a3a627c10e49458c58c93add1c0b9db27c1384826f31c5f912"
