"""A store that version 0.1.0 wrote: everything works from it, and nothing in it is touched."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import trueedge as te
from trueedge.analysis.comparison import unit_values
from trueedge.analysis.slices import slices
from trueedge.analysis.tables import tables
from trueedge.errors import InputError, StoreWarning
from trueedge.report import write
from trueedge.results import export
from trueedge.results.certificate import choose
from trueedge.results.record import FORMAT
from trueedge.results.versions import of_last_code
from trueedge.runs import Cell, run_cells

FIXTURES = Path(__file__).parents[1] / "fixtures"
# Metrics of the positives' ranks, which version 0.1.0 kept instead of the values.
OF_RANKS = ("mrr", "hits@1", "hits@3", "hits@10", "auc", "mr")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy: opening a store may write."""
    return Path(shutil.copytree(FIXTURES / "store-0.1.0", tmp_path / "runs"))


def rows(folder: Path) -> list[tuple[object, ...]]:
    with sqlite3.connect(folder / "records.sqlite") as connection:
        return connection.execute("SELECT * FROM records ORDER BY id").fetchall()


def test_every_record_is_read(old: Path) -> None:
    records = te.Store(old).records()
    assert len(records) == 57
    assert {record.format for record in records} == {1}
    assert {record.kind for record in records} == {"link", "recommend"}
    assert {record.kind for record in records if record.protocol == "recommendation"} == {"recommend"}
    assert sum(record.is_trial for record in records) == 2
    for record in records:
        assert te.Record.from_dict(record.to_dict()) == record


def test_the_values_of_each_positive_give_the_recorded_means(old: Path) -> None:
    seen = set()
    for record in te.Store(old).records():
        if record.is_trial or record.kind != "link":
            assert record.is_trial or record.unit_values(record.headline) is None
            continue
        assert record.unit == "positive"
        for name in OF_RANKS:
            values = record.unit_values(name)
            assert (values is None) == (name not in record.test and name == "auc")
            if name not in record.test:
                continue
            if values.mean() != pytest.approx(record.test[name], abs=1e-12):
                # Shared negatives: a tie at the K-th place is a miss, and mean ranks do not show it.
                assert name.startswith("hits@")
                assert record.protocol != "heart"
                with pytest.raises(InputError, match="a tie at the K-th place counts against"):
                    unit_values(record, name)
                continue
            assert np.array_equal(unit_values(record, name), values)
            seen.add((record.protocol, name))
    assert {("heart", "hits@3"), ("existing", "hits@3"), ("uniform", "auc"), ("heart", "mrr")} <= seen


def test_tables_intervals_slices_page_and_exports_work(old: Path, tmp_path: Path) -> None:
    records = te.Store(old).records()
    found = tables(records)
    assert {(table.records[0].dataset, table.records[0].protocol) for table in found} == {
        *(("karate", name) for name in ("existing", "uniform", "recommendation", "heart")),
        ("cora", "degree-corrected"),
    }
    heart = next(table for table in found if table.records[0].protocol == "heart")
    assert {line.label for line in heart.lines} == {"cn", "ra", "pa", "katz"}
    assert heart.compared is not None
    assert heart.compared.unit == "positive"
    sliced = slices([record for record in records if record.protocol == "heart"])
    assert sliced.left_out == ()
    assert sliced.slicings
    page = write(records, tmp_path / "page.html").read_text()
    assert all(name in page for name in ("karate", "cora", "katz", "gcn"))
    lines = list(csv.DictReader(export(records, tmp_path / "records.csv").open()))
    assert len(lines) == sum(len(part) for record in records for part in record.metrics.values())
    plain = json.loads(export(records, tmp_path / "records.json").read_text())
    assert [te.Record.from_dict(one) for one in plain] == records


def test_a_record_is_certified_from_its_old_scores(old: Path, tmp_path: Path) -> None:
    store = te.Store(old)
    for protocol, method in (("heart", "katz"), ("existing", "ra"), ("uniform", "cn")):
        record = choose(store, dataset="karate", protocol=protocol, method=method, seed=1)
        path = te.certify(record, tmp_path / f"{protocol}.json", store)
        assert te.verify(path, "karate").ok
        assert json.loads(path.read_text())["version"] == 3
    with pytest.raises(InputError, match="were not kept"):
        te.certify(choose(store, protocol="recommendation", method="cn", seed=0), tmp_path / "a.json", store)
    damaged = store.folder / "scores" / f"{record.provenance['kept']['scores']}.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.raises(InputError, match="is damaged"):
        te.certify(record, tmp_path / "a.json", store)


