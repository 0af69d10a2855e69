"""Tasks of node classification on typed graphs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge import methods
from trueedge.errors import InputError
from trueedge.graph.typed import Labels, Relation
from trueedge.splits.typed import split_labels


@pytest.fixture(params=[False, True], ids=["single", "multi"])
def task(request: pytest.FixtureRequest) -> te.NodeTask:
    """Return a task with one class a node, and one with several."""
    made = te.task(small_graph(multi=request.param))
    assert isinstance(made, te.NodeTask)
    return made


def test_parts_are_disjoint_and_the_published_test_part_is_kept(task: te.NodeTask) -> None:
    labels = small_graph().labels
    assert labels is not None
    assert labels.test is not None
    assert np.array_equal(task.nodes["test"], labels.nodes[labels.test])
    everyone = np.concatenate(list(task.nodes.values()))
    assert len(np.unique(everyone)) == len(everyone) == len(labels.nodes)
    assert len(task.nodes["valid"]) == round(0.2 * (~labels.test).sum())


def test_without_a_published_test_part_nodes_are_divided_by_ratios() -> None:
    given = small_graph().labels
    assert given is not None
    labels = Labels(given.type, given.nodes, given.values, given.classes)
    parts = split_labels(labels, (0.5, 0.2, 0.3), seed=1)
    assert [len(parts[name]) for name in ("train", "valid", "test")] == [30, 12, 18]
    assert not np.array_equal(parts["test"], split_labels(labels, (0.5, 0.2, 0.3), seed=2)["test"])
    with pytest.raises(InputError, match="the valid part cannot be empty"):
        split_labels(labels, (0.9, 0.0, 0.1), seed=1)


def test_a_fitted_method_sees_neither_test_nodes_nor_labels_in_the_graph(task: te.NodeTask) -> None:
    seen = task.for_fitting()
    assert "test" not in seen.nodes
    assert "test" not in seen.values
    assert seen.graph.labels is None
    with pytest.raises(InputError, match="withheld"):
        seen.labels_of("test")


def test_arrays_for_all_nodes_the_target_type_or_the_part_give_the_same_value(task: te.NodeTask) -> None:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(task.graph.num_nodes, task.num_classes))
    of_type = whole[: task.graph.starts[1]]
    of_part = whole[task.nodes["test"]]
    found = [dict(task.evaluate(one)) for one in (whole, of_type, of_part, lambda nodes: whole[nodes])]
    assert found[0] == found[1] == found[2] == found[3]


def test_the_truth_has_the_best_value_and_files_are_read(task: te.NodeTask, tmp_path: Path) -> None:
    right = task.memberships("test").astype(float)
    assert task.evaluate(right)["micro-f1"] == 1.0
    np.save(tmp_path / "right.npy", right)
    assert task.evaluate(tmp_path / "right.npy")["macro-f1"] == 1.0
    lines = [
        f"{node}\t{','.join(str(c) for c in np.flatnonzero(row))}"
        for node, row in zip(task.nodes["test"], right, strict=True)
    ]
    place = tmp_path / "right.txt"
    place.write_text("\n".join(lines) + "\n")
    assert task.evaluate(place)["macro-f1"] == 1.0
    place.write_text("\n".join(lines[1:]) + "\n")
    with pytest.raises(InputError, match="no prediction for node"):
        task.evaluate(place)
    place.write_text("\n".join([*lines, lines[0]]) + "\n")
    with pytest.raises(InputError, match="occurs again"):
        task.evaluate(place)
    place.write_text("\n".join([lines[0].split("\t")[0] + "\tviolet", *lines[1:]]) + "\n")
    with pytest.raises(InputError, match="'violet' is not a class"):
        task.evaluate(place)


def test_a_saved_task_comes_back(task: te.NodeTask, tmp_path: Path) -> None:
    task.save(tmp_path / "task")
    again = te.load_task(tmp_path / "task")
    assert again.hash == task.hash
    assert again.multi == task.multi
    np.save(tmp_path / "task" / "test_labels.npy", task.values["test"][::-1])
    with pytest.raises(InputError, match="damaged"):
        te.load_task(tmp_path / "task")


def test_label_propagation_beats_majority_on_edges_within_classes() -> None:
    task = te.task(small_graph(seed=3))
    values = {
        name: task.evaluate(methods.create(name).fit(task))["micro-f1"]
        for name in ("majority", "label-propagation")
    }
    assert values["label-propagation"] > values["majority"] + 0.1


def test_a_hub_does_not_turn_label_propagation_into_the_majority() -> None:
    """All nodes share a hub, and each class has a small hub of its own; one class is more frequent."""
    classes = np.repeat([0, 1], [120, 80]).astype(np.int32)
    nodes = np.arange(200)
    edges = np.concatenate([np.column_stack([nodes, np.full(200, 200 + one)]) for one in range(8)])
    own = np.column_stack([nodes, 208 + classes])
    graph = te.HeteroGraph(
        ("thing", "hub"),
        np.array([0, 200, 210]),
        (Relation("in", 0, 1),),
        (np.unique(np.concatenate([edges, own]), axis=0).astype(np.int32),),
        labels=Labels(0, nodes.astype(np.int32), classes, ("many", "few")),
    )
    task = te.task(graph, ratios=(0.3, 0.1, 0.6))
    assert task.evaluate(methods.create("label-propagation").fit(task))["micro-f1"] == 1.0


def test_baselines_predict_something_if_nodes_have_several_classes() -> None:
    task = te.task(small_graph(multi=True))
    for name in ("majority", "label-propagation"):
        assert task.evaluate(methods.create(name).fit(task))["micro-f1"] > 0.2


def test_check_scorer_names_predictions_that_depend_on_the_batch(task: te.NodeTask) -> None:
    table = np.random.default_rng(0).normal(size=(task.graph.num_nodes, task.num_classes))
    assert te.check_scorer(lambda nodes: table[nodes], task).ok
    report = te.check_scorer(lambda nodes: table[nodes] - table[nodes].mean(axis=0), task)
    assert not report.ok
    assert "batch statistics" in str(report)


def test_records_of_node_classification_have_intervals(tmp_path: Path) -> None:
    graph = small_graph()
    record = te.run(graph, "node-classification", "label-propagation", store=te.Store(tmp_path / "runs"))
    assert record.kind == "nodes"
    assert record.unit == "node"
    for metric in ("micro-f1", "macro-f1"):
        values = record.unit_values(metric)
        assert values is not None
        assert values.mean() == pytest.approx(record.test[metric])


def test_graphs_without_labels_are_refused() -> None:
    with pytest.raises(InputError, match="has no labels"):
        te.task(small_graph().without_labels(), "node-classification")


def test_a_heterodata_object_is_refused_with_the_call_that_reads_it():
    stand_in = type("HeteroData", (), {})()
    with pytest.raises(InputError, match=r"HeteroData becomes .* by te\.HeteroGraph\.from_pyg\(data\)"):
        te.task(stand_in)
