"""Which published values have evidence, and which could have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trueedge import methods, studies
from trueedge.cli import app
from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.studies import missing
from trueedge.studies.missing import coverage
from trueedge.studies.printed_tables import PrintedTable, selected_by
from trueedge.studies.published_values import PublishedValue
from trueedge.studies.study import Study


def value(method: str, metric: str, dataset: str = "karate") -> PublishedValue:
    return PublishedValue("x", dataset, "existing", method, metric, 50.0, 1.0, "")


@pytest.fixture
def one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [
        value("cn", "auc"),
        value("gcn", "auc"),
        value("gcn", "mrr"),
        value("gcn/reported", "auc"),
        value("nobody", "auc"),
        value("cn", "auc", "ogbl-collab"),
    ]
    table = PrintedTable("x", values, lambda one: one.protocol, selected_by)
    study = Study(name="x", title="t", citation="c", decimals=2, run=table.run, table=lambda: table)
    monkeypatch.setattr(missing, "catalogue", lambda: (study,))
    monkeypatch.setattr(missing, "absent", lambda dataset, protocol: "gone" * (dataset == "ogbl-collab"))


def evidence(folder: Path, *rows: tuple[str, str]) -> None:
    card = {
        "study": "another table",
        "rows": [
            {"dataset": "karate", "protocol": "existing", "method": method, "metric": metric}
            for method, metric in rows
        ],
    }
    (folder / "y.json").write_text(json.dumps(card))


def test_cells_need_a_known_method_and_data(one_table: None, tmp_path: Path) -> None:
    found = coverage(tmp_path)
    assert (found.cells, found.with_evidence) == (4, 0)
    assert [(group.method, group.metrics) for group in found.missing] == [
        ("cn", ("auc",)),
        ("gcn", ("auc", "mrr")),
    ]


def test_a_cell_of_several_tables_is_listed_once(one_table: None, tmp_path: Path) -> None:
    evidence(tmp_path, ("cn", "auc"))
    found = coverage(tmp_path)
    # The value that is quoted as reported is another printed value, but no other value of ours.
    assert (found.cells, found.different) == (4, 3)
    assert (found.with_evidence, found.different_with_evidence) == (1, 1)
    assert [(group.method, group.metrics) for group in found.missing] == [("gcn", ("auc", "mrr"))]


def test_a_value_that_is_compared_again_in_another_way_is_no_published_value(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {group.method for group in coverage(Path(__file__).parents[2] / "results").missing}
    assert "lpformer/published-masks" not in names
    table = studies.get("lpformer/table-3.5").table
    assert table is not None
    again = [one for one in table().values if one.method == "lpformer/published-masks"]
    assert again
    study = Study(name="x", title="t", citation="c", decimals=2, run=table().run, table=lambda: kept)
    kept = replace(table(), values=again)
    monkeypatch.setattr(missing, "catalogue", lambda: (study,))
    monkeypatch.setattr(missing, "absent", lambda dataset, protocol: "")
    assert coverage(tmp_path).cells == 0


def test_a_training_that_several_tables_share_counts_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def method(one: PublishedValue) -> Method:
        return methods.create("gcn", {"stop": "auc", "select": one.metric})

    tables = [
        PrintedTable(name, [value("gcn", metric)], lambda one: one.protocol, method, seeds=2)
        for name, metric in (("x", "auc"), ("y", "mrr"))
    ]
    made = [
        Study(name=one.name, title="t", citation="c", decimals=2, run=one.run, table=lambda one=one: one)
        for one in tables
    ]
    monkeypatch.setattr(missing, "catalogue", lambda: tuple(made))
    monkeypatch.setattr(missing, "absent", lambda dataset, protocol: "")
    found = coverage(tmp_path)
    assert [group.seconds for group in found.missing] == [40.0, 40.0]
    assert found.seconds == 40.0


def test_a_cell_has_evidence_in_whatever_table_it_was_computed(one_table: None, tmp_path: Path) -> None:
    evidence(tmp_path, ("gcn", "auc"))
    found = coverage(tmp_path)
    # The reported value is compared with the same number of ours.
    assert (found.cells, found.with_evidence) == (4, 2)
    assert [(group.method, group.metrics) for group in found.missing] == [("cn", ("auc",)), ("gcn", ("mrr",))]
    assert (found.different, found.different_with_evidence) == (3, 1)


def test_estimates_count_a_training_for_each_metric_and_seed(one_table: None, tmp_path: Path) -> None:
    found = coverage(tmp_path)
    seconds = {group.method: group.seconds for group in found.missing}
    assert seconds["cn"] == 1.0
    assert seconds["gcn"] == 2 * 10 * 20
    assert found.seconds == 1.0 + 2 * 10 * 20


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "y.json").write_text('{"rows": [1]}')
    with pytest.raises(InputError, match=r"y\.json is no file of evidence"):
        coverage(tmp_path)
    with pytest.raises(InputError, match="is no folder of evidence"):
        coverage(tmp_path / "z")


def test_the_command_prints_groups_and_the_count(one_table: None, tmp_path: Path) -> None:
    evidence(tmp_path, ("gcn", "auc"))
    result = CliRunner().invoke(app.app, ["reproduce", "--missing", "--evidence", str(tmp_path)])
    assert result.exit_code == 0
    assert "2 of 4 published values whose data is here have evidence" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--missing", "heart/table-1"], "remove STUDY"),
        (["--missing", "--tuned"], "--missing is about all studies: remove --tuned"),
        (["--missing", "--seeds", "3"], "remove --seeds"),
        (["list", "-m", "gcn"], "'list' shows all studies: remove --method"),
        (["heart/table-1", "--evidence", "x"], "heart/table-1 reads no evidence: remove --evidence"),
        ([], "which study?"),
    ],
)
def test_wrong_words_are_one_sentence(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app.app, ["reproduce", *words])
    assert result.exit_code != 0
    assert said in result.output + str(result.exception)


def test_outside_a_clone_the_command_says_where_the_evidence_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app.app, ["reproduce", "--missing"])
    assert "there is no folder results here: the evidence is in a clone" in str(result.exception)


def test_tables_with_reported_values_name_them() -> None:
    table = studies.get("heart/table-9").table
    assert table is not None
    names = [one.method for one in table().values]
    assert {"gcn", "gcn/reported"} <= set(names)


def test_thresholds_of_table_3_4_are_settings() -> None:
    table = studies.get("lpformer/table-3.4").table
    assert table is not None
    made = {one.method: table().method(one) for one in table().values}
    assert made["lpformer/ppr-threshold-1-hop-1e-4"].threshold_one_hop == 1e-4
    assert made["lpformer/ppr-threshold-over-1-hop-1"].threshold_beyond == 1.0


def test_a_value_quoted_from_elsewhere_takes_as_long_as_its_method(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    values = [value("seal/reported", "mrr", "citeseer")]
    table = PrintedTable("x", values, lambda one: one.protocol, selected_by, seeds=1)
    study = Study(name="x", title="t", citation="c", decimals=2, run=table.run, table=lambda: table)
    monkeypatch.setattr(missing, "catalogue", lambda: (study,))
    monkeypatch.setattr(missing, "absent", lambda dataset, protocol: "")
    assert [(one.method, one.seconds) for one in coverage(tmp_path).missing] == [("seal/reported", 900.0)]
