"""Two kinds of tasks and a metric of one's own, in one file: everything else of trueedge works with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.tables import tables
from trueedge.methods.method import METHODS, Method
from trueedge.metrics import Metric, PairScores, Scores
from trueedge.metrics.metric import METRICS, register
from trueedge.metrics.scores import FORMS
from trueedge.metrics.units import plural
from trueedge.report import write
from trueedge.tasks import GraphTask, Task
from trueedge.tasks.base import KINDS

for known in (KINDS, METRICS, METHODS, FORMS):
    known.discover()


@dataclass(frozen=True, eq=False)
class LabelScores(Scores):
    form, layout = "labels", "labels"
    answers: np.ndarray
    labels: np.ndarray

    def arrays(self):
        return {"answers": self.answers, "labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]):
        return cls(arrays["answers"], arrays["labels"])


def distance(scores: LabelScores) -> np.ndarray:
    return 1.0 + np.abs(scores.answers - scores.labels)


register(
    Metric(
        pattern="label-distance", title="", layouts=("labels",), formula="", citation="", low=1.0,
        high=np.inf, higher_is_better=False, values=distance, shown="rank",
    )
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NodeTask(GraphTask):
    kind, title, unit, needs = "node-labels", "Node classification", "node", "nodes"
    labels: np.ndarray
    part_names = ("test",)

    def arrays(self):
        return {"labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays, **fields):
        return cls(labels=arrays["labels"], **fields)

    def questions(self, part):
        return np.arange(len(self.labels))

    def scores_of(self, part, answers):
        return LabelScores(answers, self.labels)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TripleTask(Task):
    kind, title, unit, needs = "tails", "Knowledge graph completion", "query", "candidates"
    triples: np.ndarray
    part_names = ("test",)

    def arrays(self):
        return {"triples": self.triples}

    @classmethod
    def from_arrays(cls, arrays, **fields):
        return cls(triples=arrays["triples"], **fields)

    def questions(self, part):
        return self.triples[:, :2]

    def scores_of(self, part, answers):
        rows = np.arange(len(answers))
        others = np.delete(answers, 0, axis=1) + 0.0 * rows[:, None]
        return PairScores.check(answers[rows, self.triples[:, 2]], others)


class Guess(Method):
    family: ClassVar[str] = "own"
    shift = 0

    def fit(self, task, seed=0, device="cpu"):
        if isinstance(task, NodeTask):
            return np.random.default_rng(seed).permutation(task.labels) * (self.shift + 1)
        return lambda queries: np.sin(np.add.outer(queries.sum(axis=1), 3.0 * np.arange(9)) + self.shift)


One, Two = (type(name, (Guess,), {"name": name, "title": name, "citation": "", "shift": n}) for n, name in enumerate(("one", "two")))  # fmt: skip  # noqa: E501
FIELDS = {"dataset": "toy", "protocol": "own", "seed": 0}


@pytest.mark.parametrize("kind", [NodeTask, TripleTask])
def test_a_new_kind_goes_all_the_way(kind, random_graph, tmp_path) -> None:
    rng = np.random.default_rng(0)
    if kind is NodeTask:
        shared = {"graph": random_graph(0), "labels": rng.integers(0, 5, 30)}
        task = NodeTask(metrics=("label-distance",), headline="label-distance", **shared, **FIELDS)
    else:
        task = TripleTask(
            triples=rng.integers(0, 9, (40, 3)), metrics=("mrr", "hits@3"), headline="mrr", **FIELDS
        )
    again = te.load_task(task.save(tmp_path / "task"))
    assert (again.hash, type(again)) == (task.hash, kind)
    store = te.Store(tmp_path / "runs")
    records = [
        te.run(task, method=one(), seed=s, store=store, keep_scores=True)
        for one in (One, Two)
        for s in (0, 1)
    ]
    assert {record.kind for record in store.records()} == {kind.kind}
    (table,) = tables(store.records())
    assert table.compared is not None
    assert table.compared.unit == kind.unit
    assert f"test {plural(kind.unit)}" in " ".join(table.remarks())
    page = write(store.records(), tmp_path / "page.html").read_text()
    assert kind.title in page
    assert "Link prediction" not in page
    card = te.certify(records[0], tmp_path / "one.json", store)
    assert te.verify(card, again).ok
    assert te.check_scorer(One().fit(task), task).ok
