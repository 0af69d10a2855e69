"""Splits by time against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest
import split_checks
from hypothesis import given
from hypothesis import strategies as st

from trueedge.errors import InputError
from trueedge.graph import Graph
from trueedge.splits import by_time

FEW_EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]


def timed(edges: list[tuple[int, int]], times: list[float]) -> Graph:
    return Graph.from_edges(np.array(edges), edge_data={"time": np.array(times)}, name="mail")


def time_of(graph: Graph) -> dict[tuple[int, int], float]:
    pairs = map(tuple, graph.edges.tolist())
    return dict(zip(pairs, graph.edge_data["time"].tolist(), strict=True))


@st.composite
def timed_graphs(draw: st.DrawFn) -> Graph:
    nodes = draw(st.integers(4, 12))
    pairs = [(u, v) for u in range(nodes) for v in range(u + 1, nodes)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=4, max_size=20, unique=True))
    times = [draw(st.integers(-3, 6)) for _ in chosen]
    return Graph.from_edges(np.array(chosen), nodes, edge_data={"time": np.array(times)})


@given(
    timed_graphs(),
    st.sampled_from([(0.5, 0.25, 0.25), (0.75, 0.0, 0.25), (0.0, 0.5, 0.5)]),
    st.integers(0, 9),
)
def test_shares_hold_out_the_latest_edges(
    graph: Graph, ratios: tuple[float, float, float], seed: int
) -> None:
    split = by_time(graph, ratios, seed)
    split_checks.check(split, graph)
    when = time_of(graph)
    # The twin: all times in order, cut at the counts.
    times = sorted(when.values())
    num_valid, num_test = int(ratios[1] * len(times)), int(ratios[2] * len(times))
    begins = len(times) - num_valid - num_test
    parts = [split.train.edges, split.valid, split.test]
    found = [sorted(when[tuple(pair)] for pair in part.tolist()) for part in parts]
    assert found == [times[:begins], times[begins : len(times) - num_test], times[len(times) - num_test :]]
    assert [when[tuple(pair)] for pair in split.test.tolist()] == found[2]


@given(timed_graphs(), st.integers(-4, 7), st.integers(0, 4))
def test_a_cut_divides_at_a_time(graph: Graph, valid_from: int, longer: int) -> None:
    test_from = valid_from + longer
    when = time_of(graph)
    twin = {
        "train": {pair for pair, time in when.items() if time < valid_from},
        "valid": {pair for pair, time in when.items() if valid_from <= time < test_from},
        "test": {pair for pair, time in when.items() if time >= test_from},
    }
    if not twin["train"] or not twin["test"]:
        with pytest.raises(InputError, match="nothing to"):
            by_time(graph, cut=(valid_from, test_from))
        return
    split = by_time(graph, cut=(valid_from, test_from))
    parts = {"train": split.train.edges, "valid": split.valid, "test": split.test}
    assert {name: set(map(tuple, part.tolist())) for name, part in parts.items()} == twin
    for part, degree in ((name, split.train.degrees) for name in ("valid", "test")):
        new = [pair for pair in twin[part] if degree[list(pair)].min() == 0]
        said = [note for note in split.notes if f" {part} edges have a node" in note]
        assert len(said) == bool(new)
        assert not new or said[0].startswith(f"{len(new)} of {len(twin[part])} ")


def test_training_keeps_its_times_and_unseen_nodes_are_counted() -> None:
    graph = timed(FEW_EDGES, [1.0, 2.0, 3.0, 4.0, 5.0])
    split = by_time(graph, (0.6, 0.2, 0.2))
    assert split.train.edge_data["time"].tolist() == [1.0, 2.0, 3.0]
    assert split.name == "time 60/20/20"
    assert split.valid.tolist() == [[3, 4]]
    assert split.test.tolist() == [[0, 4]]
    assert split.notes == (
        "1 of 1 valid edges have a node without a training edge: 1 node has none",
        "1 of 1 test edges have a node without a training edge: 1 node has none",
    )


def test_a_date_is_seconds_since_1970() -> None:
    day = 24 * 60 * 60
    graph = timed(FEW_EDGES, [0, day, 2 * day, 365 * day, 366 * day])
    split = by_time(graph, cut="1970-01-03,1971-01-02")
    assert split.valid.tolist() == [[2, 3], [3, 4]]
    assert split.test.tolist() == [[0, 4]]
    assert split.name == "time, valid from 1970-01-03, test from 1971-01-02"
    assert by_time(graph, cut="1971-01-01").test.tolist() == [[3, 4], [0, 4]]


def test_equal_times_at_a_cut_are_divided_by_the_seed_and_said() -> None:
    edges = [(u, v) for u in range(8) for v in range(u + 1, 8)]
    graph = timed(edges, [7] * len(edges))
    parts = {by_time(graph, seed=seed).test.tobytes() for seed in range(8)}
    assert len(parts) > 1
    assert by_time(graph, seed=3).hash == by_time(graph, seed=3).hash
    assert "28 edges share the time of a cut" in by_time(graph).notes[0]


@pytest.mark.parametrize(
    ("cut", "reason"),
    [
        ("soon", "a number or a date"),
        ((1, 2, 3), "one time, or the times"),
        ((3, 2), "after test begins"),
        (float("nan"), "a number or a date"),
        (9, "the last one is at 5"),
        (-1, "the first one is at 1"),
    ],
)
def test_a_wrong_cut_is_refused(cut: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        by_time(timed(FEW_EDGES, [1, 2, 3, 4, 5]), cut=cut)


def test_a_graph_without_times_is_refused() -> None:
    with pytest.raises(InputError, match="have no times: use split=random, or name the column with --time"):
        by_time(Graph.from_edges(np.array(FEW_EDGES)))
