"""Seeds with one published test part are seeds of one sample: intervals hold the variance of its units."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.comparison import compare
from trueedge.analysis.slices import slices
from trueedge.analysis.tables import tables
from trueedge.graph.typed import HeteroGraph
from trueedge.results import Record
from trueedge.statistics.significance import Sample, difference, mean_interval
from trueedge.verdict.answers import answer
from typed_graphs import small_graph

METHODS = ("label-propagation", "majority")


def _records(graph: HeteroGraph, seeds: int = 4) -> list[Record]:
    return [
        te.run(graph, "node-classification", name, seed=seed) for name in METHODS for seed in range(seeds)
    ]


@pytest.fixture(scope="module")
def published() -> list[Record]:
    """Return records of four seeds with one test part."""
    return _records(small_graph())


@pytest.fixture(scope="module")
def divided() -> list[Record]:
    """Return records of four seeds, each with a test part of its own."""
    graph = small_graph()
    assert graph.labels is not None
    return _records(replace(graph, labels=replace(graph.labels, test=None)))


def test_an_interval_over_one_test_part_is_that_over_its_nodes_and_seeds(published: list[Record]) -> None:
    (found,) = compare(published)
    assert (found.tasks, found.splits, found.one_test_part) == (1, 4, True)
    own = [one.unit_values("micro-f1") for one in published if one.method == METHODS[0]]
    wanted = mean_interval(Sample.of(own), 0.95, (0.0, 1.0))
    estimate = next(one.estimate for one in found.methods if one.label == METHODS[0])
    assert (estimate.low, estimate.high) == (wanted.low, wanted.high)
    means = np.array([one.test["micro-f1"] for one in published if one.method == METHODS[0]])
    # What the seeds alone say is far too narrow: they all have the same 42 nodes.
    assert estimate.std_error > 1.5 * means.std(ddof=1) / np.sqrt(len(means))


def _values(records: list[Record], method: str) -> np.ndarray:
    return np.array([one.unit_values("micro-f1") for one in records if one.method == method])


def test_methods_are_paired_by_node_and_split_on_one_test_part(published: list[Record]) -> None:
    (found,) = compare(published)
    (pair,) = found.pairs
    gaps = mean_interval(_values(published, pair.first) - _values(published, pair.second))
    assert (pair.difference.value, pair.difference.std_error) == pytest.approx((gaps.value, gaps.std_error))
    assert (pair.difference.low, pair.difference.high) == pytest.approx((gaps.low, gaps.high))
    assert pair.enough


def test_methods_with_other_seeds_are_compared_on_the_splits_that_both_have(published: list[Record]) -> None:
    several = METHODS[0]
    first = [one for one in published if one.method == several or one.seed == 0]
    (found,) = compare(first)
    (pair,) = found.pairs
    wanted = difference(*(_values(first, name)[:1] for name in (pair.first, pair.second)))
    assert (pair.difference.value, pair.difference.p) == (wanted.value, wanted.p)
    # One split says nothing of others, although one method has four.
    assert not pair.enough
    apart = [one for one in published if (one.method == several) == (one.seed < 2)]
    (found,) = compare(apart)
    (pair,) = found.pairs
    wanted = difference(*(_values(apart, name) for name in (pair.first, pair.second)))
    assert (pair.difference.value, pair.difference.p) == pytest.approx((wanted.value, wanted.p))


def test_records_that_are_left_out_are_no_further_splits(divided: list[Record]) -> None:
    kept = [one if one.seed == 0 else replace(one, units=type(one.units)()) for one in divided]
    (found,) = compare(kept)
    assert (found.tasks, found.splits, found.one_test_part) == (1, 1, False)
    (table,) = tables(kept)
    assert any("test nodes, this split only" in one for one in table.remarks())
    assert "on this split" in answer(table, METHODS[0]).sentence


def test_tasks_with_test_parts_of_their_own_are_compared_over_tasks(divided: list[Record]) -> None:
    (found,) = compare(divided)
    assert (found.tasks, found.splits, found.one_test_part) == (4, 4, False)
    assert {one.estimate.over for one in found.methods} == {"tasks"}


def test_a_table_says_that_its_splits_have_one_test_part(
    published: list[Record], divided: list[Record]
) -> None:
    (table,) = tables(published)
    assert table.seeds.startswith("4 seeds, one test part")
    assert any("nodes and seeds, the same test part in all splits" in one for one in table.remarks())
    assert "on this test part" in answer(table, METHODS[0]).sentence
    (other,) = tables(divided)
    assert "test part" not in " ".join([other.seeds, *other.remarks()])


def test_a_group_of_one_test_part_has_each_node_once(published: list[Record]) -> None:
    made = [te.task(small_graph(), "node-classification", seed) for seed in range(4)]
    tasks = {task.hash: task for task in made}
    (classes,) = [one for one in slices(published, known=tasks).slicings if one.name == "class"]
    assert sum(classes.counts) == 42


def test_a_verdict_says_in_what_the_seeds_differ() -> None:
    verdict = te.judge("label-propagation", small_graph(), "node-classification", seeds=3, checks=False)
    said = "3 seeds with the same test nodes: they differ in training and validation alone"
    assert any(said in one for one in verdict.notes)
    assert not any("random splits" in one for one in verdict.notes)