def test_a_run_that_goes_on_in_it_only_appends(old: Path) -> None:
    before = rows(old)
    store = te.Store(old)
    cells = [
        Cell("karate", "existing", te.methods.create(name), seed=seed)
        for name in ("ra", "aa")
        for seed in (0, 1)
    ]
    outcomes = list(run_cells(cells, store))
    # The version is a part of the request: what 0.1.0 computed is computed again.
    assert [outcome.fresh for outcome in outcomes] == [True] * 4
    assert [outcome.fresh for outcome in run_cells(cells, store)] == [False] * 4
    after = rows(old)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 4
    new = store.records()[len(before) :]
    assert {record.format for record in new} == {FORMAT}
    for record in new:
        twin = [one for one in store.records() if (one.method, one.seed) == (record.method, record.seed)]
        first = next(one for one in twin if one.protocol == "existing")
        assert first.metrics["test"] == record.metrics["test"]
        values = record.unit_values("mrr")
        assert values is not None
        assert np.array_equal(values, first.unit_values("mrr"))
    kept, sentences = of_last_code(record for record in store.records() if record.protocol == "existing")
    # ra was computed by both versions, and only the later one counts; the others stay as they were.
    assert [(one.method, one.seed) for one in kept if one.method == "ra"] == [("ra", 0), ("ra", 1)]
    assert "3 records of an earlier version of ra are left out" in sentences
    assert sum(one.method == "cn" for one in kept) == 3
    (table,) = [one for one in tables(store.records()) if one.records[0].protocol == "existing"]
    assert {line.label: line.row.seeds for line in table.lines}["ra"] == 2


def test_a_task_saved_by_0_1_0_is_the_same_task() -> None:
    task = te.load_task(FIXTURES / "task-0.1.0")
    assert task.hash == json.loads((FIXTURES / "task-0.1.0" / "task.json").read_text())["hash"]
    assert task.hash == te.task("karate", "heart", 0, k=20).hash


def test_records_of_a_newer_version_are_read_as_far_as_they_are_known(old: Path) -> None:
    store = te.Store(old)
    first = store.records()[0].to_dict()
    origin = {**first["provenance"], "versions": {"trueedge": "9.9"}}
    values = {**first, "format": 99, "mood": "sunny", "kind": "hyperlinks", "provenance": origin}
    strange = {**values, "metrics": "in another file"}
    with sqlite3.connect(store.path) as connection:
        columns = "key, dataset, protocol, method, seed, headline, value, created, record"
        for plain in (values, values, strange):
            row = ("future", "karate", "existing", "cn", 0, "mrr", 0.5, "", json.dumps(plain))
            connection.execute(f"INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    with pytest.warns(StoreWarning) as caught:
        records = te.Store(old).records()
    assert len(records) == 59
    assert {(one.format, one.kind, one.value) for one in records[-2:]} == {
        (99, "hyperlinks", te.Record.from_dict(first).value)
    }
    said = [str(one.message).partition(": ")[2] for one in caught]
    ours = te.__version__
    assert (
        f"2 records written by trueedge 9.9 (format 99), which is newer than {ours}: only what {ours} knows"
        " is read; ignored: mood"
    ) in said
    assert (
        f"row 60 was written by trueedge 9.9 (format 99) and cannot be read by {ours}, so it is left out:"
        " metrics is str"
    ) in said
    assert "57 records of trueedge 0.1.0 have no seal, so later changes to them cannot be noticed" in said


def test_a_store_of_a_newer_version_is_shown_by_every_command(old: Path, trueedge) -> None:
    store = te.Store(old)
    values = {**store.records()[0].to_dict(), "format": 99, "mood": "sunny", "protocol": "newest"}
    with sqlite3.connect(store.path) as connection:
        columns = "key, dataset, protocol, method, seed, headline, value, created, record"
        row = ("future", "karate", "newest", "cn", 0, "mrr", 0.5, "", json.dumps(values))
        connection.execute(f"INSERT INTO records ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    for words in (("records",), ("report", "-o", "r.html", "--no-slices"), ("export", "r.csv")):
        place = (str(old),) if words[0] == "report" else ("--runs", str(old))
        status, _, err = trueedge(*words, *place)
        assert status == 0
        assert "1 record written by trueedge 0.1.0 (format 99), which is newer" in err
    assert "newest" in trueedge("records", "--runs", str(old))[1]


@pytest.mark.parametrize(
    ("change", "reason"), [({"mood": 1}, "unknown field 'mood'"), ({"format": "2"}, "format is str")]
)
def test_a_field_of_no_record_is_named(old: Path, change: dict, reason: str) -> None:
    values = te.Store(old).records()[0].to_dict()
    with pytest.raises(InputError, match=reason):
        te.Record.from_dict({**values, **change})
