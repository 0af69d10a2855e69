"""Submissions of classes to hidden tasks, which become scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.typed_graphs import small_graph

import trueedge as te
from trueedge.leaderboard.hidden.making import hide
from trueedge.leaderboard.hidden.public_folder import HiddenTask


@pytest.mark.parametrize("start", [0, 1])
def test_classes_that_are_called_by_numbers_are_submitted_by_name_or_number(
    start: int, tmp_path: Path
) -> None:
    graph = small_graph(authors=300)
    assert graph.labels is not None
    graph = replace(graph, labels=replace(graph.labels, test=None, classes=("1", "2", "3")), name="private")
    hide(
        lambda seed: te.task(graph, "node-classification", seed),
        tmp_path / "public",
        tmp_path / "secret",
        least_units=50,
    )
    hidden = HiddenTask.open(tmp_path / "public")
    classes = np.random.default_rng(0).integers(0, 3, graph.num_nodes)
    right = np.eye(3)[classes[hidden.candidates]]
    for given in (classes + start, (classes + start).astype(float), lambda nodes: classes[nodes] + start):
        assert np.array_equal(hidden.scores(given), right)
