"""A table whose methods are tuned: by the metric of the column, over the published grid."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from trueedge import methods, studies
from trueedge.cli import app
from trueedge.results import Store
from trueedge.runs import StoredOnly
from trueedge.studies.grids import published_grid
from trueedge.studies.printed_tables import PrintedTable, selected_by
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import Plan, Study, Tuning
from trueedge.studies.tuned_tables import Search, _Running

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


def shared_table(*values: PublishedValue) -> PrintedTable:
    return PrintedTable(
        *("x", values, lambda one: one.protocol, lambda one: selected_by(one, stop="mrr")),
        seeds=2,
        grid="heart",
        further=lambda _: ["hits@1"],
    )


def test_columns_that_stop_alike_are_one_search(tmp_path) -> None:
    plan = replace(QUICK, store=Store(tmp_path), used=[])
    finding = shared_table(value("gcn", "auc"), value("gcn", "mrr")).run(plan)
    assert [(row.metric, row.seeds) for row in finding.rows] == [("auc", 2), ("mrr", 2)]
    trained = [one for one in plan.used if "training shared with" not in one.provenance]
    trials = [one for one in trained if "test" not in one.metrics]
    assert len(trials) == 3
    finals = [one for one in plan.used if "test" in one.metrics]
    assert sorted(one.settings["select"] for one in finals) == ["auc"] * 2 + ["hits@1"] * 2 + ["mrr"] * 2


def test_a_metric_gets_the_settings_that_are_best_by_it_on_validation() -> None:
    plan = Plan(tuning=Tuning(trials=6), settings={"epochs": 3})
    shared_table(value("gcn", "auc"), value("gcn", "mrr")).run(plan)
    searched = ("learning_rate", "dropout", "weight_decay", "layers", "predictor_layers", "dim")
    for metric in ("auc", "mrr", "hits@1"):
        own = [one for one in plan.used if one.settings["select"] == metric]
        trials = [one for one in own if "test" not in one.metrics]
        best = max(one.metrics["valid"][metric] for one in trials)
        winners = [one for one in trials if one.metrics["valid"][metric] == best]
        chosen = {tuple(one.settings[key] for key in searched) for one in own if "test" in one.metrics}
        assert len(chosen) == 1
        assert chosen <= {tuple(one.settings[key] for key in searched) for one in winners}


def test_trials_of_several_seeds_are_compared_by_their_mean() -> None:
    plan = Plan(tuning=Tuning(trials=4, trial_seeds=3), settings={"epochs": 2})
    finding = shared_table(value("gcn", "mrr")).run(plan)
    assert "trials compared by the mean of 3 seeds" in finding.rows[0].tuned
    searched = ("learning_rate", "dropout", "weight_decay", "layers", "predictor_layers", "dim")
    own = [one for one in plan.used if one.settings["select"] == "mrr"]
    by_settings: dict[tuple[object, ...], list[float]] = {}
    for one in own:
        if "test" not in one.metrics:
            place = tuple(one.settings[key] for key in searched)
            by_settings.setdefault(place, []).append(one.metrics["valid"]["mrr"])
    assert {len(values) for values in by_settings.values()} == {3}
    trial_seeds = {one.seed for one in own if "test" not in one.metrics}
    finals = [one for one in own if "test" in one.metrics]
    assert not trial_seeds & {one.seed for one in finals}
    means = {place: sum(values) / 3 for place, values in by_settings.items()}
    assert all(means[tuple(one.settings[key] for key in searched)] == max(means.values()) for one in finals)


def test_a_trial_with_a_failed_seed_is_not_compared_with_complete_ones() -> None:
    method = methods.create("gcn", {"epochs": 1})
    search = Search("karate", "existing", method, ("mrr",), {"learning_rate": (0.01, 0.001)}, {})
    running = _Running(search, 2, Plan(tuning=Tuning(trials=2, trial_seeds=2)))
    while running.trials:
        running.next_cell()
    running.values = {-1: {"mrr": {0: 0.9}}, 0: {"mrr": {0: 0.5, 3: 0.3}}, 1: {"mrr": {0: 0.4, 3: 0.2}}}
    assert running._best("mrr") == 0
    assert "2 trials with 2 seeds each" in running._said("mrr")
    assert "at most 6 runs" in running._said("mrr")
    assert "1 of the trials without all their seeds" in running._said("mrr")


@pytest.mark.parametrize("given", [{"trials": 0}, {"trial_seeds": 0}, {"trial_seeds": -1}, {"trials": 1.5}])
def test_a_tuning_without_trials_or_seeds_is_refused(given) -> None:
    with pytest.raises(studies.study.InputError, match=f"Tuning: {next(iter(given))} must be"):
        Tuning(**given)


def test_stored_records_say_what_is_known_so_far(tmp_path) -> None:
    one, other = value("gcn", "auc"), value("sage", "auc")
    plan = replace(QUICK, store=Store(tmp_path), used=[])
    first = shared_table(one).run(plan)
    second = shared_table(other, one).run(replace(plan, runner=StoredOnly()))
    assert [(row.method, row.ours) for row in second.rows] == [("gcn", first.rows[0].ours)]
    assert second.missing == ["sage on karate under existing, by auc, hits@1: it is not in the store"]


def test_a_study_without_stored_records_says_that_none_are_stored(trueedge) -> None:
    words = ("reproduce", "heart/table-4", "--stored")
    status, _, err = trueedge(*words, "--dataset", "citeseer", "-m", "cn")
    said = "nothing is stored for heart/table-4 in runs yet: run it without --stored first"
    assert (status, err) == (1, f"trueedge: {said}\n")
    for others in (("--engine", "dask"), ("--jobs", "2")):
        assert trueedge(*words, *others)[2] == f"trueedge: --stored runs nothing: remove {others[0]}\n"


def test_heuristics_are_left_to_the_plain_table() -> None:
    with pytest.raises(studies.study.InputError, match="there is no value for x"):
        table(value("cn", "auc")).run(QUICK)


def test_a_search_that_fails_is_named_and_the_others_run() -> None:
    finding = table(value("mlp", "auc"), value("gcn", "auc")).run(QUICK)
    assert [row.method for row in finding.rows] == ["gcn"]
    assert finding.missing[0].startswith("mlp on karate under existing, by auc: ")


def test_evidence_says_how_it_was_tuned(tmp_path) -> None:
    study = Study(name="x", title="t", citation="c", decimals=2, run=table(value("gcn", "auc")).run)
    path = studies.write(study, study.run(QUICK), tmp_path / "x.json")
    (row,) = json.loads(path.read_text())["rows"]
    assert "the published settings tried too; best: " in row["tuned"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["heart/figure-2", "--tuned"], "has no published grid to search: remove --tuned"),
        (["heart/table-1", "--trials", "3"], "--trials is for --tuned"),
        (["heart/table-1", "--trial-seeds", "3"], "--trial-seeds is for --tuned"),
        (["heart/figure-2", "--metric", "mrr"], "has all its metrics at once: remove --metric"),
        (["heart/table-1", "--metric", "mr"], "metric of heart/table-1"),
        (["heart/table-1", "--tuned", "--share", "1/2"], "remove --share"),
    ],
)
def test_wrong_words_are_one_sentence(words: list[str], said: str, tmp_path) -> None:
    result = CliRunner().invoke(app.app, ["reproduce", *words, "--runs", str(tmp_path)])
    assert result.exit_code != 0
    assert said in " ".join((result.output + str(result.exception)).split())
