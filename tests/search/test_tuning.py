"""A search: trials never see the test part, no cell is trained twice, a killed search goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.errors import InputError
from trueedge.metrics import UnitValues
from trueedge.results.packed_units import pack
from trueedge.runs import Cell
from trueedge.search import tune
from trueedge.search.tuning import Trial

sys.path.insert(0, str(Path(__file__).parent))

OWN = Path(__file__).parent / "counted_method.py"
# A search in a process of its own, as a user's script would run it.
SCRIPT = """
import json, sys
sys.path.insert(0, {folder!r})
import trueedge as te
from counted_method import Counted

if __name__ == "__main__":
    found = te.search.tune("karate", "existing", Counted(), store=te.Store("runs"), **json.loads(sys.argv[1]))
    values = [trial.value for trial in found.trials]
    print(json.dumps([found.settings, values, [record.value for record in found.records], found.fresh]))
"""


@pytest.fixture(autouse=True)
def counted(monkeypatch, tmp_path):
    """The method, and what it was fitted with; it leaves the catalogue after the test."""
    from trueedge.methods import method

    method.METHODS.discover()
    monkeypatch.setattr(method.METHODS, "_entries", dict(method.METHODS._entries))
    monkeypatch.setenv("COUNTED_FITS", str(tmp_path / "fits.txt"))
    from counted_method import Counted

    return Counted()


@pytest.fixture
def fits(tmp_path):
    def read() -> list[str]:
        path = tmp_path / "fits.txt"
        return path.read_text().splitlines() if path.exists() else []

    return read


def start(folder: Path, **arguments: object) -> subprocess.Popen[str]:
    (folder / "search.py").write_text(SCRIPT.format(folder=str(OWN.parent)))
    return subprocess.Popen(
        [sys.executable, "search.py", json.dumps(arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COUNTED_FITS": str(folder / "fits.txt")},
    )


def finish(process: subprocess.Popen[str]) -> list:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.parametrize("search", ["grid", "tpe"])
def test_the_winner_is_best_on_validation_and_runs_with_seeds_of_its_own(search, counted, fits, tmp_path):
    if search == "tpe":
        pytest.importorskip("optuna")
    store = te.Store(tmp_path / "runs")
    found = tune(
        "karate", "existing", counted, trials=5, search=search, seeds=3, seed=2, metric="auc", store=store
    )
    assert len(found.trials) == len({json.dumps(trial.settings) for trial in found.trials}) == 5
    assert found.best[0].value == max(trial.value for trial in found.trials)
    assert found.settings == found.best[0].settings
    assert [record.seed for record in found.records] == [3, 4, 5]
    assert {record.task_seed for record in found.records} == {2}
    assert all(set(trial.record.metrics) == {"valid"} for trial in found.trials)
    assert all(set(record.metrics) == {"valid", "test"} for record in found.records)
    assert all(found.settings.items() <= dict(record.settings).items() for record in found.records)
    assert len(store) == len(fits()) == found.fresh == 8
    assert len(set(fits())) == 8


def test_the_value_of_a_trial_is_what_a_run_finds_on_validation(counted):
    found = tune("karate", "existing", counted, trials=2, seeds=1)
    trial = found.trials[1]
    run = te.run("karate", "existing", type(counted)(**trial.settings), seed=0)
    assert trial.value == run.metrics["valid"][run.headline]
    assert found.metric == run.headline


def test_a_trial_never_touches_the_test_part(counted, monkeypatch):
    asked = []
    original = te.LinkTask.part
    monkeypatch.setattr(
        te.LinkTask, "part", lambda self, name="test": asked.append(name) or original(self, name)
    )
    judged = []
    evaluate = te.LinkTask.evaluate

    def spy(self, scorer, part="test", metrics=None):
        judged.append(part)
        return evaluate(self, scorer, part, metrics)

    monkeypatch.setattr(te.LinkTask, "evaluate", spy)

    class StopError(Exception):
        pass

    def stop(self, winner):
        raise StopError

    with monkeypatch.context() as patch:
        patch.setattr("trueedge.search.tuning._Search._winners_cells", stop)
        with pytest.raises(StopError):
            tune("karate", "existing", counted, trials=12, seeds=2)
    assert judged == ["valid"] * 12
    assert set(asked) == {"valid"}
    tune("karate", "existing", counted, trials=1, seeds=2)
    assert judged[12:] == ["valid", "valid", "test", "valid", "test"]


def test_of_ranks_the_lowest_wins(counted, monkeypatch):
    whole = te.LinkTask.metrics_for
    monkeypatch.setattr(te.LinkTask, "metrics_for", lambda self, scores: (*whole(self, scores), "mr"))
    found = tune("karate", "existing", counted, trials=12, seeds=1, metric="mr")
    values = [trial.value for trial in found.trials]
    assert found.best[0].value == min(values) < max(values)
    assert found.settings == found.best[0].settings


def test_a_trial_and_a_run_are_different_requests(counted):
    whole = Cell("karate", "existing", counted)
    trial = Cell("karate", "existing", counted, parts=("valid",))
    assert whole.key != trial.key


def test_asked_again_nothing_is_trained_and_the_winner_is_the_same(counted, fits, tmp_path):
    store = te.Store(tmp_path / "runs")
    first, again = (
        tune("karate", "existing", counted, trials=6, seeds=2, search="grid", store=store) for _ in range(2)
    )
    assert again.settings == first.settings
    assert [record.to_dict() for record in again.records] == [record.to_dict() for record in first.records]
    assert (first.fresh, again.fresh, len(fits())) == (8, 0, 8)
    more = tune("karate", "existing", counted, trials=6, seeds=3, store=store)
    assert (more.fresh, len(fits())) == (1, 9)


@pytest.mark.rotating(4, group="processes")
def test_the_number_of_jobs_changes_nothing(counted, tmp_path):
    search = "tpe" if _has_optuna() else "grid"
    alone = tune("karate", "existing", counted, trials=6, seeds=2, search=search)
    beside = tmp_path / "beside"
    beside.mkdir()
    settings, values, tests, fresh = finish(start(beside, trials=6, seeds=2, search=search, jobs=2))
    assert settings == alone.settings
    assert values == [trial.value for trial in alone.trials]
    assert tests == [record.value for record in alone.records]
    assert fresh == len((beside / "fits.txt").read_text().splitlines()) == 8


@pytest.mark.exhaustive
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_search_goes_on_to_the_same_winner_and_trains_nothing_twice(tmp_path, jobs, monkeypatch):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    arguments = {"trials": 8, "seeds": 2, "search": "tpe" if _has_optuna() else "grid", "jobs": jobs}
    expected = finish(start(whole, **arguments))

    monkeypatch.setenv("COUNTED_SECONDS", "0.3")
    process = start(killed, **arguments)
    runs = killed / "runs" / "records.sqlite"
    deadline = time.monotonic() + 120
    while (not runs.exists() or len(te.Store(runs.parent)) < 3) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len(te.Store(runs.parent))
    assert 3 <= kept < 10
    # The workers end with it, and do not finish what nobody would hear of.
    time.sleep(1.0)
    begun = (killed / "fits.txt").read_text().splitlines()
    assert len(begun) <= kept + jobs
    monkeypatch.setenv("COUNTED_SECONDS", "0")
    settings, values, tests, fresh = finish(start(killed, **arguments))
    assert [settings, values, tests] == expected[:3]
    assert fresh == 10 - kept
    records = te.Store(runs.parent).records()
    assert len({record.key for record in records}) == len(records) == 10
    again = (killed / "fits.txt").read_text().splitlines()[len(begun) :]
    assert len(again) == 10 - kept


@pytest.mark.rotating(4, group="processes")
def test_a_worker_that_dies_costs_its_trial_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTED_END", "1")
    settings, values, tests, fresh = finish(start(tmp_path, trials=12, seeds=1, jobs=2))
    assert 0 < values.count(None) < 12
    assert settings["power"] != 0.5
    assert len(tests) == 1
    assert fresh == 12 - values.count(None) + 1


@pytest.mark.rotating(4, group="processes")
def test_an_error_of_the_method_itself_is_seen_from_a_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTED_SECONDS", "soon")
    process = start(tmp_path, trials=2, seeds=1, jobs=2)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "could not convert string to float: 'soon'" in err


def test_trials_that_cannot_be_run_are_told_and_the_others_compete(monkeypatch, counted):
    original = type(counted).fit

    def fit(self, task, seed=0, device="cpu"):
        if self.power < 0:
            raise InputError("no negative powers today")
        return original(self, task, seed, device)

    monkeypatch.setattr(type(counted), "fit", fit)
    found = tune("karate", "existing", counted, trials=12, seeds=1)
    failed = [trial for trial in found.trials if trial.value is None]
    assert {trial.settings["power"] for trial in failed} == {-2.0, -1.0}
    assert {trial.reason for trial in failed} == {"no negative powers today"}
    assert found.settings["power"] >= 0
    with pytest.raises(InputError, match="no trial of counted could be run: no negative powers"):
        tune("karate", "existing", counted, trials=4, seeds=1, space={"power": [-1.0, -2.0]})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"trials": 0}, "trials must be a whole number"),
        ({"seeds": 0}, "seeds must be a whole number"),
        ({"jobs": 1.5}, "jobs must be a whole number"),
        ({"search": "random"}, "no search is called 'random'"),
        ({"metric": "acu"}, "acu"),
        ({"metric": "ndcg@10"}, "no metric of karate under existing is called 'ndcg@10'"),
        ({"method": "cn"}, "cn has no setting to search"),
        ({"method": "gnc"}, "did you mean"),
        ({"device": "gpu"}, "device"),
        ({"seed": -1}, "seed"),
        ({"ration": 2}, "did you mean 'ratio'"),
        ({"settings": {"beta": 0.1}, "method": te.methods.create("katz")}, "settings"),
        ({"protocol": "uniform"}, "has no validation part: set valid=0.1"),
    ],
)
def test_bad_input_is_one_sentence(arguments, sentence):
    asked = {"protocol": "existing", "method": "katz", "trials": 2, "seeds": 1, **arguments}
    with pytest.raises(InputError, match=sentence) as caught:
        tune("karate", **asked)
    assert "\n" not in str(caught.value)


def test_a_task_that_is_made_already_is_searched_as_it_is(counted):
    task = te.task("karate", "existing", seed=4)
    found = tune(task, method=counted, trials=2, seeds=2)
    assert {record.provenance["task"] for record in found.records} == {task.hash}


def test_the_budget_is_said_before_anything_is_trained(counted, fits):
    told = []
    tune(
        "karate",
        "existing",
        counted,
        trials=5,
        seeds=2,
        announce=lambda b: told.append((str(b), len(fits()))),
    )
    ((sentence, fitted),) = told
    assert fitted == 0
    assert sentence.startswith(
        "5 trials (at random from 12 points: power 6, noise 2), then the best settings"
    )
    assert sentence.endswith("with 2 seeds: at most 7 runs")


def _has_optuna() -> bool:
    from importlib.util import find_spec

    return find_spec("optuna") is not None


def test_settings_that_cannot_be_told_apart_are_tied_and_few_validation_edges_are_said() -> None:
    found = tune("karate", "existing", "katz", seeds=1)
    assert found.units == 3
    assert found.tied == found.best[1:]
    small, tied = found.remarks()
    assert small.startswith("The validation part is too small to choose settings (3 positives")
    assert tied == "No significant difference between the best trial and any other trial"


def test_a_clearly_worse_setting_is_not_tied_with_the_best() -> None:
    found = tune("karate", "existing", "katz", seeds=1, trials=3)
    record = found.trials[0].record
    assert record is not None
    rng = np.random.default_rng(0)
    base = rng.random(200)
    rows = [base, base + 0.001 * rng.standard_normal(200), base - 0.3 * rng.random(200)]
    planted = [
        Trial(
            {"beta": number},
            float(row.mean()),
            replace(record, units=pack(UnitValues("positive", {"mrr": row}))),
        )
        for number, row in enumerate(rows)
    ]
    order = replace(found, trials=planted)
    assert {trial.settings["beta"] for trial in (order.best[0], *order.tied)} == {0, 1}
    assert order.remarks() == ["No significant difference between the best trial and the tied ones"]
    # Older records of trials have no values per unit: then only equal values are tied.
    bare = [replace(one, record=replace(record, units={})) for one in (*planted, planted[0])]
    equal = replace(found, trials=bare)
    assert equal.units == 0
    assert [trial.value for trial in equal.tied] in ([], [equal.best[0].value])


def test_trials_keep_their_values_per_validation_unit() -> None:
    found = tune("karate", "existing", "katz", seeds=1, trials=2)
    for trial in found.trials:
        assert trial.record is not None
        values = trial.record.unit_values(found.metric)
        assert values is not None
        assert values.mean() == pytest.approx(trial.value)


@pytest.mark.parametrize("made", [False, True], ids=["name", "task"])
def test_without_a_validation_part_the_error_names_the_option_that_makes_one(made: bool) -> None:
    source = te.task("karate", "degree-corrected") if made else "karate"
    with pytest.raises(InputError, match=r"no validation part: set valid=0\.1 \(--option valid=0\.1\)"):
        tune(source, "degree-corrected", "katz")
    if made:
        source = te.task("karate", "degree-corrected", valid=0.1)
    tuned = tune(source, "degree-corrected", "katz", trials=2, seeds=1, **({} if made else {"valid": 0.1}))
    assert len(tuned.trials) == 2
