"""Load the server of a board: readers and submitters beside it on the same machine.

python -m benchmarks.leaderboard_load          200 reads/s and 20 submissions/s of 2 MiB, 20 seconds each

Readers ask for pages, boards (JSON and CSV, a third of them with an ETag) and entries. Requests begin at
fixed times, and a latency counts from that time: a server that stalls is not spared by clients that wait.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import numpy as np

import trueedge as te
from benchmarks.leaderboard_server import API, ServerProcess, board_of, body_of, certificate
from trueedge.leaderboard.board import EntryCard
from trueedge.runs.provenance import machine, versions
from trueedge.tasks import LinkTask

RESULTS = Path(__file__).parent / "results"
READS, SUBMISSIONS, SIZE = 200, 20, 2 << 20
MOST_SECONDS = 0.25
ENTRIES = 50
WORKERS = 32


class Clients:
    """Threads with a connection each, which make requests at given times.

    Args:
        server: the server.
        count: the number of threads.
    """

    def __init__(self, server: ServerProcess, count: int = WORKERS) -> None:
        self._server = server
        self._local = threading.local()
        self.pool = ThreadPoolExecutor(count)
        self.latencies: list[float] = []
        self.failures: list[str] = []

    def at(self, moment: float, ask: Callable[[HTTPConnection], int], wanted: tuple[int, ...]) -> None:
        """Make a request at a moment."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._server.connect()
        time.sleep(max(0.0, moment - time.monotonic()))
        try:
            status = ask(connection)
            if status not in wanted:
                self.failures.append(f"status {status}")
        except (OSError, HTTPException) as error:
            self.failures.append(type(error).__name__)
            connection.close()
            self._local.connection = None
        self.latencies.append(time.monotonic() - moment)

    def report(self, rate: float, seconds: float) -> dict[str, Any]:
        """Return the percentiles of the latencies in milliseconds, and the failures."""
        values = 1000 * np.array(self.latencies)
        return {
            "rate": rate,
            "seconds": round(seconds, 2),
            "requests": len(values),
            "failures": len(self.failures),
            **{f"p{q}_ms": round(float(np.percentile(values, q)), 2) for q in (50, 90, 99)},
            "most_ms": round(float(values.max()), 2),
        }


def read(server: ServerProcess, rate: int, seconds: float, paths: Sequence[str]) -> dict[str, Any]:
    """Ask for pages and boards at a rate."""
    rng = random.Random(0)
    tags: dict[str, str] = {}

    def ask(path: str, again: bool) -> Callable[[HTTPConnection], int]:
        def send(connection: HTTPConnection) -> int:
            connection.request("GET", path, headers={"If-None-Match": tags.get(path, "")} if again else {})
            answer = connection.getresponse()
            answer.read()
            tags[path] = answer.headers.get("ETag", "")
            return answer.status

        return send

    clients = Clients(server)
    start = time.monotonic() + 0.5
    waiting = [
        clients.pool.submit(
            clients.at, start + number / rate, ask(rng.choice(list(paths)), rng.random() < 1 / 3), (200, 304)
        )
        for number in range(int(rate * seconds))
    ]
    for one in waiting:
        one.result()
    return clients.report(rate, time.monotonic() - start)


def submit(server: ServerProcess, rate: int, sent: Sequence[tuple[bytes, bytes, str]]) -> dict[str, Any]:
    """Upload and submit certificates at a rate; a submission is both requests."""

    def send(body: bytes, content: bytes, digest: str) -> Callable[[HTTPConnection], int]:
        def both(connection: HTTPConnection) -> int:
            status, _ = server.ask("PUT", f"{API}/files/{digest}", content, connection)
            if status not in (200, 201):
                return status
            return server.ask("POST", f"{API}/submissions", body, connection)[0]

        return both

    clients = Clients(server)
    start = time.monotonic() + 0.5
    waiting = [
        clients.pool.submit(clients.at, start + number / rate, send(*one), (202,))
        for number, one in enumerate(sent)
    ]
    for one in waiting:
        one.result()
    taken = time.monotonic() - start
    report = clients.report(rate, taken)
    report["per_second"] = round(len(sent) / taken, 2)
    until = time.monotonic() + 300
    while 'status="waiting"' in server.ask("GET", "/metrics")[1].decode() and time.monotonic() < until:
        time.sleep(0.2)
    text = server.ask("GET", "/metrics")[1].decode()
    report["checked_after_seconds"] = round(time.monotonic() - start, 2)
    report["accepted"] = _gauge(text, "done")
    report["failed"] = _gauge(text, "failed")
    return report


