"""Tasks of link prediction on typed graphs: splits, negatives, leaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph
from trueedge.negatives.typed import typed_negatives
from trueedge.splits.typed import TypedData


@pytest.fixture
def graph() -> HeteroGraph:
    """Return a typed graph with a relation and its reverse."""
    return small_graph()


def _task(source: object, **options: object) -> te.TypedLinkTask:
    made = te.task(source, "typed-links", **options)  # type: ignore[arg-type]
    assert isinstance(made, te.TypedLinkTask)
    return made


def _keys(rows: np.ndarray) -> set[tuple[int, ...]]:
    return set(map(tuple, rows.tolist()))


def test_held_out_links_leave_the_graph_in_both_directions(graph: HeteroGraph) -> None:
    task = _task(graph, relation="author-paper")
    held = np.concatenate([one[:, [0, 2]] for one in task.positives.values()])
    assert not _keys(held) & _keys(task.graph.edges[0])
    assert not _keys(held[:, ::-1]) & _keys(task.graph.edges[1])
    assert len(task.graph.edges[0]) + len(held) == len(graph.edges[0])
    # Every source keeps an edge.
    assert set(graph.edges[0][:, 0]) == set(task.graph.edges[0][:, 0])


def test_a_link_and_its_reverse_are_in_the_same_part_and_every_node_keeps_an_edge(graph: HeteroGraph) -> None:
    """Else the reverse of a validation link tells it, or leaves the graph and takes a node's only edge."""
    cites = graph.edges[3]
    loops = np.repeat(np.arange(60, 70, dtype=np.int32), 2).reshape(-1, 2)
    both = np.unique(np.concatenate([cites, cites[:, ::-1], loops]), axis=0)
    symmetric = graph.with_edges((*graph.edges[:3], both))
    for seed in range(3):
        task = _task(symmetric, relation="paper-cites-paper", seed=seed)
        parts = {name: _keys(rows[:, [0, 2]]) for name, rows in task.positives.items()}
        parts["train"] = _keys(task.graph.edges[3])
        assert sum(map(len, parts.values())) == len(both)
        for part in parts.values():
            assert part == {(target, source) for source, target in part}
        assert _keys(loops) <= parts["train"]
        for name, share in (("valid", 0.09), ("test", 0.1)):
            assert len(parts[name]) == pytest.approx(share * len(both), abs=2)
        kept = {source for source, target in parts["train"] if source != target}
        assert kept == {source for source, target in both.tolist() if source != target}


@pytest.mark.parametrize("kind", ["two-hop", "random"])
def test_negatives_are_distinct_and_no_links(graph: HeteroGraph, kind: str) -> None:
    task = _task(graph, relation="author-paper", negatives=kind, valid_negatives="same")
    links = _keys(graph.edges[0])
    for part in ("valid", "test"):
        found = task.negatives[part]
        assert len(_keys(found)) == len(found)
        assert not _keys(found[:, [0, 2]]) & links
        assert set(found[:, 0]) == set(task.positives[part][:, 0])
        assert (task.graph.types[found[:, 2]] == 1).all()
    again = _task(graph, relation="author-paper", negatives=kind, valid_negatives="same")
    assert again.hash == task.hash
    other = _task(graph, relation="author-paper", negatives=kind, valid_negatives="same", seed=1)
    assert other.hash != task.hash


def test_validation_negatives_are_random_unless_another_kind_is_chosen(graph: HeteroGraph) -> None:
    def made(negatives: str, valid_negatives: str = "random") -> te.TypedLinkTask:
        return _task(graph, relation="author-paper", negatives=negatives, valid_negatives=valid_negatives)

    published, near = _task(graph, relation="author-paper"), made("two-hop", "two-hop")
    assert published.settings["valid_negatives"] == "random"
    assert near.settings["valid_negatives"] == "two-hop"
    # The test part is the same, and the validation part is that of random negatives.
    np.testing.assert_array_equal(published.negatives["test"], near.negatives["test"])
    np.testing.assert_array_equal(published.negatives["valid"], made("random").negatives["valid"])
    assert _keys(published.negatives["valid"]) != _keys(near.negatives["valid"])
    assert published.hash != near.hash
    assert made("two-hop", "same").hash == near.hash
    assert made("random", "same").hash == made("random").hash
    with pytest.raises(InputError, match="valid_negatives"):
        made("two-hop", "published")


def test_two_hop_negatives_are_two_steps_away_where_there_are_any(graph: HeteroGraph) -> None:
    positives = graph.edges[0][:20]
    drawn = typed_negatives(graph, 0, positives, [], "two-hop", seed=0)
    neighbors: dict[int, set[int]] = {}
    for pairs in graph.edges:
        for left, right in pairs.tolist():
            neighbors.setdefault(left, set()).add(right)
            neighbors.setdefault(right, set()).add(left)
    for head, tail in drawn.tolist():
        near = {two for one in neighbors[head] for two in neighbors[one]} - neighbors[head] - {head}
        candidates = [node for node in near if graph.types[node] == 1]
        wanted = (positives[:, 0] == head).sum()
        if len(candidates) >= wanted:
            assert tail in near


