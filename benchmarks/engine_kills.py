"""Kill workers, nannies, drivers and schedulers of an engine at random moments, and compare the records.

python -m benchmarks.engine_kills                  100 kills
python -m benchmarks.engine_kills --kills 10       fewer
python -m benchmarks.engine_kills --poison 20      20 runs with five cells that end their process

What is killed with SIGKILL is started again, as a person or a job system would. No record may be lost or
doubled, nothing may stand still for two minutes, and the metrics must be those of one process. Time in which
a process waits for a core of a busy machine does not count: that is slow, and does not hang.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from trueedge.results import Store
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
VICTIMS = ("worker", "nanny", "driver", "scheduler")
WORKERS = 2
SEEDS = 20
SECONDS_TO_HANG = 120.0
# Long enough that most kills hit a cell, and short enough for many.
SECONDS_OF_A_CELL = 0.4
SECONDS_BETWEEN_KILLS = (0.5, 6.0)
SHARE_OF_EARLY_KILLS = 0.1
METHODS = f"""
import time
from dataclasses import dataclass
from typing import ClassVar
from trueedge.methods import Method

@dataclass(frozen=True)
class Slow(Method):
    name: ClassVar[str] = "slow"
    family: ClassVar[str] = "own"
    def fit(self, task, seed=0, device="cpu"):
        time.sleep({SECONDS_OF_A_CELL})
        return lambda pairs: ((pairs[:, 0] * 31 + pairs[:, 1] * (seed + 7)) % 97) * 1.0
"""
POISON = """
import os
from dataclasses import dataclass
from typing import ClassVar
from trueedge.methods import Method

@dataclass(frozen=True)
class Poison(Method):
    name: ClassVar[str] = "poison"
    family: ClassVar[str] = "own"
    def fit(self, task, seed=0, device="cpu"):
        os._exit(9)
