"""Damaged and forged stores: every number shown was computed, and no record disappears without a word."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import warnings
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest import mock

import trueedge as te
from benchmarks.attack.mutations import damaged, flipped
from benchmarks.attack.outcomes import Case, Family, LostRecordError, expect
from benchmarks.attack.tiny import made_task
from trueedge.errors import StoreWarning
from trueedge.results import Record, Store, export
from trueedge.results.store import FILE_NAME

COUNTS = {"quick": 15, "nightly": 420}
METHODS = ("cn", "ra", "pa")
Written = dict[tuple[str, str], str]


@cache
def template() -> tuple[Path, Written]:
    """Return a folder with a store of three records, and the metrics of each as they were computed."""
    folder = Path(mkdtemp(prefix="attack-store-"))
    store = Store(folder / "runs")
    records = [te.run(made_task(), method=name, store=store) for name in METHODS]
    return folder / "runs", {_name(one): _numbers(one) for one in records}


def _name(record: Record) -> tuple[str, str]:
    return record.method, record.dataset


def _numbers(record: Record) -> str:
    """Return all numbers that tables, intervals and exports take from a record."""
    units = {name: record.unit_values(name) for name in ("mr", "mrr", "auc")}
    listed = {name: None if values is None else values.tolist() for name, values in units.items()}
    return json.dumps([record.metrics, record.headline, record.seed, listed], sort_keys=True)


def _copied(case: Case) -> tuple[Path, Written]:
    source, written = template()
    shutil.copytree(source, case.folder / "runs")
    return case.folder / "runs", written


def _check(folder: Path, written: Written, fewer: bool = False) -> list[Record]:
    """Compare what a store shows with what was written."""
    store = Store(folder)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", StoreWarning)
        records = store.records()
    for one in said:
        warnings.warn(str(one.message), StoreWarning, stacklevel=2)
    named = any(word in str(one.message) for one in said for word in ("left out", "deleted"))
    shown = {_name(one): one for one in records}
    for name, record in shown.items():
        expect(name in written, f"a record of {name} was never computed")
        expect(_numbers(record) == written[name], f"{name} shows numbers that were not computed")
    if not fewer and not named and set(written) - set(shown):
        raise LostRecordError(f"{sorted(set(written) - set(shown))} is not shown any more")
    for record in store.latest():
        found = store.find(record.key)
        expect(found is not None and _numbers(found) == _numbers(record), "find gives another record")
    return records


def damage(case: Case) -> None:
    """Damage the bytes of the file."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    path.write_bytes(damaged(case, path.read_bytes()))
    _check(folder, written)


def flips(case: Case) -> None:
    """Flip bits in the rows alone, where the records are."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    data = path.read_bytes()
    start = data.index(b'{"key"') if b'{"key"' in data else 0
    path.write_bytes(data[:start] + flipped(case, data[start:], 2))
    _check(folder, written)


def _edit(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Change a store as a forger would: without its triggers."""
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        change(connection)


def forged_rows(case: Case) -> None:
    """Write other numbers into a row: a record that was not computed may not be shown."""
    folder, written = _copied(case)
    how = case.pick(["metric", "all metrics", "seed", "method", "headline", "units", "text", "number"])
    case.tell("forged", how)

    def change(connection: sqlite3.Connection) -> None:
        at, text = connection.execute("SELECT id, record FROM records ORDER BY random() LIMIT 1").fetchone()
        record: dict[str, Any] = json.loads(text)
        values = record["metrics"]["test"]
        if how in ("metric", "all metrics"):
            names = list(values) if how == "all metrics" else [case.pick(list(values))]
            values.update({name: min(0.999, values[name] + 0.1) for name in names})
        elif how == "seed":
            record["seed"] += 1
        elif how == "method":
            record["method"] = "magic"
        elif how == "headline":
            record["headline"] = case.pick([name for name in values if name != record["headline"]])
        elif how == "units":
            record["units"] = {**record["units"], "unit": "node", "codes": "eJwDAAAAAAE="}
        text = json.dumps(record)
        if how == "text":
            text = case.pick(["", "{}", "[]", "null", "1", text[:-9], text + "}", "{" * 5000, '{"a": 1e999}'])
        elif how == "number":
            text = text.replace(
                repr(values["auc"]), case.pick(["1e400", "NaN", "Infinity", '"0.9"', "true", "9" * 400])
            )
        connection.execute("UPDATE records SET record = ? WHERE id = ?", (text, at))

    _edit(folder / FILE_NAME, change)
    _check(folder, written)


def changed_rows(case: Case) -> None:
    """Delete, repeat or exchange rows, or change the columns beside the record."""
    folder, written = _copied(case)
    sentence = case.pick(
        [
            "DELETE FROM records WHERE id = 2",
            "UPDATE records SET key = 'x' WHERE id = 1",
            "UPDATE records SET key = (SELECT key FROM records WHERE id = 2) WHERE id = 1",
            "UPDATE records SET record = (SELECT record FROM records WHERE id = 2) WHERE id = 1",
            "UPDATE records SET value = 0.999",
            "UPDATE records SET id = id + 10",
            "UPDATE records SET record = x'00ff'",
            "UPDATE records SET record = zeroblob(100)",
            "INSERT INTO records SELECT 99, key, dataset, protocol, method, seed, headline, value,"
            " created, '{}' FROM records LIMIT 1",
        ]
    )
    case.tell(sentence)
    _edit(folder / FILE_NAME, lambda connection: connection.execute(sentence))
    _check(folder, written)