def test_published_test_links_and_pairs_are_kept(graph: HeteroGraph) -> None:
    test = graph.edges[0][::7]
    rest = np.delete(graph.edges[0], np.s_[::7], axis=0)
    without = graph.with_edges((rest, *graph.edges[1:]))
    wrong = typed_negatives(without, 0, test, [], "random", seed=3)
    pairs = np.concatenate([test, wrong]), np.repeat([True, False], [len(test), len(wrong)])
    data = TypedData(without, {0: test}, pairs={"test": {0: pairs}})
    task = _task(data, negatives="published")
    assert _keys(task.positives["test"][:, [0, 2]]) == _keys(test)
    assert _keys(task.negatives["test"][:, [0, 2]]) == _keys(wrong)
    assert te.task(data).kind == "typed-links"
    with pytest.raises(InputError, match="no published negatives"):
        _task(graph, negatives="published")


def test_vectors_functions_and_objects_are_scorers(graph: HeteroGraph) -> None:
    task = _task(graph, relation="author-paper")
    vectors = np.random.default_rng(0).normal(size=(graph.num_nodes, 4))

    class Object:
        def score_links(self, links: np.ndarray) -> np.ndarray:
            return np.sum(vectors[links[:, 0]] * vectors[links[:, 2]], axis=1)

    found = [dict(task.evaluate(one)) for one in (vectors, Object(), Object().score_links)]
    assert found[0] == pytest.approx(found[1])
    assert found[1] == found[2]
    with pytest.raises(InputError, match="a function of links"):
        task.evaluate(5)


def test_a_model_that_normalises_over_its_batch_gains_nothing_and_is_named(graph: HeteroGraph) -> None:
    """MAGNN was evaluated on batches of positives alone and negatives alone, with batch norm."""
    task = _task(graph, relation="author-paper")
    known = _keys(task.positives["test"])

    def leaky(links: np.ndarray) -> np.ndarray:
        share = np.mean([tuple(row) in known for row in links.tolist()])
        return np.random.default_rng(0).normal(size=len(links)) + 10 * share

    assert abs(task.evaluate(leaky)["roc-auc"] - 0.5) < 0.15
    assert not te.check_scorer(leaky, task).ok


def test_a_saved_task_comes_back_and_fit_sees_no_test_links(graph: HeteroGraph, tmp_path: Path) -> None:
    task = _task(graph, relation="author-paper")
    task.save(tmp_path / "task")
    assert te.load_task(tmp_path / "task").hash == task.hash
    assert "test" not in task.for_fitting().positives
    bad = task.positives["test"].copy()
    bad[0, 2] = 0
    np.save(tmp_path / "task" / "test_positives.npy", bad)
    with pytest.raises(InputError, match="damaged"):
        te.load_task(tmp_path / "task")


def test_popular_targets_beat_chance_against_random_negatives(graph: HeteroGraph) -> None:
    task = _task(graph, relation="paper-term", negatives="random")
    assert task.evaluate(methods.create("target-degree").fit(task))["roc-auc"] > 0.5
    with pytest.raises(InputError, match="relation of small"):
        _task(graph, relation="author-term")


def test_records_have_a_value_for_each_head(graph: HeteroGraph, tmp_path: Path) -> None:
    store = te.Store(tmp_path / "runs")
    record = te.run(graph, "typed-links", "target-degree", store=store, relation="author-paper")
    assert record.kind == "typed-links"
    assert record.unit == "head"
    for metric in ("head-mrr", "roc-auc"):
        values = record.unit_values(metric)
        assert values is not None
        assert values.mean() == pytest.approx(record.test[metric])


def test_the_relation_that_is_predicted_is_named_unless_it_was_asked_for(graph: HeteroGraph) -> None:
    notes = " ".join(_task(graph).settings["notes"])
    most = max(range(graph.num_relations), key=lambda one: len(graph.edges[one]))
    assert repr(graph.relations[most].name) in notes
    assert "notes" not in _task(graph, relation="author-paper").settings


def test_a_name_of_several_classes_means_the_one_for_typed_graphs(graph: HeteroGraph) -> None:
    settings = {"epochs": 1, "dim": 4, "features": "all", "decoder": "dot"}
    record = te.run(graph, "typed-links", "gcn", settings=settings, relation="author-paper")
    assert record.method == "gcn-hetero"


@pytest.mark.parametrize(("protocol", "noun"), [("typed-links", "link"), ("node-classification", "node")])
def test_a_test_part_of_a_single_unit_is_noted(protocol: str, noun: str) -> None:
    graph = small_graph()
    assert graph.labels is not None
    alone = replace(graph.labels, test=np.arange(len(graph.labels.nodes)) == 0)
    data = TypedData(replace(graph, labels=alone), {0: graph.edges[0][:1]})
    said = f"the test part has only 1 {noun}, so its metrics say little"
    assert said in te.task(data, protocol).settings["notes"]
    whole = TypedData(graph, {0: graph.edges[0][:20]})
    assert "notes" not in te.task(whole, protocol).settings
