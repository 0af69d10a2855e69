"""No cheat gets through, and no honest scorer is accused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from benchmarks.attack import museum
from benchmarks.attack.honest import HONEST

import trueedge as te

SLOW = ("ppr", "katz")


@pytest.fixture(scope="module", params=["heart", "existing", "triplet"])
def task(request):
    return te.task("cora", request.param, 0, **museum.OPTIONS.get(request.param, {}))


@pytest.mark.rotating(24)
@pytest.mark.parametrize("name", museum.CHEATS)
def test_a_cheat_gains_nothing_or_is_named(name: str, task) -> None:
    verdict = museum.judge(name, task)
    assert verdict.outcome in ("neutralised", "named"), verdict


def test_the_museum_is_large_enough() -> None:
    assert len(museum.CHEATS) >= 25
    assert len(HONEST) >= 25


@pytest.mark.rotating(12)
@pytest.mark.parametrize("name", [name for name in HONEST if name not in SLOW])
def test_an_honest_scorer_is_not_accused(name: str, task) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = task.evaluate(HONEST[name](task))[task.headline]
        report = te.check_scorer(HONEST[name](task), task)
    assert 0 <= value <= 1
    assert report.ok, str(report)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_honest_scorer_is_not_accused(name: str, task) -> None:
    assert te.check_scorer(HONEST[name](task), task, sample=400).ok


@pytest.mark.parametrize("name", ["direction", "noise over the direction", "column of the smaller node"])
def test_a_headline_that_depends_on_the_direction_is_broken(name: str) -> None:
    task = te.task("cora", "heart", 0, **museum.OPTIONS["heart"])
    report = te.check_scorer(museum.CHEATS[name](task), task)
    assert [one.name for one in report.findings if one.level == "broken"] == ["direction"]


@pytest.mark.data("heart/citeseer", "planetoid")
def test_the_direction_of_the_released_files_gains_nothing() -> None:
    task = te.task("citeseer", "heart-released")
    above, below = (
        np.mean(pairs[..., 0] < pairs[..., 1]) for pairs in (task.test.positives, task.test.negatives)
    )
    assert above == 1
    assert below < 0.8
    honest = te.methods.create("ra").fit(task)
    turned = task.evaluate(lambda pairs: honest.score(pairs) + 1000 * (pairs[:, 0] < pairs[:, 1]))
    assert turned["mrr"] == pytest.approx(task.evaluate(honest)["mrr"], abs=1e-6)
    assert te.audit.audit(task)["direction"].verdict == "broken"
