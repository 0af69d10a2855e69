"""A store that is locked, cannot be written, or is on a full disk costs no finished record."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import trueedge as te
from full_disks import files_of_at_most
from trueedge.errors import InputError, StoreWarning
from trueedge.results import kept_scores
from trueedge.results import store as stores
from trueedge.runs import Cell, run_cells

RA = Cell("karate", "existing", te.methods.create("ra"))


@pytest.fixture
def hasty(monkeypatch) -> None:
    """Nobody waits long for a lock."""
    monkeypatch.setattr(stores, "PATIENCE", 0.2)
    monkeypatch.setattr(stores, "SILENCE", 0.1)
    monkeypatch.setattr(stores, "TURN", 0.05)


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield other
    finally:
        other.close()


def read_only(monkeypatch) -> None:
    """Let SQLite open files for reading only, as it does in a folder that cannot be written."""
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **given: connect(f"file:{path}?mode=ro", uri=True, **given)
    )


def test_a_record_of_a_locked_store_is_set_aside_and_imported_later(hasty, trueedge, monkeypatch) -> None:
    store = te.Store("runs")
    keep = te.Store.keep

    def kept_while_locked(self: te.Store, record: te.Record) -> None:
        with locked(self.path):
            keep(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(te.Store, "keep", kept_while_locked)
        status, out, err = trueedge("run", "karate", "-p", "existing", "-m", "ra,cn", "--seeds", "1")
    assert status == 1
    assert "ra " in out
    assert "cn " in out
    assert "records.sqlite is locked by another process: waiting up to" in err
    assert "2 records could not be stored (runs/records.sqlite cannot be used: database is locked)" in err
    (aside,) = Path().glob("trueedge-unsaved-*.json")
    assert f"trueedge records --runs runs --import {aside.absolute()}" in err
    assert len(store) == 0
    status, out, err = trueedge("records", "--import", str(aside))
    assert status == 0
    assert f"2 records imported from {aside}, 0 already in runs" in err
    assert "ra " in out
    assert "0 records imported" in trueedge("records", "--import", str(aside))[2]
    assert len(store.records()) == 2
    assert "0 new, 2 cached" in trueedge("run", "karate", "-p", "existing", "-m", "ra,cn", "--seeds", "1")[2]


def test_a_lock_that_is_given_up_in_time_costs_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(stores, "SILENCE", 0.0)
    monkeypatch.setattr(stores, "TURN", 0.01)
    store, record = te.Store(tmp_path), te.run("karate", "existing", "ra")
    with locked(store.path) as other:
        say = te.Store._say

        def said(self: te.Store, sentence: str) -> None:
            other.execute("ROLLBACK")
            say(self, sentence)

        monkeypatch.setattr(te.Store, "_say", said)
        with pytest.warns(StoreWarning, match="is locked by another process: waiting up to 10 minutes"):
            store.keep(record)
    assert (len(store), store.unsaved) == (1, None)


def test_a_store_that_cannot_be_written_is_refused_before_the_work(trueedge, monkeypatch) -> None:
    te.Store("runs")
    read_only(monkeypatch)
    monkeypatch.setattr(te.tasks, "task", lambda *_, **__: pytest.fail("there was work"))
    for words in (
        ("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1"),
        ("tune", "karate", "-p", "existing", "-m", "katz"),
    ):
        status, out, err = trueedge(*words)
        assert (status, out) == (1, "")
        assert "runs/records.sqlite cannot be used: attempt to write a readonly database" in err


def test_a_store_that_can_be_read_only_is_read(trueedge, monkeypatch) -> None:
    trueedge("run", "karate", "-p", "existing", "-m", "ra", "--seeds", "1")
    read_only(monkeypatch)
    status, out, _ = trueedge("records")
    assert status == 0
    assert "ra " in out


def test_a_store_that_stops_to_be_writable_costs_no_record(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, keep = te.Store("runs"), te.Store.keep
    monkeypatch.setattr(te.Store, "keep", lambda self, one: (read_only(monkeypatch), keep(self, one)))
    with pytest.warns(StoreWarning, match="attempt to write a readonly database"):
        (outcome,) = run_cells([RA], store)
    assert store.unsaved is not None
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert te.Store("runs").import_file(store.unsaved) == (1, 0)
    assert [one.to_dict() for one in te.Store("runs").records()] == [outcome.record.to_dict()]


def test_a_full_disk_costs_no_record(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    store, record = te.Store("runs"), te.run("karate", "existing", "ra")
    while store.path.stat().st_size < 64 << 10:
        store.append(record)
    count = len(store)
    with files_of_at_most(store.path.stat().st_size), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        while store.unsaved is None:
            store.keep(record)
    assert re.search("1 record could not be stored .*(disk|full)", str(caught[0].message))
    assert len(te.Store("runs").records()) >= count
    assert json.loads(store.unsaved.read_text()) == [record.sealed()]


def test_the_folder_for_temporary_files_is_the_second_choice(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    store, record = te.Store(tmp_path / "runs"), te.run("karate", "existing", "ra")
    shutil.rmtree(tmp_path / "runs")
    (tmp_path / "runs").write_text("")
    (tmp_path / "gone").rmdir()
    with pytest.warns(StoreWarning, match=f"written to {tmp_path}/temporary/trueedge-unsaved"):
        store.keep(record)
    os.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    monkeypatch.setattr("trueedge.results.exporting.Path.cwd", lambda: Path("/proc"))
    with pytest.warns(StoreWarning, match="the record of ra on karate is lost"):
        te.Store.keep(_broken(store), record)


def _broken(store: te.Store) -> te.Store:
    store.unsaved = None
    return store


def test_a_store_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    store, record = te.Store(tmp_path), te.run("karate", "existing", "ra")
    store.path.unlink()
    store.keep(record)
    assert [one.to_dict() for one in te.Store(tmp_path).records()] == [record.to_dict()]


def test_the_record_is_written_before_the_scores(tmp_path: Path, monkeypatch) -> None:
    store, seen = te.Store(tmp_path), []
    save = kept_scores.save_scores

    def saved(scores: object, path: Path) -> None:
        seen.append([one.method for one in te.Store(tmp_path).records()])
        save(scores, path)

    monkeypatch.setattr(kept_scores, "save_scores", saved)
    record = te.run("karate", "existing", "ra", store=store, keep_scores=True)
    assert seen == [["ra"]]
    assert te.verify(te.certify(record, tmp_path / "ra.json", store)).ok


def test_the_record_is_written_before_the_scores_of_other_processes(tmp_path: Path, monkeypatch) -> None:
    store, order = te.Store(tmp_path), []
    keep, save = te.Store.keep, "trueedge.runs.processes._Worker.save"
    from trueedge.runs.processes import _Worker

    saved = _Worker.save
    monkeypatch.setattr(te.Store, "keep", lambda self, one: (order.append("record"), keep(self, one)))
    monkeypatch.setattr(save, lambda self: (order.append("scores"), saved(self))[1])
    (outcome,) = run_cells([RA], store, jobs=2, keep_scores=True)
    assert order == ["record", "scores"]
    assert kept_scores.scores_path(tmp_path, outcome.record.provenance["kept"]).is_file()


def test_a_file_that_holds_no_records_is_named(trueedge) -> None:
    Path("a.json").write_text("{}")
    Path("b.json").write_text("[")
    for name, reason in (
        ("a.json", "does not hold a list"),
        ("b.json", "is not JSON"),
        ("c.json", "there is no file"),
    ):
        status, _, err = trueedge("records", "--import", name)
        assert status == 1
        assert reason in err
    with pytest.raises(InputError, match=r"c\.json"):
        te.Store("runs").import_file("c.json")
