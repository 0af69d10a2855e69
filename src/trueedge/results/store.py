"""The store: one append-only SQLite file with a row for each record, and its export to JSON and CSV."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from trueedge.errors import InputError
from trueedge.results.record import Record

FILE_NAME = "records.sqlite"
# Records never change: the file itself refuses it.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    dataset TEXT NOT NULL,
    protocol TEXT NOT NULL,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    headline TEXT NOT NULL,
    value REAL NOT NULL,
    created TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS records_by_key ON records (key);
CREATE TRIGGER IF NOT EXISTS records_stay BEFORE UPDATE ON records
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER IF NOT EXISTS records_grow BEFORE INSERT ON records
    WHEN EXISTS (SELECT 1 FROM records WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
CREATE TRIGGER IF NOT EXISTS records_remain BEFORE DELETE ON records
    BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;
"""


_COLUMNS = "dataset protocol method seed part metric value settings options created key graph task source"


class Store:
    """A folder of records, to which several processes may write at the same time."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            if self.folder.is_file():
                raise InputError(f"{self.folder} is a file, but runs are kept in a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {self.folder} cannot be made: {error.strerror}") from None
        self.path = self.folder / FILE_NAME
        with self._connect() as connection:
            connection.executescript(_SCHEMA)

    def append(self, record: Record) -> None:
        """Add a record; it is on disk when this returns."""
        names = ("key", "dataset", "protocol", "method", "seed", "headline", "value", "created")
        row = (*(getattr(record, name) for name in names), json.dumps(record.to_dict()))
        into = f"{', '.join(names)}, record"
        try:
            with self._connect() as connection:
                insert = f"INSERT INTO records ({into}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                # A trigger of somebody else may swallow the row without an error.
                if connection.execute(insert, row).rowcount != 1:
                    raise InputError(f"{self.path} did not take the record of {record.method}")
        except sqlite3.IntegrityError as error:
            raise InputError(f"{self.path} did not take the record of {record.method}: {error}") from None

    def find(self, key: str) -> Record | None:
        """Return the latest record of a request, or None."""
        with self._connect() as connection:
            row = connection.execute(
                "SELECT record FROM records WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)
            ).fetchone()
        return None if row is None else self._record(row[0])

    def records(self) -> list[Record]:
        """Return all records, oldest first."""
        with self._connect() as connection:
            rows = connection.execute("SELECT record FROM records ORDER BY id").fetchall()
        return [self._record(row[0]) for row in rows]

    def _record(self, text: str) -> Record:
        try:
            return Record.from_dict(json.loads(text))
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            reason = str(error) if isinstance(error, InputError) else repr(str(text)[:60])
            raise InputError(f"{self.path} holds a row that cannot be read as a record: {reason}") from None

    def latest(self) -> list[Record]:
        """Return the latest record of each request, oldest first."""
        kept: dict[str, Record] = {}
        for record in self.records():
            kept.pop(record.key, None)
            kept[record.key] = record
        return list(kept.values())

    def __len__(self) -> int:
        with self._connect() as connection:
            return int(connection.execute("SELECT count(*) FROM records").fetchone()[0])

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, timeout=60)
        except sqlite3.Error as error:
            raise InputError(f"{self.path} cannot be opened: {error}") from None
        try:
            with connection:
                yield connection
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError):
                raise
            if isinstance(error, sqlite3.OperationalError):
                raise InputError(f"{self.path} cannot be used: {error}") from None
            raise InputError(f"{self.path} is not a store of records: {error}") from None
        finally:
            connection.close()


def export(records: Sequence[Record], path: str | Path) -> Path:
    """Write records to a file: whole as ``.json``, or one line per metric as ``.csv``."""
    path = Path(path)
    if path.suffix not in (".json", ".csv"):
        raise InputError(f"{path}: records are exported to a .json or a .csv file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            path.write_text(json.dumps([record.to_dict() for record in records], indent=2) + "\n")
            return path
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS.split())
            for record in records:
                writer.writerows(_lines(record))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _lines(record: Record) -> list[list[object]]:
    plain = record.to_dict()
    origin = plain["provenance"]
    shared = [
        *(json.dumps(plain[key], sort_keys=True) for key in ("settings", "options")),
        *(record.created, record.key, origin.get("hashes", {}).get("graph", "")),
        *(origin.get(name, "") for name in ("task", "source")),
    ]
    where = (record.dataset, record.protocol, record.method, record.seed)
    return [
        [*where, part, name, repr(value), *shared]
        for part, metrics in record.metrics.items()
        for name, value in metrics.items()
    ]
