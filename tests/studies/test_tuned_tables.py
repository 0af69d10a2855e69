"""A table whose methods are tuned: by the metric of the column, over the published grid."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from trueedge import methods, studies
from trueedge.cli import app
from trueedge.studies.grids import published_grid
from trueedge.studies.printed_tables import PrintedTable, selected_by
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import Plan, Study, Tuning

pytest.importorskip("torch")


def value(method: str, metric: str) -> PublishedValue:
    return PublishedValue("x", "karate", "existing", method, metric, 50.0, 1.0, "")


def table(*values: PublishedValue) -> PrintedTable:
    return PrintedTable("x", values, lambda one: one.protocol, selected_by, seeds=2, grid="heart")


QUICK = Plan(tuning=Tuning(trials=2), settings={"epochs": 1})


def test_the_grid_of_citeseer_is_that_of_table_8() -> None:
    grid = published_grid("heart", "citeseer", methods.create("gcn", {}))
    assert grid == {
        "learning_rate": (0.01, 0.001),
        "dropout": (0.1, 0.3, 0.5),
        "weight_decay": (1e-4, 1e-7, 0),
        "layers": (1, 2, 3),
        "predictor_layers": (1, 2, 3),
        "dim": (128, 256),
    }


def test_ogb_has_a_small_grid_and_some_methods_exceptions() -> None:
    ddi = published_grid("heart", "ogbl-ddi", methods.create("gcn", {}))
    assert {name: values for name, values in ddi.items() if len(values) > 1} == {
        "learning_rate": (0.01, 0.001),
        "dropout": (0, 0.3, 0.5),
    }
    assert published_grid("heart", "ogbl-ddi", methods.create("ncn", {}))["layers"] == (1,)
    assert published_grid("heart", "citeseer", methods.create("nbfnet", {}))["weight_decay"] == (0,)


def test_what_the_paper_did_not_search_keeps_its_value() -> None:
    grid = published_grid("heart", "citeseer", methods.create("node2vec", {}))
    assert (grid["p"], grid["q"]) == ((1.0,), (1.0,))
    assert published_grid("nobody", "citeseer", methods.create("gcn", {})) == {}


def test_each_column_is_tuned_and_selected_by_its_own_metric() -> None:
    finding = table(value("gcn", "auc"), value("gcn", "mrr")).run(QUICK)
    assert [row.metric for row in finding.rows] == ["auc", "mrr"]
    for row in finding.rows:
        assert row.tuned.startswith(f"tuned by validation {row.metric}: 2 trials (at random from 324 points")
        assert "then the best settings with 2 seeds" in row.tuned
        assert row.seeds == 2


def test_records_of_a_column_were_selected_by_its_metric() -> None:
    plan = Plan(tuning=Tuning(trials=2), settings={"epochs": 1})
    table(value("gcn", "auc")).run(plan)
    assert {record.settings["select"] for record in plan.used} == {"auc"}


def test_heuristics_are_left_to_the_plain_table() -> None:
    with pytest.raises(studies.study.InputError, match="nothing of x could be run"):
        table(value("cn", "auc")).run(QUICK)


def test_a_search_that_fails_is_named_and_the_others_run() -> None:
    finding = table(value("mlp", "auc"), value("gcn", "auc")).run(QUICK)
    assert [row.method for row in finding.rows] == ["gcn"]
    assert finding.missing[0].startswith("mlp on karate under existing, by auc: ")


def test_evidence_says_how_it_was_tuned(tmp_path) -> None:
    study = Study(name="x", title="t", citation="c", decimals=2, run=table(value("gcn", "auc")).run)
    path = studies.write(study, study.run(QUICK), tmp_path / "x.json")
    (row,) = json.loads(path.read_text())["rows"]
    assert "best: learning_rate" in row["tuned"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["heart/figure-2", "--tuned"], "has no published grid to search: remove --tuned"),
        (["heart/table-1", "--trials", "3"], "--trials is for --tuned"),
        (["heart/figure-2", "--metric", "mrr"], "has all its metrics at once: remove --metric"),
        (["heart/table-1", "--metric", "mr"], "metric of heart/table-1"),
        (["heart/table-1", "--tuned", "--share", "1/2"], "remove --share"),
    ],
)
def test_wrong_words_are_one_sentence(words: list[str], said: str, tmp_path) -> None:
    result = CliRunner().invoke(app.app, ["reproduce", *words, "--runs", str(tmp_path)])
    assert result.exit_code != 0
    assert said in " ".join((result.output + str(result.exception)).split())
