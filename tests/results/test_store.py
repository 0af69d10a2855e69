"""The store: append-only, and nothing is lost."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import trueedge as te
from trueedge.analysis import summarise
from trueedge.errors import InputError, StoreWarning
from trueedge.results import export


@pytest.fixture(scope="module")
def record() -> te.Record:
    return te.run("karate", "existing", "aa", seed=0)


def test_a_record_comes_back_as_it_was(record: te.Record, tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    store.append(record)
    found = store.find(record.key)
    assert found is not None
    assert found.to_dict() == record.to_dict()
    assert found.value == record.value
    assert store.find("nothing") is None


def test_records_can_be_neither_changed_nor_deleted(record: te.Record, tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    store.append(record)
    connection = sqlite3.connect(store.path)
    replace_all = (
        "REPLACE INTO records SELECT id, key, dataset, protocol, method, seed, headline, 1, created, record"
    )
    statements = ("UPDATE records SET value = 1", "DELETE FROM records", f"{replace_all} FROM records")
    for statement in statements:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
    connection.close()
    assert len(store) == 1


def test_a_later_record_of_the_same_request_is_the_latest_and_the_first_stays(
    record: te.Record, tmp_path: Path
) -> None:
    store = te.Store(tmp_path)
    store.append(record)
    store.append(replace(record, created="later"))
    assert len(store) == len(store.records()) == 2
    assert [one.created for one in store.latest()] == ["later"]


def test_a_folder_that_cannot_be_a_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        te.Store(tmp_path / "file")
    with pytest.raises(InputError, match="cannot be made"):
        te.Store(tmp_path / "file" / "below")
    (tmp_path / "records.sqlite").write_text("this is not a database, whatever its name says")
    with pytest.raises(InputError, match="not a store of records"):
        te.Store(tmp_path)


def test_a_killed_run_keeps_every_finished_cell(tmp_path: Path) -> None:
    script = f"""
import os, signal
import trueedge as te
from trueedge.runs import Cell, run_cells
cells = [Cell("karate", "existing", te.methods.create(name)) for name in ("cn", "aa", "ra", "pa")]
for number, outcome in enumerate(run_cells(cells, te.Store({str(tmp_path)!r}))):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script])
    assert done.returncode == -9
    assert [one.method for one in te.Store(tmp_path).records()] == ["cn", "aa"]


def test_exports_hold_every_metric_of_every_part(record: te.Record, tmp_path: Path) -> None:
    rows = list(csv.DictReader(export([record], tmp_path / "r.csv").open()))
    expected = {
        (part, name): value for part, values in record.metrics.items() for name, value in values.items()
    }
    assert {(row["part"], row["metric"]): float(row["value"]) for row in rows} == expected
    (loaded,) = json.loads(export([record], tmp_path / "r.json").read_text())
    assert te.Record.from_dict(loaded).to_dict() == record.to_dict()
    with pytest.raises(InputError, match="xlsx"):
        export([record], tmp_path / "r.xlsx")


def test_a_summary_is_mean_and_sample_std(record: te.Record) -> None:
    records = [
        replace(record, metrics={"test": {"mrr": value}}, headline="mrr", seed=seed)
        for seed, value in enumerate((0.1, 0.2, 0.6))
    ]
    (row,) = summarise(records)
    assert row.seeds == 3
    assert row.means["mrr"] == pytest.approx(0.3)
    assert row.stds["mrr"] == pytest.approx(0.2645751311)


def test_a_summary_never_mixes_settings_or_options() -> None:
    records = [
        te.run("karate", "uniform", "katz", settings={"beta": beta}, ratio=ratio)
        for beta in (0.005, 0.01)
        for ratio in (1, 2)
    ]
    rows = summarise(records)
    assert [row.seeds for row in rows] == [1, 1, 1, 1]
    assert [row.label for row in rows] == ["katz", "katz", "katz (beta=0.01)", "katz (beta=0.01)"]
    assert [row.where for row in rows][:2] == ["karate · uniform (ratio=1)", "karate · uniform (ratio=2)"]


def test_a_summary_never_mixes_graphs_of_the_same_name(random_graph) -> None:
    graphs = [te.Graph.from_edges(random_graph(seed, 30, 120).edges, name="same") for seed in (0, 1)]
    rows = summarise(te.run(graph, "uniform", "cn") for graph in graphs)
    assert [row.seeds for row in rows] == [1, 1]


def test_a_row_that_is_not_a_record_is_named(record: te.Record, tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    connection = sqlite3.connect(store.path)
    for text in ("not json", '{"unknown": 1}', "[]"):
        connection.execute(
            "INSERT INTO records VALUES (NULL, 'k', 'd', 'p', 'm', 0, 'h', 0, 't', ?)", (text,)
        )
        connection.commit()
        with pytest.warns(StoreWarning, match="row .* cannot be read as a record"):
            assert te.Store(tmp_path).find("k") is None


def test_an_export_that_cannot_be_written_is_named(record: te.Record) -> None:
    with pytest.raises(InputError, match=r"the list of records cannot be written to /proc/x\.csv"):
        export([record], "/proc/x.csv")


@pytest.mark.parametrize(
    "trigger",
    [
        "AFTER INSERT ON records BEGIN DELETE FROM records; END",
        "BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END",
    ],
)
def test_a_record_that_the_file_does_not_take_is_an_error(
    record: te.Record, tmp_path: Path, trigger: str
) -> None:
    store = te.Store(tmp_path)
    connection = sqlite3.connect(store.path)
    connection.executescript(f"CREATE TRIGGER foreign_one {trigger}")
    connection.close()
    with pytest.raises(InputError, match=r"records\.sqlite takes no such record"):
        store.append(record)
    assert len(store) == 0


def test_a_row_that_is_no_text_hides_no_other(record: te.Record, tmp_path: Path) -> None:
    store = te.Store(tmp_path)
    store.append(record)
    store.append(record)
    connection = sqlite3.connect(store.path)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE records SET record = CAST(X'7BFFFE' AS TEXT) WHERE id = 1")
    connection.commit()
    connection.close()
    with pytest.warns(StoreWarning, match="left out"):
        (found,) = store.records()
    assert found.metrics == record.metrics