"""


@dataclass
class Found:
    """What happened.

    Attributes:
        kills: how often each kind of process was killed.
        records: how many records there were in all runs, at the end.
        lost: records that were gone or changed after a kill.
        doubled: requests with more than one record.
        other: records with other metrics than those of one process.
        condemned: good cells that were given up.
        longest: the longest time without a new record, in seconds.
        longest_at_work: the same, without the time in which a process of the grid waited for a core. On a
            machine with other work to do it tells what is slow from what hangs.
        recovery: for each kind of process, the longest time from its kill to the next record.
        problems: a sentence for each failure.
    """

    kills: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VICTIMS, 0))
    records: int = 0
    lost: int = 0
    doubled: int = 0
    other: int = 0
    condemned: int = 0
    longest: float = 0.0
    longest_at_work: float = 0.0
    recovery: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Kill as often as asked for; 1 where something was lost, doubled, different or stood still."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine_kills", description="Kill engines.")
    parser.add_argument("--kills", type=int, default=100, help="how many processes to kill")
    parser.add_argument("--poison", type=int, default=0, help="instead, how many runs with poison cells")
    parser.add_argument("--seed", type=int, default=0, help="of victims and moments")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    options = parser.parse_args(arguments)
    os.environ.update(OMP_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    # What was started is ended also if this is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="engine-kills-") as folder:
        place = Path(folder)
        (place / "methods.py").write_text(METHODS)
        (place / "poison.py").write_text(POISON)
        expected = content(alone(place))
        found = Found()
        if options.poison:
            for number in range(options.poison):
                poison(place, number, found)
                write(found, options.output, "engine_poison.json", runs=number + 1)
        else:
            rng, number = random.Random(options.seed), 0
            while sum(found.kills.values()) < options.kills and not found.problems:
                Grid(place, number, rng, found).run(options.kills, expected)
                number += 1
                write(found, options.output, "engine_kills.json", runs=number)
    print(json.dumps(asdict(found), indent=1))
    failures = found.lost + found.doubled + found.other + found.condemned
    return int(bool(failures or found.problems))


def write(found: Found, folder: Path, name: str, runs: int) -> None:
    """Write what was found so far: a run that is stopped leaves its results."""
    folder.mkdir(parents=True, exist_ok=True)
    card = {
        **asdict(found),
        "runs": runs,
        "load": os.getloadavg(),
        "machine": machine(),
        "versions": versions(),
    }
    (folder / name).write_text(json.dumps(card, indent=1) + "\n")


def command(*words: str) -> list[str]:
    """Return a command of trueedge."""
    return [sys.executable, "-m", "trueedge", *words]


def asked(runs: str) -> list[str]:
    """Return the command whose records are compared, without an engine."""
    words = ["run", "karate", "-p", "existing", "-m", "methods.py:Slow,ra,cn", "--seeds", str(SEEDS)]
    return command(*words, "--runs", runs)


def alone(place: Path) -> Path:
    """Run all cells in one process; return the folder of the records."""
    done = subprocess.run(asked("alone"), cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return place / "alone"


def content(folder: Path) -> dict[str, str]:
    """Return the metrics and unit values of each request in a store; a doubled one has several."""
    found: dict[str, str] = {}
    for record in Store(folder).records():
        plain = record.to_dict()
        found[record.key] = found.get(record.key, "") + json.dumps([plain["metrics"], plain["units"]])
    return found


def rows(folder: Path) -> dict[int, str]:
    """Return the rows of a store as they are on disk."""
    if not (folder / "records.sqlite").is_file():
        return {}
    with closing(sqlite3.connect(folder / "records.sqlite", timeout=30)) as connection:
        try:
            return dict(connection.execute("SELECT id, record FROM records").fetchall())
        except sqlite3.OperationalError:
            return {}


class Grid:
    """One run of all cells, during which processes are killed and started again."""

    def __init__(self, place: Path, number: int, rng: random.Random, found: Found) -> None:
        self.place, self.rng, self.found = place, rng, found
        self.runs = place / f"runs-{number}"
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.log = (place / f"log-{number}").open("wb")
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.killed: list[tuple[str, float]] = []
        self.delays: dict[int, float] = {}

    def run(self, kills: int, expected: dict[str, str]) -> None:
        """Run until all records are there, or nothing moves any more."""
        known: dict[int, str] = {}
        moved = before = time.monotonic()
        at_work = 0.0
        next_kill, last_kill = moved + 5.0, 0.0
        try:
            while len(known) < len(expected):
                self.start_what_is_missing()
                time.sleep(0.1)
                now = time.monotonic()
                there = rows(self.runs)
                self.found.lost += sum(there.get(row) != text for row, text in known.items())
                at_work += max(0.0, now - before - self.waited_for_a_core())
                before = now
                if len(there) > len(known):
                    moved, at_work = now, 0.0
                    self.recovered(now)
                self.found.longest = max(self.found.longest, round(now - moved, 1))
                self.found.longest_at_work = max(self.found.longest_at_work, round(at_work, 1))
                known = there
                if at_work > SECONDS_TO_HANG:
                    self.found.problems.append(f"nothing moved for {SECONDS_TO_HANG:.0f} s")
                    break
                # The first kill comes when there are records, and most others when there are new ones.
                ready = moved > last_kill or self.rng.random() < SHARE_OF_EARLY_KILLS
                if now > next_kill and known and sum(self.found.kills.values()) < kills:
                    if ready:
                        self.kill()
                        last_kill = now
                    next_kill = now + self.rng.uniform(*SECONDS_BETWEEN_KILLS)
        finally:
            self.end()
        made = content(self.runs)
        self.found.records += len(made)
        self.found.doubled += len(rows(self.runs)) - len(made)
        self.found.other += sum(text != made.get(key) for key, text in expected.items())
        print(f"{sum(self.found.kills.values())} kills, {self.found.records} records", flush=True)

    def start_what_is_missing(self) -> None:
        """Start what has ended or was killed."""
        scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        wanted = {"scheduler": [*scheduler, "--host", self.address, "--no-dashboard"]}
        wanted |= {f"nanny {n}": command("worker", self.address, "--threads", "1") for n in range(WORKERS)}
        wanted["driver"] = [*asked(str(self.runs)), "--engine", "dask", "--scheduler", self.address]
        for name, words in wanted.items():
            running = self.processes.get(name)
            if running is None or running.poll() is not None:
                self.processes[name] = subprocess.Popen(
                    words, cwd=self.place, stdout=self.log, stderr=self.log, start_new_session=True
                )

    def kill(self) -> None:
        """Kill a random process."""
        kinds = [one for one in VICTIMS if one != "worker" or any(map(self.worker_of, range(WORKERS)))]
        victim = self.rng.choice(kinds)
        name = {"worker": "nanny", "nanny": "nanny"}.get(victim, victim)
        names = [one for one in self.processes if one.startswith(name)]
        process = self.processes[self.rng.choice(names)].pid
        if victim == "worker":
            process = self.rng.choice([one for n in range(WORKERS) if (one := self.worker_of(n))])
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
            self.found.kills[victim] += 1
            self.killed.append((victim, time.monotonic()))

    def recovered(self, now: float) -> None:
        """Note how long it took from each kill since the last record to this one."""
        for victim, then in self.killed:
            self.found.recovery[victim] = max(self.found.recovery.get(victim, 0.0), round(now - then, 1))
        self.killed.clear()

    def waited_for_a_core(self) -> float:
        """Return the seconds for which a process of the grid waited for a core since the last call."""
        before, self.delays = self.delays, {}
        for process in self.processes.values():
            for one in (process.pid, *children(process.pid)):
                self.delays[one] = run_queue_delay(one)
        return max((delay - before.get(one, 0.0) for one, delay in self.delays.items()), default=0.0)

    def worker_of(self, number: int) -> int:
        """Return the process of a worker, or 0 while its nanny has none."""
        nanny = self.processes.get(f"nanny {number}")
        below = [] if nanny is None else children(nanny.pid)
        return below[0] if below else 0

    def end(self) -> None:
        """End all processes that were started here, with what they have started."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.log.close()


