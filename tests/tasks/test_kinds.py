"""Two kinds of tasks and a metric of one's own, in one file: everything else of trueedge works with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.tables import tables
from trueedge.metrics import Metric, PairScores, Scores
from trueedge.metrics.metric import METRICS, register
from trueedge.metrics.units import plural
from trueedge.tasks import GraphTask, Task


@dataclass(frozen=True, eq=False)
class LabelScores(Scores):
    form, layout = "labels", "labels"
    answers: np.ndarray
    labels: np.ndarray

    def arrays(self):
        return {"answers": self.answers, "labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays):
        return cls(arrays["answers"], arrays["labels"])

    def distance(self):
        return 1.0 + np.abs(self.answers - self.labels)


WORDS = {"title": "distance of labels", "formula": "1 + |answer - label|", "citation": "none"}
FAR = {"high": np.inf, "higher_is_better": False, "values": LabelScores.distance, "shown": "rank"}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class NodeTask(GraphTask):
    kind, title, unit, needs, part_names = "labels", "Node classification", "node", "nodes", ("test",)
    labels: np.ndarray

    def arrays(self):
        return {"labels": self.labels}

    @classmethod
    def from_arrays(cls, arrays, **fields):
        return cls(labels=arrays["labels"], **fields)

    def questions(self, part):
        return np.arange(len(self.labels))

    def scores_of(self, part, answers):
        return LabelScores(answers, self.labels)

    def truth(self, part):
        return self.arrays()


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TripleTask(Task):
    kind, title, unit, needs, part_names = "tails", "Completion", "query", "candidates", ("test",)
    triples: np.ndarray

    def arrays(self):
        return {"triples": self.triples}

    @classmethod
    def from_arrays(cls, arrays, **fields):
        return cls(triples=arrays["triples"], **fields)

    def questions(self, part):
        return self.triples[:, :2]

    def scores_of(self, part, answers):
        return PairScores.check(answers[np.arange(len(answers)), self.triples[:, 2]], answers)


@dataclass(frozen=True)
class Guess(te.methods.Method):
    title = family = citation = "guess"
    shift: int = te.methods.setting(0, "what is added")

    def fit(self, task, seed=0, device="cpu"):
        if isinstance(task, NodeTask):
            return np.random.default_rng(seed).permutation(task.labels) * (self.shift + 1)
        return lambda queries: np.sin(np.add.outer(queries.sum(axis=1), 3.0 * np.arange(9)) + self.shift)


Guess.name = "guess"


@pytest.mark.parametrize("kind", [NodeTask, TripleTask])
def test_a_new_kind_goes_all_the_way(kind, random_graph, tmp_path) -> None:
    rng = np.random.default_rng(0)
    own = {"triples": rng.integers(0, 9, (40, 3)), "metrics": ("mrr", "hits@3")}
    if kind is NodeTask:
        own = {"graph": random_graph(0), "labels": rng.integers(0, 5, 30), "metrics": ("distance",)}
    with METRICS.restored():
        register(Metric(pattern="distance", layouts=("labels",), **WORDS, **FAR))
        task = kind(dataset="toy", protocol="own", seed=0, headline=own["metrics"][0], **own)
        again = te.load_task(task.save(tmp_path / "task"))
        assert (again.hash, type(again)) == (task.hash, kind)
        store = te.Store(tmp_path / "runs")
        for shift, seed in np.ndindex(2, 2):
            record = te.run(task, method=Guess(shift), seed=seed, store=store, keep_scores=True)
        assert {one.kind for one in store.records()} == {kind.kind}
        (table,) = tables(store.records())
        assert getattr(table.compared, "unit", None) == kind.unit
        assert f"test {plural(kind.unit)}" in " ".join(table.remarks())
        assert te.verify(te.certify(record, tmp_path / "one.json", store), again).ok
        assert te.check_scorer(Guess().fit(task), task).ok
        page = te.report.write(store.records(), tmp_path / "page.html").read_text()
        assert kind.title in page
        assert "Link prediction" not in page
