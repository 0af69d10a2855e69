"""Groups of links: made of the very task a record was judged on, and averaged as the whole is."""

from __future__ import annotations

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.comparison import unit_values
from trueedge.analysis.slices import group_names, link_properties, rebuilt, slices
from trueedge.errors import InputError

METHODS = ("cn", "pa", "ppr")


@pytest.fixture(scope="module")
def records() -> list[te.Record]:
    return [te.run("karate", "heart", name, seed=seed, k=20) for name in METHODS for seed in (0, 1)]


@pytest.fixture(scope="module")
def task() -> te.LinkTask:
    found = te.task("karate", "heart", seed=0, k=20)
    assert isinstance(found, te.LinkTask)
    return found


def test_properties_are_those_of_networkx(task) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(task.num_nodes))
    graph.add_edges_from(task.train.tolist())
    found = link_properties(task)
    for place, (u, v) in enumerate(task.test.positives.tolist()):
        assert found["degree"][place] == min(graph.degree[u], graph.degree[v])
        assert found["common neighbours"][place] == len(list(nx.common_neighbors(graph, u, v)))
        joined = nx.has_path(graph, u, v)
        assert found["distance"][place] == (nx.shortest_path_length(graph, u, v) if joined else -1)
    assert set(found["factor"]) <= {"local", "global", "none or several"}, "karate has no features"


def test_every_link_is_in_one_group_and_the_groups_make_up_the_whole(records) -> None:
    one_split = [record for record in records if record.seed == 0]
    found = slices(one_split)
    assert found.left_out == ()
    assert [one.name for one in found.slicings] == ["degree", "common neighbours", "distance", "factor"]
    links = len(one_split[0].ranks)
    for one in found.slicings:
        assert sum(one.counts) == links
        for record in one_split:
            cells = one.values[record.method]
            mean = sum(count * cell.value for count, cell in zip(one.counts, cells, strict=True)) / links
            assert mean == pytest.approx(record.test["mrr"])


def test_the_value_of_a_group_is_that_of_its_links_alone(records, task) -> None:
    record = records[0]
    (by_degree, *_) = slices([record]).slicings
    degrees = link_properties(task)["degree"]
    values = unit_values(record, "mrr")
    names = group_names("degree", degrees, degrees)
    for group, cell in zip(by_degree.groups, by_degree.values["cn"], strict=True):
        assert cell is not None
        assert cell.value == pytest.approx(values[names == group].mean())
        assert 0 <= cell.low <= cell.value <= cell.high <= 1


def test_several_splits_count_alike(records) -> None:
    both = slices(records)
    single = [slices([record for record in records if record.seed == seed]) for seed in (0, 1)]
    # Groups by common neighbours have fixed ends, so they are the same in each split.
    tables = [dict(zip(one.slicings[1].groups, one.slicings[1].values["pa"], strict=True)) for one in single]
    for group, cell in zip(both.slicings[1].groups, both.slicings[1].values["pa"], strict=True):
        there = [table[group].value for table in tables if group in table]
        assert cell is not None
        assert cell.value == pytest.approx(np.mean(there))
    assert sum(both.slicings[1].counts) == sum(sum(one.slicings[1].counts) for one in single)


@pytest.mark.parametrize(
    ("name", "values", "groups"),
    [
        ("common neighbours", [0, 1, 2, 3, 4, 50], ["0", "1", "2–3", "2–3", "4+", "4+"]),
        ("distance", [-1, 1, 2, 4, 5, 9], ["no path", "1", "2", "4", "5+", "5+"]),
        ("degree", [1, 1, 2, 2, 5, 9], ["1", "1", "2", "2", "3–5", "6+"]),
        ("degree", [3, 3, 3], ["3+", "3+", "3+"]),
        ("degree", [0], ["0+"]),
    ],
)
def test_groups_have_names_that_tell_their_ends(name: str, values: list[int], groups: list[str]) -> None:
    assert group_names(name, np.array(values), np.array(values)).tolist() == groups


@pytest.mark.parametrize("seed", range(5))
def test_degrees_are_divided_where_their_quartiles_are(seed: int) -> None:
    degrees = np.random.default_rng(seed).zipf(1.7, 400)
    names = group_names("degree", degrees, degrees)
    groups = sorted({str(name) for name in names}, key=lambda name: int(name.split("–")[0].rstrip("+")))
    ends = [degrees[names == group] for group in groups]
    assert len(groups) <= 4
    assert all(one.max() < other.min() for one, other in itertools.pairwise(ends))
    for group, inside in zip(groups, ends, strict=True):
        assert inside.min() >= int(group.split("–")[0].rstrip("+"))
        if "–" in group:
            assert inside.max() <= int(group.split("–")[1])


def test_a_task_that_came_out_otherwise_is_not_used(records) -> None:
    other = replace(records[0], provenance={**records[0].provenance, "task": "0" * 64})
    found = slices([other])
    assert found.slicings == ()
    assert found.left_out == (
        "karate · heart, seed 0: the task made again differs from the record's (another hash)",
    )


def test_data_that_are_not_here_are_not_downloaded(records, monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("TRUEEDGE_DATA", raising=False)
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path))
    for name in ("ogbl-collab", "mine.csv"):
        with pytest.raises(InputError, match=r"not on this machine|not a named data set"):
            rebuilt(replace(records[0], dataset=name))
    assert list(tmp_path.iterdir()) == []


def test_records_without_ranks_say_so(records) -> None:
    found = slices([replace(record, units={}) for record in records])
    assert found.slicings == ()
    assert len(found.left_out) == 2
    assert all("hold no values for each test positive" in sentence for sentence in found.left_out)


def test_a_metric_that_ranks_do_not_tell_is_left_out_with_the_reason(records) -> None:
    found = slices(records, metric="precision@10")
    assert found.slicings == ()
    assert any("precision@10" in sentence for sentence in found.left_out)


def test_a_task_that_took_long_to_make_is_left_out_where_it_is_asked_for(records) -> None:
    slow = [replace(record, seconds={**record.seconds, "task": 99.0}) for record in records]
    found = slices(slow, most_seconds=60.0)
    assert found.slicings == ()
    assert (
        found.left_out[0] == "karate · heart, seed 0: its task took 99 s to make, too long to make it again"
    )
    assert len(slices(slow).slicings) == 4