def schemas(case: Case) -> None:
    """Give a store of another schema: other columns, a view, another database, no database."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    sentence = case.pick(
        [
            "DROP TABLE records",
            "ALTER TABLE records RENAME TO old",
            "ALTER TABLE records DROP COLUMN value",
            "ALTER TABLE records RENAME COLUMN record TO content",
            "ALTER TABLE records ADD COLUMN more TEXT NOT NULL DEFAULT ''",
            "PRAGMA user_version = 99",
            "PRAGMA application_id = 7",
            "CREATE TRIGGER evil AFTER INSERT ON records BEGIN DELETE FROM records WHERE id = NEW.id; END",
            "CREATE TRIGGER evil BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END",
        ]
    )
    case.tell(sentence)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(sentence)
    # Without the table there is nothing to show, and nothing that could tell.
    gone = "DROP TABLE" in sentence or "RENAME TO" in sentence
    _check(folder, written, fewer=gone)
    if not gone:
        _append(folder, written)


def _append(folder: Path, written: Written) -> None:
    """Add a record once more, and look whether it is there."""
    store = Store(folder)
    before = store.records()
    store.append(before[0])
    if len(store.records()) != len(before) + 1:
        raise LostRecordError("a record was added, and is not there")
    _check(folder, written)


def places(case: Case) -> None:
    """Put something else in the place of the store: no file, a folder, a pipe, an empty or foreign file."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    store = Store(folder)
    kind = case.pick(
        ["removed", "empty", "folder", "fifo", "text", "loop", "null", "runs removed", "other store"]
    )
    case.tell(kind)
    path.unlink()
    if kind == "empty":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "text":
        path.write_text("0,1\n" * 1000)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "null":
        path.symlink_to(os.devnull)
    elif kind == "runs removed":
        shutil.rmtree(folder)
    elif kind == "other store":
        shutil.copy(template()[0] / FILE_NAME, path)
    records = store.records()
    if {_name(one) for one in records} != set(written):
        raise LostRecordError(f"the store shows {len(records)} of {len(written)} records")
    _append(folder, written)


def read_only(case: Case) -> None:
    """Read a store that cannot be written to: its records are shown, and adding one is refused."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    actual: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(place: Any, *args: Any, **more: Any) -> sqlite3.Connection:
        return actual(f"file:{place}?mode=ro", *args, uri=True, **more)

    path.chmod(0o444)
    with mock.patch.object(sqlite3, "connect", connect):
        _check(folder, written)
        before = len(Store(folder))
        Store(folder).append(Store(folder).records()[0])
        expect(len(Store(folder)) == before + 1, "a record was added, and is not there")


def locked(case: Case) -> None:
    """Lock the file for a moment, or for longer than anybody waits."""
    folder, written = _copied(case)
    patient = case.chance(0.5)
    holder = sqlite3.connect(folder / FILE_NAME, check_same_thread=False, isolation_level=None)
    holder.execute(case.pick(["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]))
    actual: Callable[..., sqlite3.Connection] = sqlite3.connect

    def connect(place: Any, **more: Any) -> sqlite3.Connection:
        return actual(place, **{**more, "timeout": 10.0 if patient else 0.05})

    timer = threading.Timer(0.1, lambda: holder.rollback())
    if patient:
        timer.start()
    case.tell("released after a moment" if patient else "never released")
    try:
        patience = mock.patch("trueedge.results.store.PATIENCE", 10.0 if patient else 0.2)
        with mock.patch.object(sqlite3, "connect", connect), patience:
            _append(folder, written)
    finally:
        timer.cancel()
        holder.close()


def writers(case: Case) -> None:
    """Let two threads add records to the same store: all of them are there afterwards."""
    folder, written = _copied(case)
    record = Store(folder).records()[case.number(0, 2)]
    errors: list[BaseException] = []

    def add() -> None:
        try:
            for _ in range(3):
                Store(folder).append(record)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    if len(Store(folder)) != len(METHODS) + 6:
        raise LostRecordError(f"{len(Store(folder))} of {len(METHODS) + 6} records are there")
    _check(folder, written)


def reused(case: Case) -> None:
    """Ask for a cell again from a damaged store: the number is the one that was computed."""
    folder, written = _copied(case)
    path = folder / FILE_NAME
    path.write_bytes(damaged(case, path.read_bytes()))
    name = case.pick(METHODS)
    record = te.run(made_task(), method=name, store=Store(folder))
    wanted = json.loads(written[name, record.dataset])[0]
    expect(json.loads(json.dumps(record.metrics)) == wanted, f"{name} has other numbers than were computed")


def exported(case: Case) -> None:
    """Export a store to odd places; a JSON file holds what the store holds."""
    folder, written = _copied(case)
    records = _check(folder, written)
    place = case.pick(
        ["a.json", "a.csv", "a.txt", "deep/er/a.json", "a.json/b.csv", ".json", "runs", "x" * 300 + ".json"]
    )
    case.tell("to", place[:40])
    path = export(records, case.folder / place)
    if path.suffix == ".json":
        again = [Record.from_dict(one) for one in json.loads(path.read_text())]
        expect([_numbers(one) for one in again] == [_numbers(one) for one in records], "the export differs")


FAMILIES: dict[str, Family] = {
    f"{one.__name__.replace('_', ' ')}{' ' * at}": one
    for at, one in enumerate(
        (
            *(damage, flips, forged_rows, changed_rows, schemas, places, read_only, locked, writers, reused),
            *(exported, damage, flips, forged_rows),
        )
    )
}
