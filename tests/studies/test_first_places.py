"""Whether Simple-HGN is first, by paired intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trueedge import methods
from trueedge.analysis.comparison import compare
from trueedge.results import Store
from trueedge.runs import Cell
from trueedge.studies import Plan
from trueedge.studies.hgb.differences import FIRST, MINUS, difference_rows, sentence
from trueedge.studies.study import run_all


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Return a plan whose records are of three methods with two seeds."""
    folder: Path = tmp_path_factory.mktemp("runs")
    made = Plan(store=Store(folder))
    few = {"epochs": 3, "features": "all"}
    cells = [
        Cell("bibliography", "node-classification", methods.create(name, few), seed, {}, "cpu", task_seed=0)
        for name in (FIRST, "gcn-hetero", "rgcn-hetero")
        for seed in range(2)
    ]
    run_all(cells, made)
    return made


@pytest.mark.parametrize("metric", ["macro-f1", "micro-f1"])
def test_differences_are_those_of_means_and_within_their_intervals(plan: Plan, metric: str) -> None:
    rows, said = difference_rows(plan.used, [metric])
    assert len(said) == 1
    for other in ("gcn-hetero", "rgcn-hetero"):
        name = FIRST + MINUS + other
        found = {row.metric.partition(", ")[2]: row.ours for row in rows if row.method == name}
        means = [
            np.mean([100 * one.test[metric] for one in plan.used if one.method == name])
            for name in (FIRST, other)
        ]
        assert found[""] == pytest.approx(means[0] - means[1])
        assert found["lower end of 95 %"] < found[""] < found["upper end of 95 %"]


def test_the_place_is_first_tied_or_behind(plan: Plan) -> None:
    found = compare(plan.used, "micro-f1")[0]
    assert sentence(found, {"a": (1.0, 2.0), "b": (0.1, 3.0)}).endswith("first: all 2 intervals are above 0")
    assert "first or tied" in sentence(found, {"a": (1.0, 2.0), "b": (-0.1, 3.0)})
    assert sentence(found, {"a": (1.0, 2.0), "b": (-3.0, -0.1)}).endswith("behind b")
