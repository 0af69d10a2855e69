"""Predictions of typed tasks in every form: arrays, tensors, names of classes, and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.graph.typed import HeteroGraph
from trueedge.verdict.model_files import read_model
from typed_graphs import small_graph


@pytest.fixture
def task() -> te.NodeTask:
    """Return a task with three classes."""
    made = te.task(small_graph())
    assert isinstance(made, te.NodeTask)
    return made


def test_a_tensor_may_have_a_row_for_each_node_of_the_part_like_an_array(task: te.NodeTask) -> None:
    torch = pytest.importorskip("torch")
    right = task.labels_of("test")
    assert task.evaluate(torch.tensor(right.copy()))["micro-f1"] == 1
    assert task.evaluate(torch.eye(3)[right.astype(np.int64)])["micro-f1"] == 1


def test_classes_may_be_named(task: te.NodeTask) -> None:
    names = [task.classes[one] for one in task.labels_of("test")]
    assert task.evaluate(names)["micro-f1"] == task.evaluate(np.array(names))["micro-f1"] == 1
    with pytest.raises(InputError, match="no class is called 'pink'"):
        task.evaluate(["pink", *names[1:]])


def test_an_array_of_the_wrong_length_is_told_which_lengths_there_are(task: te.NodeTask) -> None:
    sizes = "170 nodes, 60 of them of type 'author' and 42 in the test part"
    with pytest.raises(InputError, match=f"{sizes}, but predictions of shape .5,."):
        task.evaluate(np.zeros(5))


def test_predictions_with_other_columns_are_named_by_their_own_shape(task: te.NodeTask) -> None:
    with pytest.raises(InputError, match=r"there are 3 classes, but predictions of shape \(170, 4\)"):
        task.evaluate(np.zeros((170, 4)))


def test_masked_predictions_are_refused(task: te.NodeTask) -> None:
    scores = np.ma.masked_array(np.eye(3)[np.zeros(170, dtype=int)], mask=False)
    scores[3, 1] = np.ma.masked
    with pytest.raises(InputError, match="predictions: 1 value is masked"):
        task.evaluate(scores)


def test_judge_reads_every_format_of_predictions_that_evaluate_reads(
    task: te.NodeTask, tmp_path: Path
) -> None:
    scores = np.random.default_rng(0).normal(size=(len(task.nodes["test"]), 3))
    labels = scores.argmax(axis=1)
    lines = {
        "submitted.txt": [
            f"{node}\t\t0\t{label}" for node, label in zip(task.nodes["test"], labels, strict=True)
        ],
        "scores.csv": [
            f"{node},{','.join(map(str, row))}" for node, row in zip(task.nodes["test"], scores, strict=True)
        ],
        "classes.txt": [f"{node}\t{label}" for node, label in zip(task.nodes["test"], labels, strict=True)],
    }
    wanted = task.evaluate(labels)["micro-f1"]
    for name, text in lines.items():
        file = tmp_path / name
        file.write_text("\n".join(text))
        model, said = read_model(file, task.data, task.kind)
        assert said == f"{file} holds the classes of nodes, or their scores"
        assert task.evaluate(model)["micro-f1"] == wanted
    verdict = te.judge(tmp_path / "submitted.txt", task, checks=False)
    assert verdict.answers[0].value == wanted


@pytest.mark.parametrize("name", ["somebody", ""])
def test_a_file_in_the_benchmarks_format_is_read_with_three_classes_too(
    task: te.NodeTask, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "test.txt"
    pairs = zip(task.nodes["test"], task.labels_of("test"), strict=True)
    file.write_text("".join(f"{node}\t{name}\t0\t{label}\n" for node, label in pairs))
    assert task.evaluate(file)["micro-f1"] == 1


@pytest.mark.parametrize("name", ["somebody", ""])
def test_a_wrong_type_in_the_benchmarks_format_is_named(task: te.NodeTask, tmp_path: Path, name: str) -> None:
    file = tmp_path / "test.txt"
    file.write_text("".join(f"{node}\t{name}\t1\t0\n" for node in task.nodes["test"]))
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    node = task.nodes["test"][0]
    assert str(caught.value) == f"{file}, line 1: node {node} has the type 0, not '1'"


def test_a_line_that_may_be_scores_or_name_type_and_class_is_refused(
    task: te.NodeTask, tmp_path: Path
) -> None:
    file = tmp_path / "test.txt"
    pairs = zip(task.nodes["test"], task.labels_of("test"), strict=True)
    file.write_text("".join(f"{node}\t77\t0\t{label}\n" for node, label in pairs))
    with pytest.raises(InputError, match=r"test.txt, line 1: '77 0 \d' is unclear"):
        task.evaluate(file)


def test_a_missing_file_for_typed_links_is_refused_as_a_file(tmp_path: Path) -> None:
    links = te.task(small_graph(), "typed-links")
    with pytest.raises(InputError, match="there is no file of scores at"):
        links.evaluate(tmp_path / "scores.txt")


@pytest.mark.parametrize("protocol", ["node-classification", "typed-links"])
def test_the_withheld_part_is_named_whatever_is_asked_of_it(protocol: str) -> None:
    seen = te.task(small_graph(), protocol).for_fitting()
    for ask in (seen.properties, lambda: seen.truth("test"), lambda: seen.evaluate(np.zeros((170, 3)))):
        with pytest.raises(InputError, match="the test part is withheld"):
            ask()


def test_an_endless_number_in_a_saved_graph_is_damage(tmp_path: Path) -> None:
    small_graph().save(tmp_path)
    card = json.loads((tmp_path / "graph.json").read_text())
    (tmp_path / "graph.json").write_text(json.dumps({**card, "label_type": float("inf")}))
    with pytest.raises(InputError, match="is damaged"):
        HeteroGraph.load(tmp_path)
