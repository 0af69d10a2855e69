"""Predicted classes that are called by numbers, probabilities up to rounding, and values that are NaN."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from typed_graphs import small_graph

COUNT = 21


@pytest.fixture
def task() -> te.NodeTask:
    """Return a task whose classes are called 1, 2 and 3."""
    labels = np.random.default_rng(0).permutation(np.arange(COUNT) % 3 + 1)
    graph = te.HeteroGraph.from_tables(
        {"author": {"field": labels.tolist()}}, {("author", "knows", "author"): [(0, 1)]}, label="field"
    )
    made = te.task(graph, "node-classification", ratios=(0.4, 0.2, 0.4))
    assert isinstance(made, te.NodeTask)
    assert made.classes == ("1", "2", "3")
    return made


def forms(task: te.NodeTask, given: np.ndarray) -> list[Any]:
    """Return classes of the test nodes in every form."""
    whole = np.zeros(task.graph.num_nodes, dtype=np.int64)
    whole[task.nodes["test"]] = given
    return [
        given,
        given.astype(float),
        given.astype(str),
        given.tolist(),
        whole,
        lambda nodes: whole[nodes],
        lambda nodes: whole[nodes].astype(np.float32),
        SimpleNamespace(predict=lambda nodes: whole[nodes]),
    ]


@pytest.mark.parametrize("start", [0, 1])
def test_classes_that_are_called_by_numbers_mean_the_same_in_every_form(
    task: te.NodeTask, start: int
) -> None:
    for form in forms(task, task.labels_of("test") + start):
        assert task.evaluate(form)["accuracy"] == 1


def test_numbers_that_could_be_names_or_numbers_of_classes_are_refused_in_every_form(
    task: te.NodeTask,
) -> None:
    for form in forms(task, np.minimum(task.labels_of("test") + 1, 2)):
        with pytest.raises(InputError) as caught:
            task.evaluate(form)
        assert str(caught.value) == (
            "predictions: 1 is the number of the class '2' and the name of another one: give a score for each"
            " class"
        )


@pytest.mark.parametrize("wrong", [7, 2.5, -1])
def test_a_number_that_is_no_class_is_told_what_classes_are_called(task: te.NodeTask, wrong: float) -> None:
    given = (task.labels_of("test") + 1).astype(float)
    given[0] = wrong
    with pytest.raises(InputError) as caught:
        task.evaluate(given)
    said = "the classes are '1', '2', '3', or numbers from 0 to 2"
    assert str(caught.value) == f"a predicted class is {wrong}: {said}"


@pytest.fixture
def several() -> te.NodeTask:
    """Return a task whose nodes can have several of three classes."""
    made = te.task(small_graph(multi=True))
    assert isinstance(made, te.NodeTask)
    return made


@pytest.mark.parametrize("shift", [1e-9, -1e-9])
def test_probabilities_may_be_rounded(several: te.NodeTask, shift: float) -> None:
    right = several.memberships("test")
    given = np.where(right, 0.9, 0.2)
    given[3, 1] = round(given[3, 1]) + shift
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert several.evaluate(given)["micro-f1"] == several.evaluate(right.astype(float))["micro-f1"] == 1


def test_logits_that_are_almost_all_from_0_to_1_get_a_note(several: te.NodeTask) -> None:
    right = several.memberships("test")
    given = np.where(right, 0.9, 0.2)
    given[:2, 0] = 1.2
    with pytest.warns(
        te.ScoreWarning, match=f"2 of {given.size} numbers lie outside 0 to 1, so all are read"
    ):
        assert several.evaluate(given)["micro-f1"] < 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert several.evaluate(np.where(right, 3.0, -3.0))["micro-f1"] == 1


def test_nodes_without_a_finite_prediction_are_counted_as_they_were_given(
    several: te.NodeTask, tmp_path: Path
) -> None:
    scores = np.where(several.memberships("test"), 0.9, 0.2)
    scores[:, 1] = np.nan
    count = len(scores)
    file = tmp_path / "s.csv"
    lines = [
        ",".join(map(str, (node, *row))) for node, row in zip(several.nodes["test"], scores, strict=True)
    ]
    file.write_text("\n".join(lines))
    for given in (scores, file):
        with pytest.raises(InputError) as caught:
            several.evaluate(given)
        assert str(caught.value) == f"predictions of {count} of {count} nodes are NaN"
    single = te.task(small_graph())
    labels = np.zeros(count)
    labels[:2] = np.nan, np.inf
    with pytest.raises(InputError, match=f"predictions of 2 of {count} nodes are NaN or infinite"):
        single.evaluate(labels)
