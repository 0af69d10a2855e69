"""The benchmark of what HGB's code does differently."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.hgb_causes import CASES, links_of_seen_nodes  # noqa: E402

import trueedge as te  # noqa: E402
from trueedge import methods  # noqa: E402


def test_links_of_nodes_without_training_edges_are_left_out() -> None:
    graph = te.HeteroGraph.from_tables(
        nodes={"user": 3, "artist": 4},
        edges={("user", "likes", "artist"): [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (0, 3), (1, 0)]},
    )
    task = te.task(graph, "typed-links", negatives="random", ratios=(0.5, 0.25, 0.25))
    kept = links_of_seen_nodes(task)
    seen = np.unique(np.concatenate([edges.ravel() for edges in task.graph.edges]))
    wanted = [link for link in task.positives["test"].tolist() if link[0] in seen and link[2] in seen]
    assert kept.positives["test"].tolist() == wanted
    assert set(kept.negatives["test"][:, 2]) <= set(seen)
    assert kept.part_names == ("test",)


def test_every_case_is_a_method_with_settings_that_it_knows() -> None:
    for case in CASES:
        made = methods.create(case.method, dict(case.settings))
        assert {name: getattr(made, name) for name in case.settings} == dict(case.settings)
