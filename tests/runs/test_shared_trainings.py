"""One training for several selections gives the records of trainings of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trueedge import methods
from trueedge.errors import InputError
from trueedge.results import Record, Store
from trueedge.runs import Cell, drive, runner_for

pytest.importorskip("torch")

METRICS = ("mrr", "auc", "hits@1")


def cell(name: str = "gcn", **settings: object) -> Cell:
    chosen = {"select": "mrr", "stop": "mrr", "epochs": 8, "evaluate_every": 1, "patience": 2, "dim": 8}
    method = methods.create(name, {**chosen, **settings})
    return Cell("karate", "existing", method, seed=1, also_select=METRICS[1:])


def run(cells: list[Cell], store: Store | None = None, jobs: int = 1) -> list[Record]:
    found = []
    with runner_for(jobs) as runner:
        for _, outcome in drive(cells, store, runner):
            assert outcome.record is not None, outcome.reason
            found += [outcome.record, *outcome.others]
    return found


@pytest.mark.parametrize("name", ["gcn", "buddy", "node2vec"])
def test_shared_training_gives_the_records_of_trainings_of_their_own(name: str) -> None:
    shared = run([cell(name)])
    alone = run([replace(cell(name), also_select=()), *cell(name).others_selected()])
    assert [record.settings["select"] for record in shared] == list(METRICS)
    for one, other in zip(shared, alone, strict=True):
        assert (one.key, one.metrics, one.settings) == (other.key, other.metrics, other.settings)
        assert one.provenance["training"] == other.provenance["training"]
    assert {record.provenance.get("training shared with") for record in shared} == {None, shared[0].key}


def test_each_record_is_of_the_epoch_that_is_best_by_its_metric() -> None:
    for record in run([cell(epochs=30, patience=30, learning_rate=0.05)]):
        curve = record.provenance["training"]
        assert curve["metric"] == record.settings["select"]
        assert record.metrics["valid"][curve["metric"]] == max(value for _, value in curve["evaluations"])


def test_early_stopping_watches_its_own_metric() -> None:
    for record in run([cell(epochs=100, patience=1)]):
        epochs = len(record.provenance["training"]["losses"])
        assert epochs == len(
            run([replace(cell(epochs=100, patience=1), also_select=())])[0].provenance["training"]["losses"]
        )


def test_records_are_found_in_the_store_one_by_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fresh = run([cell()], store, jobs=2)
    assert not any(record.cached for record in fresh)
    assert all(record.cached for record in run([cell()], store))
    (third,) = run([cell().others_selected()[1]], store)
    assert third.cached
    assert third.metrics == fresh[2].metrics


def test_trainings_that_stop_by_their_own_metric_are_not_shared() -> None:
    with pytest.raises(InputError, match="set stop=mrr"):
        cell(stop="").check()
