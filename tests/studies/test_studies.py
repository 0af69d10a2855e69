"""Studies: published numbers are data, ours are measured."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from trueedge import studies
from trueedge.errors import InputError
from trueedge.runs import Cell
from trueedge.studies import Comparison, Finding, Plan, published


def test_the_published_values_are_read_as_printed() -> None:
    values = {(v.table, v.dataset, v.protocol, v.method, v.metric): v for v in published("heart")}
    katz = values["heart/table-1", "citeseer", "existing", "katz", "mrr"]
    assert (katz.mean, katz.std) == (38.16, None)
    gcn = values["heart/table-1", "cora", "existing", "gcn", "mrr"]
    assert (gcn.mean, gcn.std) == (32.50, 6.87)
    assert len(published("heart")) == 1359


def test_a_value_that_was_not_printed_has_its_reason() -> None:
    empty = [value for value in published("heart") if value.mean is None]
    assert empty
    assert all(value.note for value in empty)


def test_a_paper_nobody_transcribed_is_named() -> None:
    with pytest.raises(InputError, match="no-such-paper"):
        published("no-such-paper")


@pytest.mark.parametrize("study", studies.catalogue(), ids=lambda study: study.name)
def test_every_study_has_its_paper(study) -> None:
    assert study.citation
    assert study.title
    assert studies.get(study.name) is study


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(InputError, match="did you mean 'heart/table-"):
        studies.get("heart/tabel-1")
    with pytest.raises(InputError, match="did you mean 'citeseer'"):
        studies.get("heart/table-1").run(Plan(datasets=("citseer",)))
    with pytest.raises(InputError, match="method of heart/table-1"):
        studies.get("heart/table-1").run(Plan(methods=("oracle",)))


def test_a_study_without_its_data_says_what_to_put_where(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TRUEEDGE_DATA", str(tmp_path))
    monkeypatch.setenv("TRUEEDGE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"heart/citeseer/\w+\.txt"):
        studies.get("heart/table-1").run(Plan(datasets=("citeseer",), methods=("cn",)))
    with pytest.raises(InputError, match=r"published_auc\.csv"):
        studies.get("degree-bias/auc-uniform").run(Plan())


def test_numbers_nobody_published_stand_alone() -> None:
    finding = studies.get("planetoid/heart").run(Plan(datasets=("cora",), methods=("cn",)))
    assert {row.metric for row in finding.rows} == {"mrr", "hits@10", "auc"}
    assert all(row.theirs is None and row.difference is None for row in finding.rows)
    (place,) = finding.places
    assert place["device"] == "cpu"
    assert place["machine"]["cores"] >= 1


def test_a_trained_method_is_selected_by_the_metric_that_is_compared() -> None:
    from trueedge.studies.heart.tables import heart_method

    values = {(v.method, v.metric): v for v in published("heart") if v.table == "heart/table-1"}
    assert heart_method(values["gcn", "auc"]).select == "auc"
    assert heart_method(values["gcn", "mrr"]).select == "mrr"
    assert heart_method(values["cn", "mrr"]).settings() == {}


def test_evidence_is_added_to_and_a_row_that_is_run_again_keeps_its_place(tmp_path) -> None:
    study, path = studies.get("heart/table-1"), tmp_path / "table.json"
    first = [Comparison("citeseer", "p", name, "mrr", 1.0, 0.0, 1, 2.0) for name in ("cn", "aa")]
    again = [Comparison("citeseer", "p", name, "mrr", 3.0, 0.0, 1, 2.0) for name in ("cn", "ra")]
    studies.write(study, Finding(first, places=[{"device": "cpu"}]), path)
    studies.write(study, Finding(again, places=[{"device": "cuda"}]), path)
    card = json.loads(path.read_text())
    assert [(row["method"], row["ours"], row["run"]) for row in card["rows"]] == [
        ("cn", 3.0, 1),
        ("aa", 1.0, 0),
        ("ra", 3.0, 1),
    ]
    assert [run["places"] for run in card["runs"]] == [[{"device": "cpu"}], [{"device": "cuda"}]]
    # A run nothing is left of is not kept.
    studies.write(study, Finding([replace(row, ours=4.0) for row in (*first, *again)]), path)
    assert len(json.loads(path.read_text())["runs"]) == 1


def test_evidence_of_another_study_is_not_overwritten(tmp_path) -> None:
    path = tmp_path / "table.json"
    rows = [Comparison("citeseer", "p", "cn", "mrr", 1.0, 0.0, 1, 2.0)]
    studies.write(studies.get("heart/table-1"), Finding(rows), path)
    with pytest.raises(InputError, match="contains heart/table-1: write heart/table-4 to another file"):
        studies.write(studies.get("heart/table-4"), Finding(rows), path)
    path.write_text("[]")
    with pytest.raises(InputError, match="does not contain a study to add to"):
        studies.write(studies.get("heart/table-1"), Finding(rows), path)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": None},
        {"rows": "abc"},
        {"rows": {}},
        {"runs": None},
        {"runs": []},
        {"rows": [{"dataset": "citeseer"}]},
        {"rows": [{"dataset": "a", "protocol": "p", "method": "cn", "metric": "mrr", "run": 99}]},
        {"rows": [{"dataset": "a", "protocol": "p", "method": "cn", "metric": "mrr", "run": -1}]},
    ],
)
def test_evidence_that_is_damaged_is_not_added_to(tmp_path, change) -> None:
    study, path = studies.get("heart/table-1"), tmp_path / "table.json"
    studies.write(study, Finding([Comparison("citeseer", "p", "cn", "mrr", 1.0, 0.0, 1, 2.0)]), path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(InputError, match="does not contain a study to add to"):
        studies.check_evidence(study, path)


@pytest.mark.parametrize("seeds", [0, -1, 1.5, "a"])
def test_a_number_of_seeds_that_is_none_is_refused(seeds) -> None:
    with pytest.raises(InputError, match="seeds"):
        Plan(seeds=seeds)


def test_factors_say_which_records_keep_no_ranks(tmp_path, monkeypatch) -> None:
    from trueedge.results import Store
    from trueedge.studies import factors

    plan = Plan(datasets=("cora",), methods=("cn", "cosine"), store=Store(tmp_path))
    finding = studies.get("lpformer/factors").run(plan)
    assert {row.method for row in finding.rows} == {"cn", "cosine"}
    assert all(row.theirs is None for row in finding.rows)
    (figure,) = finding.figures
    assert [one.name for one in figure.series] == ["cn", "cosine"]
    drawn = {(one.name, x): y for one in figure.series for x, y in zip(one.x, one.y, strict=True)}
    named = {
        (row.method, row.metric.removeprefix("mrr, ").replace(" links)", ")")): row for row in finding.rows
    }
    assert drawn == {place: row.ours for place, row in named.items() if "none or several" not in place[1]}
    assert not any(one.low for one in figure.series)
    run_all = factors.run_all

    def forgetful(*given):
        records, failed = run_all(*given)
        return {
            key: [replace(r, units={}) if r.method == "cn" else r for r in found]
            for key, found in records.items()
        }, failed

    monkeypatch.setattr(factors, "run_all", forgetful)
    finding = factors._run(plan)
    assert {row.method for row in finding.rows} == {"cosine"}
    assert finding.missing == ["cn on cora: a record of an older version keeps no ranks"]


def test_the_bars_of_factors_have_the_spread_over_seeds() -> None:
    from trueedge.studies.factors import _figure

    def row(method: str, factor: str, mean: float, std: float, seeds: int) -> studies.Comparison:
        return studies.Comparison("cora", "existing", method, f"mrr, {factor} links)", mean, std, seeds, None)

    rows = [row("gcn", "local (20", 60.0, 5.0, 3), row("gcn", "none or several (9", 1.0, 0.0, 3)]
    rows += [row("cn", "local (20", 99.0, 0.0, 1), row("ncn", "local (20", 50.0, 4.0, 2)]
    figure = _figure("cora", rows)
    assert figure.note == "lines are ± a standard deviation over 2 to 3 seeds"
    (gcn, cn, ncn) = figure.series
    assert (gcn.x, gcn.low, gcn.high) == (("local (20)",), (55.0,), (65.0,))
    assert (cn.low, cn.high) == ((), ())
    assert (ncn.low, ncn.high) == ((46.0,), (54.0,))


def test_the_table_of_factors_has_a_line_for_each_method(tmp_path, monkeypatch) -> None:
    from trueedge.studies.factors import _figure

    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    import study_tables

    assert "No results are stored yet" in study_tables.factors_table(tmp_path)
    rows = [
        studies.Comparison("cora", "existing", method, f"mrr, {factor} links)", mean, std, seeds, None)
        for method, std, seeds in (("cn", 0.0, 1), ("gcn", 5.0, 3))
        for factor, mean in (("local (20", 60.0), ("none or several (9", 1.0))
    ]
    finding = studies.Finding(rows, figures=[_figure("cora", rows)])
    studies.write(studies.get("lpformer/factors"), finding, tmp_path / "lpformer-factors.json")
    lines = study_tables.factors_table(tmp_path).splitlines()
    assert lines[0] == "![MRR on cora on the links that only one factor predicts](factors-cora.svg)"
    assert "| cora, mrr | seeds | local (20 links) | none or several (9 links) |" in lines
    assert lines[-2:] == ["| `cn` | 1 | 60.0 | 1.0 |", "| `gcn` | 3 | 60.0 ± 5.0 | 1.0 ± 5.0 |"]


def test_damaged_ranks_are_named() -> None:
    import trueedge as te

    record = te.run("karate", "existing", "cn")
    assert record.ranks is not None
    assert (record.ranks >= 1).all()
    short = base64.b64encode(zlib.compress(b"abc")).decode()
    for text in ("!!!", "AAAA", short):
        with pytest.raises(InputError, match="in the record of cn on karate are damaged"):
            _ = replace(record, units={"unit": "positive", "packed_ranks": text}).ranks


@pytest.mark.rotating(4, group="published numbers")
@pytest.mark.data("wikipedia")
def test_how_much_an_mrr_owes_to_few_negatives_stands_beside_it(data_folder, tmp_path, monkeypatch) -> None:
    from trueedge.results import Store
    from trueedge.studies.lpformer import tables as lpformer

    monkeypatch.setitem(lpformer.HETEROPHILIC, "chameleon", {"epochs": 1, "evaluate_every": 1})
    store = Store(tmp_path)
    plan = Plan(datasets=("chameleon",), methods=("gcn",), seeds=2, store=store)
    finding = studies.get("lpformer/heterophilic").run(plan)
    values = {row.metric: row for row in finding.rows}
    assert list(values) == [
        "mrr",
        "mrr without the 1 highest negative",
        "mrr without the 3 highest negatives",
        "mrr without the 10 highest negatives",
    ]
    ours = [row.ours for row in finding.rows]
    assert ours == sorted(ours)
    assert [row.theirs is None for row in finding.rows] == [False, True, True, True]
    one = values["mrr without the 1 highest negative"]
    expected = [100 / max(rank - 1, 1) for record in store.records() for rank in record.ranks]
    assert one.ours == pytest.approx(sum(expected) / len(expected))
    assert one.seeds == 2


@pytest.mark.data("planetoid", "heart/citeseer")
@pytest.mark.rotating(4, group="processes")
def test_a_study_in_several_processes_comes_to_the_same(data_folder, tmp_path) -> None:
    from trueedge.results import Store

    study = studies.get("heart/table-1")
    rows = []
    for jobs in (1, 2):
        store = Store(tmp_path / str(jobs))
        plan = Plan(datasets=("citeseer",), methods=("cn", "ra", "aa"), store=store, jobs=jobs)
        rows.append(study.run(plan).rows)
        assert len(store) == 3
    assert rows[0] == rows[1]


@pytest.mark.parametrize("jobs", [0, -2, 1.5])
def test_a_number_of_processes_that_is_none_is_refused(jobs) -> None:
    with pytest.raises(InputError, match="jobs"):
        Plan(jobs=jobs)


def test_only_studies_that_count_or_watch_themselves_run_in_one_process() -> None:
    figures = {
        "heart": (1, 2, 3, 4, 5, 6, 7),
        "degree-bias": ("1b", "1c", "1e", 4, 5, 6, 8, 15),
    }
    expected = {f"{paper}/figure-{number}" for paper, numbers in figures.items() for number in numbers}
    found = {study.name for study in studies.catalogue() if study.one_process}
    assert found == {*expected, "degree-bias/networks", "degree-bias/table-2", "hgb/cost"}


@pytest.mark.parametrize(
    ("study", "dataset", "method"),
    [("planetoid/heart", "cora", "gcn"), ("lpformer/factors", "cora", "gcn")],
)
def test_settings_reach_the_methods_of_a_study(monkeypatch, study, dataset, method) -> None:
    seen: list[Cell] = []

    def run_all(cells, plan, total=None):
        seen.extend(cells)
        return {}, []

    for room in ("study", "factors"):
        monkeypatch.setattr(f"trueedge.studies.{room}.run_all", run_all)
    plan = Plan(datasets=(dataset,), methods=(method,), seeds=1, settings={"epochs": 3})
    with pytest.raises(InputError):
        studies.get(study).run(plan)
    assert [cell.method.epochs for cell in seen] == [3]
