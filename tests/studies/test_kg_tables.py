"""The tables of KG-Mixup and TAGNet: every printed number has a method and a data set of ours."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import trueedge as te
from trueedge import datasets, methods
from trueedge.errors import InputError
from trueedge.studies import Plan
from trueedge.studies.kgmixup import budgets, equal_steps
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


@pytest.mark.parametrize("dataset", budgets.SIZES)
@pytest.mark.parametrize("model", equal_steps.MODELS)
def test_all_methods_take_the_same_number_of_steps(dataset: str, model: str) -> None:
    for addition in equal_steps.ADDITIONS:
        taken = budgets.steps_of(dataset, model + addition)
        assert abs(taken / budgets.STEPS - 1) < 0.015, addition
        chosen = equal_steps._method(dataset, model + addition, Plan())
        assert chosen.patience >= chosen.epochs


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("kg/CoDEx-M")
def test_the_steps_of_an_epoch_are_those_of_the_training() -> None:
    rows = te.task("codex-m", "filtered").graph.both_directions.astype(np.int64)
    head, relation = rows[:, 0], rows[:, 1]
    assert budgets.SIZES["codex-m"] == (len(np.unique(head << 32 | relation)), len(rows))


@pytest.mark.parametrize("dataset", budgets.SIZES)
@pytest.mark.parametrize("model", equal_steps.MODELS)
def test_pre_training_is_the_first_part_of_the_training_of_the_model_alone(dataset: str, model: str) -> None:
    task = SimpleNamespace(dataset=dataset, protocol="filtered")
    mixed, alone = (
        equal_steps._method(dataset, name, Plan()).for_task(task) for name in (f"{model}+kgmixup", model)
    )
    theirs = methods.create(model).for_task(task)
    assert alone.batch_size == 4 * theirs.batch_size
    assert 2 <= alone.learning_rate / theirs.learning_rate <= 4
    same = set(mixed.pretrained) - {"epochs"}
    assert same >= {"batch_size", "learning_rate", "decay", "label_smoothing", "objective", "dropout_1"}
    for name in sorted(same):
        assert getattr(mixed, f"pretrain_{name}") == getattr(alone, name), name
    for name in ("label_smoothing", "objective", "dropout_1", "dropout_2", "dropout_3"):
        assert getattr(alone, name) == getattr(theirs, name), name
    assert mixed.pretrain_epochs < alone.epochs


def test_gains_are_paired_differences_of_rare_answers() -> None:
    rng = np.random.default_rng(0)
    inside = np.arange(300) % 3 == 0
    alone, mixed = (rng.random(300) for _ in range(2))
    first, second = ([fake_record(values)] for values in (mixed, alone))
    found = equal_steps.difference_of(first, second, inside)
    gaps = 100 * (mixed - alone)[inside]
    assert found.value == pytest.approx(gaps.mean())
    # Student's quantile for 99 degrees of freedom.
    assert found.high - found.value == pytest.approx(1.984 * gaps.std(ddof=1) / 10, rel=1e-3)


def test_each_method_is_compared_with_its_model_and_kgmixup_also_without_mixing(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    monkeypatch.setattr(equal_steps, "in_group", lambda dataset, group: np.arange(50) < 20)
    names = ("tucker", "tucker+focal", "tucker+kgmixup/swa", "tucker+kgmixup")
    found = {name: [fake_record(rng.random(50))] for name in names}
    theirs = {("fb15k-237", "tucker", "mrr low"): 14.0, ("fb15k-237", "tucker+focal", "mrr low"): 15.5}
    rows = {
        name: {row.metric: row for row in equal_steps._rows("fb15k-237", name, found, theirs)}
        for name in names
    }
    assert "gain low" not in rows["tucker"]
    assert rows["tucker+focal"]["gain low"].theirs == 1.5
    for name in names[1:]:
        one = rows[name]
        assert one["gain low"].ours == pytest.approx(one["mrr low"].ours - rows["tucker"]["mrr low"].ours)
        assert one["gain low from"].ours < one["gain low"].ours < one["gain low to"].ours
        assert ("mixing low" in one) == (name == "tucker+kgmixup")
    mixed, without = rows["tucker+kgmixup"], rows["tucker+kgmixup/swa"]
    assert mixed["mixing low"].ours == pytest.approx(mixed["mrr low"].ours - without["mrr low"].ours)


def fake_record(values: np.ndarray) -> SimpleNamespace:
    """Return what the study reads of a record."""
    return SimpleNamespace(
        **dict.fromkeys(("method", "dataset", "protocol", "seed"), "a"),
        units=[values],
        test={"mrr": float(values.mean()), "ece": 0.1},
        unit_values=lambda metric: values,
    )


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


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("kg/WN18RR")
def test_the_distances_and_degrees_of_wn18rr_are_the_published_ones() -> None:
    values = [value for value in published("tagnet") if value.table in messages.TABLES[1:]]
    rows = [messages._row(value) for value in values if value.dataset == "wn18rr"]
    assert len(rows) == 7
    # Printed without decimals, and 2.1.
    assert all(abs(row.difference or 0.0) <= 0.55 for row in rows)


def test_a_method_without_a_metric_of_its_own_is_selected_by_the_headline_metric() -> None:
    table = PrintedTable("table", PATHS, tagnet._protocol, tagnet._method, 2)
    values = [value for value in PATHS if value.dataset == "wn18rr-v3" and value.method == "tagnet/specific"]
    assert [table._selections([value], Plan()) for value in values] == [[""]] * len(values)
    assert values
