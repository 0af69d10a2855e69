from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_graphs import Case, cases, complete_but, numbered_case

from trueedge import InputError
from trueedge.graph import Graph
from trueedge.negatives import full


@settings(max_examples=400, deadline=None)
@given(cases(), st.data())
def test_candidates_are_all_nodes_but_the_node_and_those_it_is_joined_to(
    case: Case, data: st.DataObject
) -> None:
    n = case.graph.num_nodes
    nodes = data.draw(st.lists(st.integers(0, n - 1), max_size=8))
    known = np.concatenate([case.known, case.positives])
    answer = full(case.graph, nodes, known)
    assert answer.nodes.tolist() == nodes
    assert (answer.nodes.dtype, answer.indptr.dtype, answer.candidates.dtype) == (
        np.int32,
        np.int64,
        np.int32,
    )
    assert answer.indptr[-1] == len(answer.candidates)
    for row, node in enumerate(nodes):
        assert answer.of(row).tolist() == sorted(set(range(n)) - {node} - case.partners(node))


def test_positives_that_are_not_known_stay_candidates() -> None:
    case = numbered_case()
    u, v = case.positives[0].tolist()
    assert v in full(case.graph, [u]).of(0)
    assert v not in full(case.graph, [u], known=[(v, u)]).of(0)


def test_a_full_graph_leaves_no_candidate() -> None:
    answer = full(complete_but(5, (1, 3)), np.arange(5))
    assert answer.indptr.tolist() == [0, 0, 1, 1, 2, 2]
    assert answer.candidates.tolist() == [3, 1]


def test_blocks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    case = numbered_case()
    whole = full(case.graph, np.arange(60), case.known)
    monkeypatch.setattr(sys.modules["trueedge.negatives.full"], "_BLOCK", 200)
    parts = full(case.graph, np.arange(60), case.known)
    assert whole.candidates.tolist() == parts.candidates.tolist()
    assert whole.indptr.tolist() == parts.indptr.tolist()


def test_nobody_asked_nothing_answered() -> None:
    answer = full(Graph.from_edges([], 1), [])
    assert answer.indptr.tolist() == [0]
    assert len(answer.candidates) == 0
    assert full(Graph.from_edges([], 1), [0]).indptr.tolist() == [0, 0]


@pytest.mark.parametrize("nodes", [[60], [-1], [[0, 1]], [0.5], ["a"]])
def test_wrong_nodes_are_named(nodes: object) -> None:
    with pytest.raises(InputError, match="nodes"):
        full(numbered_case().graph, nodes)  # type: ignore[arg-type]
