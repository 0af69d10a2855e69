"""Kill the server of a board, or its Postgres, during submissions, and count what is lost or doubled.

python -m benchmarks.leaderboard_kills                     1,000 submissions, 20 kills, with SQLite
python -m benchmarks.leaderboard_kills --postgres          with Postgres: half of the kills are its own

Clients submit distinct certificates, and send one again until it is acknowledged. At random moments server
and worker are killed with SIGKILL and started again. In the end every acknowledged submission must be one
entry of the board, and no entry may be there twice.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any

from sqlalchemy import select

import trueedge as te
from benchmarks.leaderboard_server import API, ServerProcess, board_of, body_of, certificate
from benchmarks.postgres_server import Postgres
from trueedge.leaderboard.board import Board
from trueedge.leaderboard.server.database import SUBMISSIONS, reading
from trueedge.leaderboard.server.running import opened
from trueedge.runs.provenance import machine, versions
from trueedge.tasks import LinkTask

RESULTS = Path(__file__).parent / "results"
CLIENTS = 4


class Clients:
    """Clients that submit certificates until each is acknowledged.

    Args:
        server: the server.
        sent: the body and the file of each submission.
    """

    def __init__(self, server: ServerProcess, sent: Sequence[tuple[bytes, bytes, str]]) -> None:
        self._server, self._sent = server, sent
        self._next = iter(range(len(sent)))
        self._lock = threading.Lock()
        self.acknowledged: dict[int, str] = {}
        self.repeats = self.refused = 0
        self.threads = [threading.Thread(target=self._work) for _ in range(CLIENTS)]

    @property
    def done(self) -> int:
        """Return how many submissions were acknowledged."""
        return len(self.acknowledged)

    def _work(self) -> None:
        while True:
            with self._lock:
                number = next(self._next, None)
            if number is None:
                return
            body, content, digest = self._sent[number]
            while True:
                try:
                    status, _ = self._server.ask("PUT", f"{API}/files/{digest}", content)
                    if status in (200, 201):
                        status, answer = self._server.ask("POST", f"{API}/submissions", body)
                        if status in (200, 202):
                            self.acknowledged[number] = json.loads(answer)["id"]
                            break
                    if status not in (500, 503):
                        self.refused += 1
                        break
                except (OSError, HTTPException, ValueError):
                    pass
                self.repeats += 1
                time.sleep(0.1)


def run(count: int, kills: int, postgres: bool, seed: int) -> dict[str, Any]:
    """Return what was lost and doubled in one run."""
    task = te.task("karate", "existing", 0)
    assert isinstance(task, LinkTask)
    rng = random.Random(seed)
    sent = []
    for number in range(count):
        card, content = certificate(task, number)
        sent.append((body_of(card, content, f"entry {number}"), content, hashlib.sha256(content).hexdigest()))
    folder = Path(tempfile.mkdtemp(prefix="trueedge-kills-"))
    database = Postgres(folder / "postgres") if postgres else None
    try:
        if database is not None:
            database.start()
        board_of(folder / "board", task)
        server = ServerProcess(folder / "board", None if database is None else database.address)
        server.add_token()
        server.start()
        started = time.monotonic()
        clients = Clients(server, sent)
        for thread in clients.threads:
            thread.start()
        killed = _kill(clients, server, database, rng, count, kills)
        for thread in clients.threads:
            thread.join()
        seconds = time.monotonic() - started
        _let_finish(server)
        server.stop()
        found = _compared(server, clients, count)
        return {
            "database": "postgres" if postgres else "sqlite",
            "submissions": count,
            **killed,
            "acknowledged": clients.done,
            "refused": clients.refused,
            "sent_again": clients.repeats,
            "seconds": round(seconds, 1),
            **found,
        }
    finally:
        server.kill()
        if database is not None:
            database.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _kill(
    clients: Clients,
    server: ServerProcess,
    database: Postgres | None,
    rng: random.Random,
    count: int,
    kills: int,
) -> dict[str, int]:
    """Kill at random moments while submissions come in; return how often each was killed."""
    counts: Counter[str] = Counter()
    # The kills are spread over the submissions, so that each comes while some are on their way.
    moments = sorted(rng.sample(range(1, max(kills + 1, count * 9 // 10)), kills))
    for number, moment in enumerate(moments):
        while clients.done < moment and any(thread.is_alive() for thread in clients.threads):
            time.sleep(0.01)
        time.sleep(rng.random() * 0.2)
        if database is not None and number % 2:
            database.kill()
            time.sleep(rng.random())
            database.start()
            counts["database_kills"] += 1
        else:
            server.kill()
            server.start(wait=False)
            counts["server_kills"] += 1
    server.wait()
    return dict(counts)


def _let_finish(server: ServerProcess) -> None:
    """Wait until nothing waits any more."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        text = server.ask("GET", "/metrics")[1].decode()
        if 'status="waiting"' not in text and 'status="judged"' not in text:
            return
        time.sleep(0.5)
    raise SystemExit("submissions still wait after five minutes")


def _compared(server: ServerProcess, clients: Clients, count: int) -> dict[str, Any]:
    """Compare the board with what was acknowledged."""
    board = Board.open(server.folder)
    names = [entry.name for entry in board.entries("bench")]
    seals = [seal for _, held in board.seals("bench") for seal in held]
    _, engine, _ = opened(server.folder, server.database)
    with reading(engine) as connection:
        rows = connection.execute(select(SUBMISSIONS)).all()
    engine.dispose()
    wanted = {f"entry-{number}" for number in clients.acknowledged}
    done = {row.id for row in rows if row.status == "done"}
    lost = [number for number, identity in clients.acknowledged.items() if identity not in done]
    problems = board.check()
    return {
        "entries": len(names),
        "lost": len(wanted - set(names)) + len(lost),
        "doubled": len(seals) - len(set(seals)) + max(0, len(rows) - count) + len(names) - len(set(names)),
        "failed": sum(row.status == "failed" for row in rows),
        "problems": len(problems),
        "reached": not (wanted - set(names)) and not lost and len(seals) == len(set(seals)) and not problems,
    }


def main(words: Sequence[str] | None = None) -> int:
    """Run the kills, and write the results; the status is 1 if anything was lost or doubled."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--postgres", action="store_true", help="use Postgres, and kill it too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=None)
    given = parser.parse_args(words)
    row = run(given.submissions, given.kills, given.postgres, given.seed)
    print(json.dumps(row, indent=1))
    name = f"leaderboard-kills-{row['database']}.json"
    content = {"machine": machine(), "versions": versions(), **row}
    (given.output or RESULTS / name).write_text(json.dumps(content, indent=1) + "\n")
    return int(not row["reached"] or row["doubled"] > 0)


if __name__ == "__main__":
    sys.exit(main())
