"""The database of a server: tokens and submissions. SQLite in WAL mode, or Postgres by its address."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Engine,
    Float,
    Index,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from trueedge.errors import InputError
from trueedge.files.text import shown

METADATA = MetaData()
TOKENS = Table(
    "tokens",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("team", String(80), nullable=False, index=True),
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)
SUBMISSIONS = Table(
    "submissions",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("team", String(80), nullable=False),
    Column("task", String(80), nullable=False),
    Column("entry", String(80), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("content", String(64), nullable=False),
    # The content again as long as the submission has not failed: the same one is never taken twice.
    Column("live", String(64)),
    Column("body", Text, nullable=False),
    Column("status", String(16), nullable=False, index=True),
    Column("sentence", Text, nullable=False, default=""),
    # What the judge answered: nothing else about hidden labels is ever in a database.
    Column("value", Float),
    Column("improved", Boolean),
    Column("created", Float, nullable=False),
    Column("finished", Float),
    Index("one_of_a_kind", "team", "task", "live", unique=True),
    Index("quotas", "task", "status", "created"),
)
SEALS = Table(
    "seals",
    METADATA,
    Column("seal", String(64), primary_key=True),
    Column("submission", String(32), nullable=False, index=True),
)
# The uploaded files that a submission needs.
FILES = Table(
    "files",
    METADATA,
    Column("submission", String(32), primary_key=True),
    Column("digest", String(64), primary_key=True),
    Column("team", String(80), nullable=False, index=True),
)
# A row for each task that submissions are counted for: whoever counts holds it.
LOCKS = Table("locks", METADATA, Column("name", String(80), primary_key=True))

WAIT_MILLISECONDS = 30_000
# It does not repeat the address, which could hold a password.
NO_ADDRESS = "the address of the database is not one: postgresql://user:password@host/name"


def open_database(address: str) -> Engine:
    """Open a database, and make its tables where they are missing.

    Args:
        address: as SQLAlchemy writes it: ``sqlite:///file``, ``postgresql://user:password@host/name``.
    """
    # psycopg 3 is the driver that trueedge[postgres] installs.
    plain = (
        address.replace("postgres://", "postgresql://", 1) if address.startswith("postgres://") else address
    )
    if plain.startswith("postgresql://"):
        plain = plain.replace("postgresql://", "postgresql+psycopg://", 1)
    try:
        backend = make_url(plain).get_backend_name()
    except (ArgumentError, ValueError):
        raise InputError(NO_ADDRESS) from None
    if backend not in ("sqlite", "postgresql"):
        raise InputError(f"{shown(backend)} is no database for a server: it takes SQLite or Postgres")
    try:
        engine = create_engine(plain, pool_pre_ping=True, pool_size=10, max_overflow=30)
        if engine.dialect.name == "sqlite":
            _configure_sqlite(engine)
        if not inspect(engine).has_table("locks"):
            _make_tables(engine)
    except ModuleNotFoundError as error:
        raise InputError(f"the database needs {error.name}: pip install 'trueedge[postgres]'") from None
    except (ArgumentError, NoSuchModuleError):
        raise InputError(NO_ADDRESS) from None
    except SQLAlchemyError as error:
        raise InputError(f"the database cannot be opened ({type(error).__name__})") from None
    return engine


def _make_tables(engine: Engine) -> None:
    try:
        METADATA.create_all(engine)
    except SQLAlchemyError:
        # Another process made them at the same moment.
        if not inspect(engine).has_table("locks"):
            raise


def _configure_sqlite(engine: Engine) -> None:
    """Let every commit reach the disk, and let one writer at a time begin."""

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for setting in (
            f"busy_timeout={WAIT_MILLISECONDS}",
            "journal_mode=WAL",
            "synchronous=FULL",
        ):
            cursor.execute(f"PRAGMA {setting}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Yield a connection that only reads."""
    with engine.connect() as connection:
        yield connection


@contextmanager
def writing(engine: Engine, lock: str | None = None) -> Iterator[Connection]:
    """Yield a connection whose changes are durable when the block ends, or undone if it fails.

    Args:
        engine: the database.
        lock: whoever has the same one waits until the block ends; SQLite has one writer in any case.
    """
    with engine.connect().execution_options(writes=True) as connection:
        if lock is not None and engine.dialect.name != "sqlite":
            _make_lock(engine, lock)
        with connection.begin():
            if lock is not None and engine.dialect.name != "sqlite":
                connection.execute(select(LOCKS).where(LOCKS.c.name == lock).with_for_update())
            yield connection


def _make_lock(engine: Engine, name: str) -> None:
    try:
        with engine.begin() as connection:
            if connection.execute(select(LOCKS).where(LOCKS.c.name == name)).first() is None:
                connection.execute(insert(LOCKS).values(name=name))
    except IntegrityError:
        return


def now() -> float:
    """Return the time in seconds since 1970."""
    return time.time()
