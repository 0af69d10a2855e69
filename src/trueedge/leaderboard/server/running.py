"""Run a server: uvicorn in this process, and the worker in another one."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from sqlalchemy import Engine

from trueedge.errors import InputError
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.hidden.asking_judge import JudgeClient
from trueedge.leaderboard.server.app import create_app
from trueedge.leaderboard.server.connections import protocol_with_deadline
from trueedge.leaderboard.server.database import open_database
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.listening import BACKLOG, listen
from trueedge.leaderboard.server.logs import configure_logs, event
from trueedge.leaderboard.server.places import Places
from trueedge.leaderboard.server.publishing import INDEX, write_standings
from trueedge.leaderboard.server.service import Service


@dataclass
class WorkerProcess:
    """The process of the worker; one that died is started again.

    Attributes:
        places: the board and the server's files.
        database: the address of the database.
        options: ``secrets`` or ``judge``, and ``pages``.
    """

    places: Places
    database: str
    options: dict[str, Any] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def start(self) -> None:
        """Start it."""
        words = [sys.executable, "-m", "trueedge.leaderboard.server.worker", str(self.places.board)]
        # The address may hold a password, which everybody could read among a process's words.
        environment = {**os.environ, "TRUEEDGE_DATABASE": self.database}
        self._process = subprocess.Popen(
            [*words, json.dumps(self.options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=environment,
        )

    def wake(self) -> None:
        """Say that there is work."""
        with self._lock:
            if self._closed:
                return
            if self._process is None or self._process.poll() is not None:
                event("error", "worker", message="it ended, and is started again")
                self.start()
            assert self._process is not None
            assert self._process.stdin is not None
            with suppress(OSError, ValueError):
                os.set_blocking(self._process.stdin.fileno(), False)
                os.write(self._process.stdin.fileno(), b".")

    def close(self) -> None:
        """End it after the submission that it works on."""
        with self._lock:
            self._closed = True
            if self._process is None:
                return
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.close()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def opened(folder: str | Path, database: str | None = None) -> tuple[Places, Engine, str]:
    """Open the board and the database of a server.

    Args:
        folder: the folder of the board.
        database: the address of the database; by default a file in the board's folder.
    """
    board = Board.open(folder)
    places = Places(board.folder)
    places.prepare()
    address = database or places.database
    return places, open_database(address), address


def serve(
    folder: str | Path,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    secrets: str | Path | None = None,
    judge: str | Path | None = None,
    limits: Limits | None = None,
    sockets: Sequence[socket.socket] | None = None,
    ready: Callable[[], object] = lambda: None,
    note: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve a board until the process is stopped.

    Args:
        folder: the folder of the board.
        database: the address of the database; by default a file in the board's folder.
        host: the address to listen at.
        port: the port to listen at.
        secrets: the folder with the labels of hidden tasks, for a judge of its own.
        judge: the socket of a judge that was started elsewhere.
        limits: sizes and times.
        sockets: of :func:`listen`, if they were opened before.
        ready: called when the board can be read and the judge answers.
        note: called with what the organiser should know, one sentence each.
    """
    if secrets is not None and judge is not None:
        raise InputError("give either the folder of hidden labels or the socket of a judge")
    if secrets is not None and Path(secrets).resolve().is_relative_to(Path(folder).resolve()):
        raise InputError("hidden labels must not be in the folder of the board, which is published")
    chosen = limits or Limits()
    places, engine, address = opened(folder, database)
    listening = listen(host, port) if sockets is None else sockets
    with ExitStack() as ends:
        for one in listening:
            ends.callback(one.close)
        judged = _judged(places, secrets, judge, note)
        configure_logs()
        options = {
            "secrets": None if secrets is None else str(Path(secrets).absolute()),
            "judge": None if judge is None else str(judge),
        }
        if not (places.standings / INDEX).is_file():
            write_standings(Board.open(folder), places)
        worker = WorkerProcess(places, address, options)
        worker.start()
        ends.callback(worker.close)
        server = uvicorn.Server(_config(Service(places, engine, chosen, worker.wake, judged=judged)))
        ready()
        server.run(sockets=list(listening))


def _judged(
    places: Places,
    secrets: str | Path | None,
    judge: str | Path | None,
    note: Callable[[str], object],
) -> frozenset[str]:
    """Return the hidden tasks that can be judged, and say which cannot; the judge must answer, if any."""
    labels: dict[str, str] = {}
    given = secrets is not None or judge is not None
    if given:
        # The worker asks it when a submission comes: whether it answers is known before.
        with JudgeClient(secrets, judge) as client:
            labels = client.labels
    waiting = {
        one.name: one.hidden.get("labels")
        for one in Board.open(places.board).tasks()
        if one.labels_hidden and not one.superseded_by
    }
    for name, expected in waiting.items():
        if labels.get(name) != expected:
            what = "the judge does not have the labels of" if given else "there is no judge for the labels of"
            note(f"{what} {name}, so submissions to it are refused: restart with --secrets or --judge")
    return frozenset(name for name, expected in waiting.items() if labels.get(name) == expected)


def _config(service: Service) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(service),
        http=protocol_with_deadline(service.limits.head_seconds),
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=service.limits.connections,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=32768,
        backlog=BACKLOG,
    )
