"""Warnings about scores: once for a task and method, never where ties are natural, always in records."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.tables import tables
from trueedge.methods import create


class Coarse:
    """A scorer with few different scores."""

    name = "coarse"

    def __init__(self, levels: int = 3) -> None:
        self.levels = levels

    def score(self, pairs: np.ndarray) -> np.ndarray:
        return pairs.sum(axis=1) % self.levels + 0.5


class Natural(Coarse):
    """The same, for which ties are natural."""

    name, expects_ties = "natural", True


@pytest.fixture
def task() -> te.LinkTask:
    made = te.task("karate", "existing")
    assert isinstance(made, te.LinkTask)
    return made


def warned(task: te.LinkTask, *scorers: object) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for scorer in scorers:
            task.evaluate(scorer, "valid")
            task.evaluate(scorer, "test")
    return [str(one.message) for one in caught if issubclass(one.category, te.ScoreWarning)]


def test_a_task_warns_once_of_a_method(task) -> None:
    (first,) = warned(task, Coarse(3), Coarse(4), Coarse(3))
    assert "are ties" in first
    assert warned(task, Coarse(3)) == []
    assert len(warned(te.task("karate", "existing"), Coarse(3))) == 1
    assert len(warned(task, np.round(np.random.default_rng(0).random((34, 1))))) >= 1


def test_natural_ties_are_not_mentioned_and_other_findings_are(task) -> None:
    assert warned(task, Natural(), create("pa").fit(task)) == []
    (sentence,) = warned(task, Natural(1))
    assert "all scores are 0.5" in sentence


def test_who_ignores_or_asks_for_all_gets_that(task) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", te.ScoreWarning)
        task.evaluate(Coarse())
    assert len(warned(task, Coarse())) == 1, "what was ignored has not been said"
    for _ in range(2):
        with pytest.warns(te.ScoreWarning, match="are ties"):
            task.evaluate(Coarse())


def test_every_record_holds_the_ties_and_the_table_tells_them(task) -> None:
    records = [te.run(task, method="cn", seed=seed) for seed in (0, 1)]
    assert all(any("are ties" in one for one in record.warnings) for record in records)
    (table,) = tables(records)
    assert any(one.startswith("ties between positives and negatives: cn") for one in table.remarks())


def test_the_ties_of_triples_are_one_remark() -> None:
    names = ("entity-degree", "relation-frequency")
    (table,) = tables([te.run("nations", "filtered", name) for name in names])
    told = [one for one in table.remarks() if "tie with other entities" in one]
    assert told == ["answers that tie with other entities: relation-frequency 40%"]
