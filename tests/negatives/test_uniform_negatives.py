from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import Case, cases, check_shared, complete_but, fingerprint, keys, numbered_case
from scipy import stats

import trueedge as te
from trueedge import InputError
from trueedge.graph import Graph
from trueedge.negatives import uniform


@settings(max_examples=700, deadline=None)
@given(cases(), st.sampled_from([0, 0.5, 1, 2, 10]), st.integers(0, 2**63))
def test_negatives_are_distinct_and_never_known(case: Case, ratio: float, seed: int) -> None:
    count = round(ratio * len(case.positives))
    if count > len(case.free):
        with pytest.raises(InputError, match=f"{count} negatives.*only {len(case.free)} pairs"):
            uniform(case.graph, case.positives, ratio, case.known, seed)
        return
    negatives = uniform(case.graph, case.positives, ratio, case.known, seed)
    check_shared(negatives, case, count)
    assert (negatives == uniform(case.graph, case.positives, ratio, case.known, seed)).all()


def test_every_set_of_free_pairs_is_equally_likely(thorough: bool) -> None:
    graph = Graph.from_edges(np.array([(0, 1), (1, 2), (3, 4)]), 5)
    case = Case(graph, np.array([(0, 2), (2, 3)]), np.array([(4, 0)]))
    place = {frozenset(both): i for i, both in enumerate(itertools.combinations(case.free, 2))}
    counts = np.zeros(len(place))
    for seed in range(1500 if thorough else 500):
        counts[place[frozenset(keys(uniform(graph, case.positives, known=case.known, seed=seed)))]] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_every_free_pair_is_equally_likely_first() -> None:
    case = numbered_case()
    place = {pair: i for i, pair in enumerate(case.free)}
    counts = np.zeros(len(place))
    for seed in range(300):
        for u, v in uniform(case.graph, case.positives, 1, case.known, seed).tolist():
            counts[place[u, v]] += 1
    assert stats.chisquare(counts).pvalue > 0.001


def test_the_one_free_pair_of_a_dense_graph_is_found() -> None:
    graph = complete_but(300, (17, 205))
    assert uniform(graph, graph.edges[:1]).tolist() == [[17, 205]]
    with pytest.raises(InputError, match="2 negatives are asked for, but dense has only 1 pairs"):
        uniform(graph, graph.edges[:2])


def test_all_free_pairs_can_be_asked_for() -> None:
    case = numbered_case()
    ratio = len(case.free) / len(case.positives)
    assert keys(uniform(case.graph, case.positives, ratio, case.known)) == set(case.free)


def test_large_sparse_graphs_are_no_trouble() -> None:
    graph = Graph.from_edges(np.array([(0, 1), (5, 1_999_999)]), 2_000_000)
    negatives = uniform(graph, graph.edges, ratio=500)
    check_shared(negatives, Case(graph, graph.edges, graph.edges), 1000)
    assert stats.kstest(negatives.max(axis=1) / 2e6, lambda x: x**2).pvalue > 0.001


def test_direction_gives_nothing_away() -> None:
    case = numbered_case()
    ascending = uniform(case.graph, case.positives, 4, case.known)
    assert (ascending[:, 0] < ascending[:, 1]).all()
    descending = uniform(case.graph, case.positives[:, ::-1], 4, case.known)
    assert (descending[:, 0] > descending[:, 1]).all()
    half = case.positives.copy()
    half[::2] = half[::2, ::-1]
    mixed = uniform(case.graph, half, 4, case.known)
    share = np.mean(half[:, 0] > half[:, 1])
    assert stats.binomtest(int((mixed[:, 0] > mixed[:, 1]).sum()), len(mixed), share).pvalue > 0.001


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_no_positives_have_no_negatives(nodes: int) -> None:
    assert uniform(Graph.from_edges([], nodes), []).shape == (0, 2)


def test_a_part_of_a_negative_is_rounded() -> None:
    case = numbered_case()
    assert len(uniform(case.graph, case.positives[:3], ratio=0.5)) == 2
    assert len(uniform(case.graph, case.positives[:3], ratio=0.1)) == 0


def test_seeds_differ_and_one_never_changes() -> None:
    case = numbered_case()
    drawn = {fingerprint(uniform(case.graph, case.positives, 1, case.known, seed)) for seed in range(10)}
    assert len(drawn) == 10
    assert fingerprint(uniform(case.graph, case.positives, 2, case.known, seed=11)) == PINNED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratio": -1}, "uniform: ratio must be a number, 0 or more, got -1"),
        ({"ratio": float("nan")}, "ratio must be"),
        ({"ratio": float("inf")}, "ratio must be"),
        ({"ratio": "two"}, "ratio must be"),
        ({"positives": [(0, 60)]}, r"positives: row 0 has the node id 60, outside 0\.\.59"),
        ({"positives": [(0, 1), (4, 4)]}, "positives: row 1 joins the node 4 to itself"),
        ({"positives": [0, 1]}, r"positives must be an array of shape \(n, 2\)"),
        ({"known": [(0, -1)]}, "known: row 0 has the node id -1"),
        ({"seed": 0.5}, "seed must be"),
    ],
)
def test_wrong_input_is_named(options: dict[str, object], message: str) -> None:
    case = numbered_case()
    with pytest.raises(InputError, match=message):
        uniform(**{"graph": case.graph, "positives": case.positives, **options})  # type: ignore[arg-type]


def test_a_known_pair_of_a_node_with_itself_says_nothing() -> None:
    graph = complete_but(4, (0, 1))
    assert te.negatives.uniform(graph, graph.edges[:1], known=[(2, 2), (0, 0)]).tolist() == [[0, 1]]


PINNED = "b7854ef5b1ddb00d54d77b0cc3cb9c5735c647e4e65774ff7fa671a56e559216"
