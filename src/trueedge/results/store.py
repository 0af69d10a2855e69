"""The store: one append-only SQLite file with a row for each record, several processes at a time."""

from __future__ import annotations

import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from trueedge.errors import InputError, StoreWarning
from trueedge.files.text import as_path
from trueedge.results.exporting import read_records, set_aside
from trueedge.results.frames import frame
from trueedge.results.record import Record
from trueedge.results.rows import COLUMNS, deleted_rows, read_rows, row_of

FILE_NAME = "records.sqlite"
# What is kept beside the records: scores, and curves of studies.
FOLDERS = ("scores", "looks")
# Seconds until the user is told that the file is locked, and until a locked file is given up.
SILENCE = 5.0
PATIENCE = 600.0
# Seconds between two looks at a lock; SQLite waits in between, and Ctrl-C has to wait for it.
TURN = 1.0
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
_SELECT = f"SELECT id, {', '.join(COLUMNS)}, record FROM records"
_INSERT = f"INSERT INTO records ({', '.join(COLUMNS)}, record) VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"

Found = TypeVar("Found")


class StoreError(InputError):
    """The store cannot be read or written."""


class Store:
    """A folder of records, to which several processes may write at the same time.

    Every record is checked when it is read: a row that was changed after it was written is named in a
    :class:`trueedge.errors.StoreWarning` and left out.

    Attributes:
        folder: the folder.
        path: its SQLite file.
        unsaved: the file of the records that could not be stored, if there are any; see :meth:`keep`.
        patience: in seconds, how long to wait for a file that another process has locked.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = as_path(folder, "Store")
        self.patience = PATIENCE
        self.unsaved: Path | None = None
        self._aside: list[Record] = []
        self._said: set[str] = set()
        try:
            if self.folder.is_file():
                raise InputError(f"{self.folder} is a file, but runs are kept in a folder")
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {self.folder} cannot be made: {error.strerror}") from None
        self.path = self.folder / FILE_NAME
        self._with(lambda connection: connection.executescript(_SCHEMA))

    @classmethod
    def of(cls, store: Store | str | Path | None) -> Store | None:
        """Return the store of a folder, and a store or None as it is."""
        return store if store is None or isinstance(store, Store) else cls(store)

    def append(self, record: Record) -> None:
        """Add a record; it is on disk when this returns."""
        self.append_all([record])

    def append_all(self, records: Iterable[Record]) -> None:
        """Add records, all of them or none."""
        rows = [row_of(record) for record in records]
        self._with(lambda connection: _insert(connection, rows))

    def keep(self, record: Record) -> None:
        """Add a record that took long to compute: where it cannot be stored, it is written to another file.

        The file is named in a warning and in :attr:`unsaved`; :meth:`import_file` reads it.
        """
        try:
            self.append(record)
        except InputError as error:
            # Whoever holds the lock has been waited for once.
            self.patience = min(self.patience, SILENCE)
            self._set_aside(record, str(error))
        except KeyboardInterrupt:
            self._set_aside(record, "stopped while it was written")
            raise

    def _set_aside(self, record: Record, reason: str) -> None:
        self._aside.append(record)
        try:
            self.unsaved = set_aside(self._aside, self.unsaved)
        except InputError as error:
            self._say(f"the record of {record.method} on {record.dataset} is lost: {reason}; {error}")
            return
        count = f"{len(self._aside)} record" + ("s" if len(self._aside) > 1 else "")
        how = f"trueedge records --runs {self.folder} --import {self.unsaved}"
        self._say(f"{count} could not be stored ({reason}): written to {self.unsaved}; add with: {how}")

    def import_file(self, path: str | Path) -> tuple[int, int]:
        """Add the records of a file that :func:`export` or :meth:`keep` wrote, all of them or none.

        Returns:
            the numbers of records that were added, and that were there already.
        """
        records = read_records(path)
        there = {str(row[-1]) for row in self._rows("")}
        new = [record for record in records if str(row_of(record)[-1]) not in there]
        self.append_all(new)
        return len(new), len(records) - len(new)

    def check_writable(self) -> None:
        """Raise an InputError if records cannot be written, before hours of work are lost."""
        probe = "BEGIN IMMEDIATE; CREATE TABLE probe (id INTEGER); ROLLBACK;"
        self._with(lambda connection: connection.executescript(probe))

    def find(self, key: str, usable: Callable[[Record], bool] | None = None) -> Record | None:
        """Return the latest record of a request, or None.

        Args:
            key: the key of the request.
            usable: whether a record may be used; by default every one.
        """
        found, notes = read_rows(self._rows("WHERE key = ?", (key,)), self.path)
        for sentence in notes:
            if "left out" in sentence:
                self._say(sentence)
        return next((one for one in reversed(found) if usable is None or usable(one)), None)

    def records(self) -> list[Record]:
        """Return all records, oldest first."""
        rows = self._rows("")
        found, notes = read_rows(rows, self.path)
        gone = deleted_rows([row[0] for row in rows])
        for sentence in [*notes, *([f"{self.path}: {gone}"] if gone else [])]:
            self._say(sentence)
        return found

    def latest(self) -> list[Record]:
        """Return the latest record of each request, oldest first."""
        kept: dict[str, Record] = {}
        for record in self.records():
            kept.pop(record.key, None)
            kept[record.key] = record
        return list(kept.values())

    def to_frame(self, long: bool = False, latest: bool = True) -> Any:
        """Return the records as a pandas DataFrame; :func:`trueedge.results.frames.columns` has its columns.

        Args:
            long: whether to have a row for each metric of each part, instead of one for each record.
            latest: whether to leave out records that a later run of the same request replaced.
        """
        return frame(self.latest() if latest else self.records(), long)

    def __repr__(self) -> str:
        count = len(self)
        return f"Store({str(self.folder)!r}: {count:,} record{'' if count == 1 else 's'})"

    def files(self) -> list[Path]:
        """Return the files of the store, which nothing else may be written to."""
        return [self.path, *(path for name in FOLDERS for path in self.folder.glob(f"{name}/*"))]

    def __len__(self) -> int:
        statement = "SELECT count(*) FROM records"
        return int(self._with(lambda connection: connection.execute(statement).fetchone()[0]))

    def _rows(self, where: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
        statement = f"{_SELECT} {where} ORDER BY id"
        return self._with(lambda connection: connection.execute(statement, values).fetchall())

    def _say(self, sentence: str) -> None:
        """Warn, once."""
        if sentence not in self._said:
            self._said.add(sentence)
            warnings.warn(sentence, StoreWarning, stacklevel=4)

    def _with(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Do something with a connection, and wait while another process has locked the file."""
        start = time.monotonic()
        while True:
            try:
                with closing(sqlite3.connect(self.path, timeout=TURN, isolation_level=None)) as connection:
                    # A damaged row must not hide the others: what is no text fails its seal.
                    connection.text_factory = lambda data: data.decode(errors="replace")
                    return work(connection)
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - start
                # Errors that Python raises itself, such as of text that is no text, have no code.
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if not busy or waited >= self.patience:
                    raise StoreError(f"{self.path} cannot be used: {error}") from None
                if waited >= SILENCE:
                    most = f"up to {self.patience / 60:.0f} minutes"
                    self._say(f"{self.path} is locked by another process: waiting {most}")
            except sqlite3.IntegrityError as error:
                raise StoreError(f"{self.path} takes no such record: {error}") from None
            except sqlite3.DatabaseError as error:
                raise StoreError(f"{self.path} is not a store of records: {error}") from None


def _insert(connection: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    # Somebody may have deleted the file since the store was opened.
    connection.executescript(_SCHEMA)
    # Immediate: it would otherwise read first, and could not wait for others to write.
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        # A trigger of somebody else may swallow the row without an error.
        if connection.execute(_INSERT, row).rowcount != 1:
            raise sqlite3.IntegrityError("the file did not take the record")
    connection.execute("COMMIT")
