"""The tables of KG-Mixup and TAGNet: every printed number has a method and a data set of ours."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import trueedge as te
from trueedge import datasets, methods
from trueedge.errors import InputError
from trueedge.studies import Plan
from trueedge.studies.kgmixup import tables as kgmixup
from trueedge.studies.printed_tables import PrintedTable
from trueedge.studies.published_values import published
from trueedge.studies.tagnet import messages
from trueedge.studies.tagnet import tables as tagnet

QUICK = {"epochs": 1, "pretrain_epochs": 1, "batch_size": 512, "average_from": 1}
MIXUP = [
    kgmixup._ours(value)
    for value in published("kgmixup")
    if value.table in kgmixup.TABLES and value.mean is not None
]
PATHS = [tagnet._ours(value) for value in published("tagnet") if value.table in tagnet.TABLES]


def test_every_printed_number_has_a_method_and_a_data_set() -> None:
    for value in MIXUP:
        assert datasets.get(value.dataset).data == "triples"
        assert kgmixup._method(value).name == value.method.partition("/")[0]
    for value in PATHS:
        assert datasets.get(value.dataset).protocol == tagnet._protocol(value)
        assert tagnet._method(value).takes == ("triples",)


def test_the_parts_of_kgmixup_are_taken_out_one_by_one() -> None:
    found = {value.method: kgmixup._method(value) for value in MIXUP if value.table == "kgmixup/table-4.4"}
    assert found["conve+kgmixup/swa"].synthetic_weight == 0.0
    assert found["conve+kgmixup/augmentation"].average_from == 0
    assert found["conve+kgmixup"].synthetic_weight is None
    assert set(found) >= {"tucker", "tucker+kgmixup", "tucker+kgmixup/swa", "tucker+kgmixup/augmentation"}


@pytest.mark.parametrize("dataset", ["fb15k-237", "codex-m", "nell-995"])
@pytest.mark.parametrize("model", ["conve", "tucker"])
def test_pre_training_is_as_published_but_shorter_and_in_larger_batches(dataset: str, model: str) -> None:
    (value,) = {
        replace(value, metric="mrr", mean=0.0, table="kgmixup/table-4.1")
        for value in MIXUP
        if (value.dataset, value.method, value.metric) == (dataset, f"{model}+kgmixup", "mrr")
    }
    task = SimpleNamespace(dataset=dataset, protocol="filtered")
    mixed = kgmixup._method(value).for_task(task)
    alone = kgmixup._method(replace(value, method=model)).for_task(task)
    theirs = methods.create(model).for_task(task)
    assert alone.batch_size == 4 * theirs.batch_size
    assert alone.learning_rate == 2 * theirs.learning_rate
    same = set(mixed.pretrained) - {"epochs", "evaluate_every", "patience"}
    assert same >= {"batch_size", "learning_rate", "decay", "label_smoothing", "objective", "dropout_1"}
    for name in sorted(same):
        assert getattr(mixed, f"pretrain_{name}") == getattr(alone, name), name
        if name not in ("batch_size", "learning_rate"):
            assert getattr(alone, name) == getattr(theirs, name), name
    assert mixed.pretrain_epochs < alone.epochs


@pytest.mark.parametrize("table", ["kgmixup/table-4.2", "kgmixup/table-4.5"])
def test_groups_of_degrees_are_means_over_their_queries(table: str, tmp_path) -> None:
    pytest.importorskip("torch")
    asked = [
        replace(value, dataset="nations")
        for value in MIXUP
        if value.table == table and value.dataset == "codex-m" and value.method == "conve"
    ]
    plan = Plan(store=te.Store(tmp_path), settings=QUICK)
    study = PrintedTable(table, asked, lambda _: "filtered", kgmixup._method, 1, measure=kgmixup._measure)
    rows = {row.metric: row for row in study.run(plan).rows}
    (record,) = {record.key: record for record in plan.used}.values()
    task = te.task("nations")
    assert record.settings["epochs"] == 1
    if table == "kgmixup/table-4.5":
        assert rows["ece"].ours == record.test["ece"]
        assert rows["ece low"].ours == record.test["ece-low"]
        return
    values, degrees = record.unit_values("mrr"), task.degrees("test")
    for name, low, high in (("zero", 0, 1), ("low", 1, 10), ("medium", 10, 50)):
        inside = (degrees >= low) & (degrees < high)
        assert "mrr high" not in rows
        assert rows[f"mrr {name}"].ours == pytest.approx(100 * values[inside].mean())


def test_a_plan_changes_settings_of_methods_that_have_them() -> None:
    plan = Plan(settings={"epochs": 3})
    assert plan.with_settings(methods.create("conve")).epochs == 3
    assert plan.with_settings(methods.create("entity-degree")) == methods.create("entity-degree")
    with pytest.raises(InputError, match="epochs"):
        Plan(settings={"epochs": 0}).with_settings(methods.create("conve"))


@pytest.mark.data("kg/WN18RR")
def test_the_distances_and_degrees_of_wn18rr_are_the_published_ones() -> None:
    values = [value for value in published("tagnet") if value.table in messages.TABLES[1:]]
    rows = [messages._row(value) for value in values if value.dataset == "wn18rr"]
    assert len(rows) == 7
    # Printed without decimals, and 2.1.
    assert all(abs(row.difference or 0.0) <= 0.55 for row in rows)