def children(process: int) -> list[int]:
    """Return the processes that a process has started, the worker of a nanny first."""
    listed: list[str] = []
    # Each thread lists what it has started itself.
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            listed += path.read_text().split()
    # The other child is the resource tracker of multiprocessing.
    return [int(one) for one in listed if b"spawn_main" in _words(int(one))]


def _words(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes()
    return b""


def run_queue_delay(process: int) -> float:
    """Return the seconds that the first thread of a process has waited for a core so far."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


def free_port() -> int:
    """Return a port that nobody listens to."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def poison(place: Path, number: int, found: Found) -> None:
    """Run five poison cells among good ones on a cluster of two workers; count the good ones that failed."""
    runs = place / f"poison-{number}"
    words = ["run", "karate", "-p", "existing", "-m", "poison.py:Poison,methods.py:Slow,ra", "--seeds", "5"]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command(*words, "--runs", str(runs), "--engine", "dask", "--jobs", str(WORKERS)),
            cwd=place,
            capture_output=True,
            text=True,
            timeout=5 * SECONDS_TO_HANG,
            check=False,
        )
    except subprocess.TimeoutExpired:
        found.problems.append(f"run {number} did not end")
        return
    found.longest = max(found.longest, time.monotonic() - start)
    good = Counter(record.method for record in Store(runs).records())
    found.records += sum(good.values())
    found.condemned += 10 - good["slow"] - good["ra"]
    found.kills["poison"] = found.kills.get("poison", 0) + 15
    if "poison under existing" not in done.stderr:
        found.problems.append(f"run {number}: {done.stderr[-300:]}")
    print(f"run {number}: {dict(good)}, status {done.returncode}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