def _with_cpu(server: ServerProcess, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Add the processor time for each request: on a busy machine it says more than the clock."""
    before, own = server.cpu_seconds(), time.process_time()
    report = work()
    after, count = server.cpu_seconds(), report["requests"]
    spent = {who: 1000 * (after[who] - before[who]) / count for who in before}
    spent["generator"] = 1000 * (time.process_time() - own) / count
    report |= {f"{who}_cpu_ms": round(value, 3) for who, value in spent.items()}
    report["cores_needed"] = round(report["rate"] * sum(spent.values()) / 1000, 3)
    return report


def _gauge(text: str, status: str) -> int:
    line = next((one for one in text.splitlines() if f'submissions{{status="{status}"}}' in one), " 0")
    return int(line.split()[-1])


def _task() -> LinkTask:
    """Return a task whose certificate has 2 MiB of scores."""
    task = te.task("cora", "heart", 0, k=2 * (SIZE // 8 // 527 // 2), heuristics=("ra",))
    assert isinstance(task, LinkTask)
    return task


def run(seconds: float, reads: int, submissions: int) -> dict[str, Any]:
    """Return what readers and submitters saw: readers alone, and both together."""
    task = _task()
    folder = Path(tempfile.mkdtemp(prefix="trueedge-load-"))
    server = ServerProcess(folder / "board")
    try:
        board = board_of(folder / "board", task)
        for number in range(ENTRIES):
            card, content = certificate(task, number)
            place = folder / "entries" / str(number)
            place.mkdir(parents=True)
            (place / "scores.npz").write_bytes(content)
            (place / "certificate.json").write_text(json.dumps(card))
            entry = EntryCard(name=f"start {number}", authors=("benchmark",), licence="MIT")
            board.add([place / "certificate.json"], entry, "bench")
        sent = []
        for number in range(int(submissions * seconds)):
            card, content = certificate(task, 1000 + number)
            digest = hashlib.sha256(content).hexdigest()
            sent.append((body_of(card, content, f"entry {number}"), content, digest))
        server.add_token()
        server.start()
        until = time.monotonic() + 120
        while server.ask("GET", "/")[0] != 200 and time.monotonic() < until:
            time.sleep(0.5)
        board_path = f"{API}/boards/bench"
        paths = [
            "/",
            "/bench/",
            f"{API}/boards",
            board_path,
            f"{board_path}?format=csv",
            f"{board_path}/entries/start-1",
        ]
        found = {"upload_bytes": len(sent[0][1]), "entries": ENTRIES}
        found["reads"] = _with_cpu(server, lambda: read(server, reads, seconds, paths))
        found["submissions"] = _with_cpu(server, lambda: submit(server, submissions, sent))
        found["other_load"] = [round(one, 1) for one in os.getloadavg()]
        found["reached"] = (
            found["reads"]["p99_ms"] <= 1000 * MOST_SECONDS
            and not found["reads"]["failures"]
            and not found["submissions"]["failures"]
            and found["submissions"]["per_second"] >= 0.95 * submissions
        )
        return found
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def main(words: Sequence[str] | None = None) -> int:
    """Run the load, and write the results; the status is 1 if the numbers are missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--reads", type=int, default=READS, help="reads in a second")
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS, help="submissions in a second")
    parser.add_argument("--output", type=Path, default=RESULTS / "leaderboard-load.json")
    given = parser.parse_args(words)
    found = run(given.seconds, given.reads, given.submissions)
    print(json.dumps(found, indent=1))
    content = {"machine": machine(), "versions": versions(), **found}
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return int(not found["reached"])


if __name__ == "__main__":
    sys.exit(main())
