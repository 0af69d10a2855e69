"""Files of predicted classes whose columns have titles, and whose columns could be scores or classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError

COUNT = 20


def task_of(classes: Sequence[Any], several: bool = False, names: bool = False) -> te.NodeTask:
    """Return a task whose nodes are called as they are numbered, or by names."""
    rng = np.random.default_rng(1)
    labels: list[Any] = [classes[number] for number in rng.permutation(np.arange(COUNT) % len(classes))]
    if several:
        labels = [list(dict.fromkeys([one, classes[0]])) for one in labels]
    ids = [f"x{row}" for row in range(COUNT)] if names else list(range(COUNT))
    graph = te.HeteroGraph.from_tables(
        {"author": {"id": ids, "field": labels}},
        {("author", "knows", "author"): [(ids[0], ids[1])]},
        label="field",
    )
    task = te.task(graph, "node-classification", ratios=(0.4, 0.2, 0.4))
    assert isinstance(task, te.NodeTask)
    return task


def written(file: Path, header: str, rows: Sequence[Sequence[Any]], nodes: Sequence[Any]) -> Path:
    lines = [",".join(map(str, (node, *row))) for node, row in zip(nodes, rows, strict=True)]
    file.write_text("\n".join([header, *lines] if header else lines))
    return file


@pytest.mark.parametrize(
    "header",
    [
        "node,red,green,blue",
        "id,2,1,0",
        ",Red,GREEN,Blue",
        "# node,score_2,score_1,score_0",
        "red,green,blue",
        "node,p red,p green,p blue",
    ],
)
def test_columns_of_scores_are_those_of_the_classes_in_the_header(header: str, tmp_path: Path) -> None:
    task = task_of(("blue", "green", "red"))
    assert task.classes == ("blue", "green", "red")
    scores = np.eye(3)[task.labels_of("test")][:, ::-1]
    assert task.evaluate(written(tmp_path / "s.csv", header, scores, task.nodes["test"]))["accuracy"] == 1


@pytest.mark.parametrize(
    "header", ["node,score1,score2,score3", "s_0,s_1,s_2", "node,score,score,score", "# my scores, as is", ""]
)
def test_columns_without_names_of_classes_are_in_their_order(header: str, tmp_path: Path) -> None:
    task = task_of(("blue", "green", "red"))
    scores = np.eye(3)[task.labels_of("test")]
    assert task.evaluate(written(tmp_path / "s.csv", header, scores, task.nodes["test"]))["accuracy"] == 1


@pytest.mark.parametrize(
    ("header", "called"),
    [
        ("node,cat,dog,pig", "cat, dog, pig"),
        ("node,red,green,score", "red, green, score"),
        ("node,1,2,3", "1, 2, 3"),
        ("node,s3,s2,s1", "s3, s2, s1"),
        ("node,red,red,blue", "red, red, blue"),
    ],
)
def test_a_header_with_other_classes_is_refused(header: str, called: str, tmp_path: Path) -> None:
    task = task_of(("blue", "green", "red"))
    file = written(tmp_path / "s.csv", header, np.eye(3)[task.labels_of("test")], task.nodes["test"])
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    said = f"the columns of scores are called {called!r}, but the classes are 'blue', 'green', 'red'"
    assert str(caught.value) == f"{file}, line 1: {said}"
    file.write_text(file.read_text().replace(header, "node,rank,red,green,blue"))
    with pytest.raises(InputError, match="line 1: the header has 5 columns, where line 2 has 4"):
        task.evaluate(file)


def test_titles_that_are_the_name_of_one_class_and_the_number_of_another_are_refused(tmp_path: Path) -> None:
    graph = te.HeteroGraph.from_tables(
        {"author": {"field": ["1", "0", "1"] * 7}}, {("author", "knows", "author"): [(0, 1)]}, label="field"
    )
    task = te.task(graph, "node-classification", ratios=(0.4, 0.2, 0.4))
    assert isinstance(task, te.NodeTask)
    swapped = replace(task, classes=("1", "0"))
    file = written(tmp_path / "s.csv", "node,0,1", np.eye(2)[task.labels_of("test")], task.nodes["test"])
    assert task.evaluate(file)["accuracy"] == 1
    with pytest.raises(InputError, match="line 1: the columns of scores '0, 1' could be names of classes or"):
        swapped.evaluate(file)


def listed(task: te.NodeTask) -> list[str]:
    return [",".join(task.classes[one] for one in np.flatnonzero(row)) for row in task.labels_of("test")]


def test_lines_with_all_classes_or_scores_are_read_as_scores_only_if_all_lines_are(tmp_path: Path) -> None:
    task = task_of(("blue", "red"), several=True)
    nodes, file = task.nodes["test"], tmp_path / "s.csv"
    truth = task.labels_of("test").astype(int)
    assert task.evaluate(written(file, "", truth, nodes))["accuracy"] == 1
    assert task.evaluate(written(file, "node,red,blue", truth[:, ::-1], nodes))["accuracy"] == 1
    file.write_text("".join(f"{node}\t{text}\n" for node, text in zip(nodes, listed(task), strict=True)))
    assert task.evaluate(file)["accuracy"] == 1
    file.write_text(file.read_text().replace("\t", ","))
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    one, two = ([row.sum() for row in truth].index(count) + 1 for count in (1, 2))
    assert str(caught.value) == (
        f"{file}, line {two}: 2 columns follow the node, where line {one} has one: write a node, a tab and"
        " its classes with commas between them, or 2 scores in all lines"
    )


@pytest.mark.parametrize("cells", ["0,1", "red,blue"])
def test_lines_that_could_all_be_scores_or_classes_are_refused(cells: str, tmp_path: Path) -> None:
    task = task_of(("blue", "red"), several=True)
    nodes, file = task.nodes["test"], tmp_path / "s.csv"
    with pytest.raises(InputError) as caught:
        task.evaluate(written(file, "", [cells.split(",")] * len(nodes), nodes))
    assert str(caught.value) == (
        f"{file}, line 1: {cells!r} could be 2 scores or 2 classes, in all lines: write a node, a tab and its"
        " classes with commas between them, or scores with a decimal point"
    )
    scores = [["0.0", "1.0"]] * len(nodes)
    wanted = dict(task.evaluate(np.tile([0.0, 1.0], (len(nodes), 1))))
    assert dict(task.evaluate(written(file, "", scores, nodes))) == wanted


def test_a_wrong_name_in_the_benchmarks_format_is_named_with_three_classes_too(tmp_path: Path) -> None:
    task = task_of(("blue", "green", "red"), names=True)
    pairs = list(zip(task.nodes["test"].tolist(), task.labels_of("test").tolist(), strict=True))
    file = tmp_path / "s.txt"
    file.write_text("".join(f"{node}\tx{node}\t0\t{label}\n" for node, label in pairs))
    assert task.evaluate(file)["accuracy"] == 1
    file.write_text("".join(f"{node}\tx{(node + 1) % COUNT}\t0\t{label}\n" for node, label in pairs))
    with pytest.raises(InputError) as caught:
        task.evaluate(file)
    node = pairs[0][0]
    assert str(caught.value) == f"{file}, line 1: node {node} is called 'x{node}', not 'x{node + 1}'"
