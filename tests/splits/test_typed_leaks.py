"""Splits of typed links: what ``fit`` sees tells nothing about test links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph, Labels
from trueedge.splits.typed import TypedData, split_labels, split_links
from trueedge.tasks.typed_links import TypedLinkTask


def pairs_of(rows: np.ndarray) -> set[tuple[int, int]]:
    """Return the two ends of each row."""
    return {(int(row[0]), int(row[-1])) for row in rows}


def reversed_pairs(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return pairs in the other direction."""
    return {(target, source) for source, target in pairs}


def ring(size: int = 30) -> HeteroGraph:
    """Return friends whose links are listed in both directions, and a self-loop of each."""
    links = [(one, (one + step) % size) for one in range(size) for step in (0, 1, 2, 3, -1, -2, -3)]
    return HeteroGraph.from_tables({"user": size}, {("user", "friend", "user"): links})


def link_task(graph: HeteroGraph, **options: object) -> TypedLinkTask:
    """Return a task of typed links."""
    task = te.task(graph, "typed-links", **options)
    assert isinstance(task, TypedLinkTask)
    return task


@pytest.mark.parametrize("seed", range(3))
def test_no_validation_or_training_link_is_a_test_link_in_reverse(seed: int) -> None:
    task = link_task(ring(), seed=seed)
    test = pairs_of(task.positives["test"])
    seen = pairs_of(task.positives["valid"]) | pairs_of(task.graph.edges[0])
    assert not seen & (test | reversed_pairs(test))


def test_of_two_relations_that_mirror_each_other_neither_shows_the_test_links_of_the_other() -> None:
    forth = [(one, (3 * one + step) % 20) for one in range(20) for step in range(6)]
    edges = {("user", "buys", "item"): forth, ("item", "bought", "user"): [(b, a) for a, b in forth]}
    graph = HeteroGraph.from_tables({"user": 20, "item": 20}, edges)
    task = link_task(graph, relation="buys,bought")
    test, valid = (
        {number: pairs_of(rows[rows[:, 1] == number]) for number in (0, 1)}
        for rows in (task.positives["test"], task.positives["valid"])
    )
    for number, other in ((0, 1), (1, 0)):
        seen = valid[number] | pairs_of(task.graph.edges[number])
        assert not seen & reversed_pairs(test[other])
        rows = task.negatives["test"]
        assert not pairs_of(rows[rows[:, 1] == number]) & pairs_of(graph.edges[number])


def test_no_self_loop_is_asked_for() -> None:
    task = link_task(ring(), negatives="random")
    for rows in task.positives.values():
        assert (rows[:, 0] != rows[:, 2]).all()


def test_a_published_test_link_that_is_also_an_edge_is_not_drawn_for_validation() -> None:
    graph = HeteroGraph.from_tables(
        {"a": 20, "b": 20},
        {("a", "r", "b"): [(one, (one + step) % 20) for one in range(20) for step in (0, 1, 2)]},
    )
    test = graph.edges[0][::6]
    _, held = split_links(TypedData(graph, {0: test}), (0,), (0.8, 0.1, 0.1), seed=0)
    assert not pairs_of(held["valid"][0]) & pairs_of(test)


@pytest.mark.parametrize("ratios", [(1, 0, 0), (0, 0, 1), (0, 1, 0), (0.5, 0, 0.5)])
def test_a_share_of_zero_is_refused_by_name(ratios: tuple[float, float, float]) -> None:
    labelled = HeteroGraph.from_tables(
        {"a": {"class": ["x", "y"] * 10}, "b": 20}, {("a", "r", "b"): [[0, 0], [1, 1]]}, label="class"
    )
    for data, protocol in ((ring(), "typed-links"), (labelled, "node-classification")):
        with pytest.raises(InputError, match=r"the share of \w+ is 0"):
            te.task(data, protocol, ratios=ratios)


def test_a_folder_of_a_typed_graph_is_not_called_an_unsaved_task(tmp_path: Path) -> None:
    from trueedge.cli.parsing import source

    (tmp_path / "link.dat").write_text("0\t1\t0\t1.0\n")
    assert source(str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    ("test", "free"), [(None, "3"), (np.array([False, True, False]), "2 without the test part")]
)
def test_too_few_labels_for_three_parts_are_counted(test: np.ndarray | None, free: str) -> None:
    nodes = np.arange(3, dtype=np.int32)
    labels = Labels(0, nodes, np.zeros(3, dtype=np.int32), ("x",), test)
    with pytest.raises(InputError) as caught:
        split_labels(labels, (0.24, 0.06, 0.7), 0)
    assert str(caught.value) == f"too few nodes have labels ({free}): the valid part would be empty"


def test_why_no_edge_can_be_held_out_is_said() -> None:
    edges = {("a", "r", "b"): [(node, 0) for node in range(9)]}
    with pytest.raises(InputError) as caught:
        te.task(te.HeteroGraph.from_tables({"a": 9, "b": 1}, edges), "typed-links")
    assert str(caught.value) == (
        "typed graph: 'r' has too few edges for a test part: each source keeps one for training, and"
        " self-loops are not predicted"
    )
