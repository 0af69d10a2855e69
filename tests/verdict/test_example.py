"""The model of `make run` works as README says."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import trueedge as te
from trueedge.runs.own_code import own_object

ROOT = Path(__file__).parents[2]
MODEL = "examples/my_model.py:fit"


def test_the_example_tells_edges_from_random_pairs() -> None:
    graph = te.load("cora")
    vectors = own_object(str(ROOT / MODEL))(graph)  # type: ignore[operator]
    pairs = np.random.default_rng(0).integers(graph.num_nodes, size=(2000, 2))
    edges, others = ((vectors[found[:, 0]] * vectors[found[:, 1]]).sum(1) for found in (graph.edges, pairs))
    assert np.median(edges) > np.quantile(others, 0.95)


def test_make_run_and_readme_judge_the_example() -> None:
    assert f"judge cora {MODEL}" in (ROOT / "Makefile").read_text()
    readme = (ROOT / "README.md").read_text()
    assert MODEL.partition(":")[0] in readme
    assert len(readme.splitlines()) < 150
