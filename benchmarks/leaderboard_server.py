"""A board for benchmarks of its server: certificates of random scores, and the processes to serve it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

import trueedge as te
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.server.running import opened
from trueedge.leaderboard.server.tokens import add_token
from trueedge.metrics import PairScores
from trueedge.results.certificate_file import FORMAT, VERSION, digest, request_of, seal_of
from trueedge.results.kept_scores import describe
from trueedge.runs.provenance import versions
from trueedge.tasks import LinkTask

API = "/api/v1"
SECONDS_TO_START = 60.0


def board_of(folder: Path, task: LinkTask) -> Board:
    """Make a board with one task in a new folder."""
    board = Board.create(folder, "Benchmark")
    board.add_task(task, "bench")
    return board


def certificate(task: LinkTask, seed: int) -> tuple[dict[str, Any], bytes]:
    """Return a certificate of random scores, and its file of scores."""
    rng = np.random.default_rng(seed)
    part = task.part("test")
    positive = rng.random(len(part.positives)) + 0.3
    scores = PairScores.check(positive, rng.random(part.negatives.shape[:-1]))
    kept = describe(scores)
    card: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": task.kind,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "options": {},
        "method": f"random-{seed}",
        "settings": {"seed": seed},
        "seed": task.seed,
        "task_seed": task.seed,
        "headline": task.headline,
        "device": "cpu",
        "key": digest({"seed": seed}),
        "created": "2026-11-17T00:00:00+00:00",
        "metrics": {name: te.metrics.get(name).value(scores) for name in task.metrics_for(scores)},
        "scores": {"file": "scores.npz", "form": kept["form"], "shapes": kept["shapes"]},
        "warnings": [],
        "versions": versions(),
    }
    card["hashes"] = {
        **task.hashes,
        "task": task.hash,
        "scores": kept["scores"],
        "settings": digest(request_of(card)),
        "versions": digest(card["versions"]),
    }
    content = _bytes_of(scores)
    return {**card, "seal": seal_of(card)}, content


def _bytes_of(scores: PairScores) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **scores.arrays())  # type: ignore[arg-type]
    return stream.getvalue()


def body_of(card: dict[str, Any], content: bytes, name: str) -> bytes:
    """Return the JSON of a submission of one certificate."""
    entry = {"name": name, "authors": ["benchmark"], "licence": "MIT"}
    files = {"scores.npz": hashlib.sha256(content).hexdigest()}
    return json.dumps({"task": "bench", "entry": entry, "certificates": [card], "files": files}).encode()


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class ServerProcess:
    """A server in a process group of its own, with its worker.

    Attributes:
        folder: the folder of the board.
        database: the address of the database, or None.
        token: of the team "bench".
        port: where it listens.
    """

    folder: Path
    database: str | None = None
    token: str = ""
    port: int = field(default_factory=free_port)
    log: Path | None = None
    _process: subprocess.Popen[bytes] | None = None

    def add_token(self) -> None:
        """Approve the team."""
        _, engine, _ = opened(self.folder, self.database)
        self.token = add_token(engine, "bench")
        engine.dispose()

    def start(self, wait: bool = True) -> None:
        """Start it, and wait until it answers."""
        words = [sys.executable, "-c", STARTER, str(self.folder), self.database or "", str(self.port)]
        errors = subprocess.DEVNULL if self.log is None else self.log.open("ab")
        self._process = subprocess.Popen(words, stderr=errors, start_new_session=True)
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < until:
            try:
                if self.ask("GET", "/healthz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("the server did not start")

    def kill(self) -> None:
        """Kill server, worker and judge with SIGKILL."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Let it end by itself."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(40)
            except subprocess.TimeoutExpired:
                self.kill()

    def cpu_seconds(self) -> dict[str, float]:
        """Return the processor time of the server and of its other processes so far."""
        found = {"server": 0.0, "worker": 0.0}
        for place in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = place.read_text().rsplit(")", 1)[1].split()
                if self._process is not None and int(fields[2]) == self._process.pid:
                    who = "server" if int(place.parent.name) == self._process.pid else "worker"
                    found[who] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return found

    def connect(self, timeout: float = 30.0) -> HTTPConnection:
        """Return a new connection."""
        return HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def ask(
        self, method: str, path: str, body: bytes | None = None, connection: HTTPConnection | None = None
    ) -> tuple[int, bytes]:
        """Return the status and the body of an answer."""
        own = connection or self.connect()
        try:
            own.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = own.getresponse()
            return answer.status, answer.read()
        finally:
            if connection is None:
                own.close()


# Quotas of certificates would end a benchmark; everything else is as it is served.
STARTER = """
import sys
from trueedge.leaderboard.server.limits import Limits
from trueedge.leaderboard.server.running import serve
limits = Limits(certificates_per_day=10**9, waiting_files=10**9, waiting_bytes=10**15)
serve(sys.argv[1], sys.argv[2] or None, port=int(sys.argv[3]), limits=limits)
"""
