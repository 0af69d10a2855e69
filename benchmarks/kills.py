"""Kill commands at random moments, start them again, and compare with a run that nobody disturbed.

python -m benchmarks.kills                                  100 moments for each command
python -m benchmarks.kills --moments 5 --command run,tune   fewer moments, some commands

Each command runs in a process group of its own, which is killed with SIGKILL. Nothing that was finished then
may be lost or computed again, and the command that is started again must end with the same bits as the
undisturbed one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.killed_commands import (
    COMMANDS,
    Content,
    computed_again,
    content,
    end_of,
    finished,
    fork,
    import_everything,
    prepared,
    trueedge_command,
    without_scores,
)
from trueedge.datasets import price
from trueedge.runs.provenance import machine, versions

RESULTS = Path(__file__).parent / "results"
# Longer than an undisturbed run takes, in shares of it: some kills come too late.
LATE = 1.05
# One moment of so many is within a few milliseconds of the last write.
LAST_WRITES = 10
AROUND_LAST_WRITE = 0.02
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass
class Killed:
    """What happened at the moments of one command.

    Attributes:
        command: its name.
        moments: how many moments there were.
        killed: how often the command was killed before it ended.
        finished: the records or shards that were finished at the kills, in all.
        lost: those that were gone, changed or computed again afterwards.
        other: how often the result differed from that of the undisturbed run.
        seconds: how long the undisturbed run took.
        seconds_per_kill: how long a kill, the new start and the comparisons took, on average.
        problems: a sentence for each failure.
    """

    command: str
    moments: int = 0
    killed: int = 0
    finished: int = 0
    lost: int = 0
    other: int = 0
    seconds: float = 0.0
    seconds_per_kill: float = 0.0
    problems: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Kill what was asked for; 1 where something was lost or came out differently."""
    options = _parse(arguments)
    if any(os.environ.get(name) != "1" for name in THREADS):
        # A forked process cannot use the threads of the one it comes from: start again with one thread.
        os.environ.update(dict.fromkeys(THREADS, "1"))
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.kills", *(arguments or sys.argv[1:])])
    import_everything()
    found = [kill(name, options.moments, options.seed, options.jobs) for name in options.command]
    Console(width=None if sys.stdout.isatty() else 160).print(table(found))
    for one in found:
        for sentence in one.problems:
            print(f"{one.command}: {sentence}")
    card = {
        "moments": options.moments,
        "seed": options.seed,
        "commands": {name: COMMANDS[name] for name in options.command},
        "rows": [asdict(one) for one in found],
        "machine": machine(),
        "versions": versions(),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "kills.json").write_text(json.dumps(card, indent=1) + "\n")
    return int(any(one.problems for one in found))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        found = [name.strip() for name in text.split(",")]
        unknown = [name for name in found if name not in COMMANDS]
        if unknown:
            raise argparse.ArgumentTypeError(f"no {unknown[0]!r}; there are {', '.join(COMMANDS)}")
        return found

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kills", description="Kill commands at random moments."
    )
    parser.add_argument("--moments", type=int, default=100, help="kills of each command")
    parser.add_argument("--command", type=names, default=list(COMMANDS), help=f"some of {','.join(COMMANDS)}")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="commands at a time")
    parser.add_argument("--output", type=Path, default=RESULTS, help="the folder of the results")
    return parser.parse_args(arguments)


def kill(command: str, moments: int, seed: int, jobs: int) -> Killed:
    """Kill a command at so many moments, in several processes."""
    found = Killed(command, moments)
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        place = Path(folder)
        graph = price(300, 1500)
        lines = "".join(f"{u},{v}\n" for u, v in graph.edges.tolist())
        (place / "graph.csv").write_text(lines)
        found.seconds, last_write, expected = undisturbed(command, place)
        rng = random.Random(f"{seed} {command}")
        at = [rng.uniform(0.0, LATE * found.seconds) for _ in range(moments)]
        for number in range(0, moments, LAST_WRITES):
            at[number] = max(0.0, last_write + rng.uniform(-0.25, 1.0) * AROUND_LAST_WRITE)
        start = time.perf_counter()
        shares = [list(enumerate(at))[job::jobs] for job in range(jobs)]
        workers = [
            fork(partial(_share, command, place / f"job-{job}", share, expected))
            for job, share in enumerate(shares)
        ]
        statuses = [os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers]
        found.seconds_per_kill = (time.perf_counter() - start) / max(1, moments)
        for job, status in enumerate(statuses):
            report = place / f"job-{job}" / "report.json"
            if status or not report.is_file():
                found.problems.append(f"process {job} ended with status {status}")
                continue
            for name, value in json.loads(report.read_text()).items():
                setattr(found, name, getattr(found, name) + value)
    return found


def undisturbed(command: str, place: Path) -> tuple[float, float, Content]:
    """Run a command to its end: how long it took, when it wrote last, and what it left.

    It runs twice, since the first run compiles kernels or reads them from the disk.
    """
    for name in ("warm", "undisturbed"):
        folder = prepared(place, place / name)
        start = time.time()
        status = end_of(fork(partial(trueedge_command, command, folder)))
        seconds = time.time() - start
        if status:
            raise RuntimeError(f"{command} failed: {(folder / 'err').read_text()}")
    written = [path.stat().st_mtime for path in folder.rglob("*") if path.name not in ("out", "err")]
    return seconds, min(max(written) - start, seconds), content(command, folder)


def _share(command: str, place: Path, share: Sequence[tuple[int, float]], expected: Content) -> None:
    """Kill a command at some moments, and write down what happened."""
    found = Killed(command)
    place.mkdir()
    for number, moment in share:
        folder = prepared(place.parent, place / str(number))
        for sentence in _one(command, folder, moment, expected, found):
            found.problems.append(f"moment {number} ({moment:.3f} s): {sentence}")
        shutil.rmtree(folder)
    report = {name: getattr(found, name) for name in ("killed", "finished", "lost", "other", "problems")}
    (place / "report.json").write_text(json.dumps(report))


def _one(command: str, folder: Path, moment: float, expected: Content, found: Killed) -> Iterator[str]:
    """Kill a command once, start it again, and yield what is wrong."""
    child = fork(partial(trueedge_command, command, folder))
    time.sleep(moment)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        # So early that it has no group of its own yet.
        os.kill(child, signal.SIGKILL)
    status = end_of(child)
    found.killed += status == -signal.SIGKILL
    if status not in (0, -signal.SIGKILL):
        yield f"it failed with status {status}: {(folder / 'err').read_text()[-300:]}"
    before, unscored = finished(command, folder), without_scores(folder)
    found.finished += len(before)
    status = end_of(fork(partial(trueedge_command, command, folder)))
    if status:
        yield f"started again, it failed with status {status}: {(folder / 'err').read_text()[-300:]}"
    after = finished(command, folder)
    gone = [name for name, value in before.items() if after.get(name) != value]
    again = computed_again(command, folder, before, unscored)
    if gone or again:
        found.lost += len(gone) + again
        yield f"{len(gone)} finished results were lost or changed, {again} computed again"
    result = content(command, folder)
    differing = [name for name in {**expected, **result} if expected.get(name) != result.get(name)]
    if differing:
        found.other += 1
        yield f"the result differs from the undisturbed one in {', '.join(sorted(differing)[:3])}"


def table(found: Sequence[Killed]) -> Table:
    """Return a line for each command."""
    drawn = Table(title="kills at random moments", title_justify="left", box=None)
    heads = ("command", "moments", "killed", "finished before", "lost", "other result", "s a run", "s a kill")
    for place, head in enumerate(heads):
        drawn.add_column(head, justify="left" if place == 0 else "right")
    for one in found:
        counts = (one.moments, one.killed, one.finished, one.lost, one.other)
        drawn.add_row(one.command, *map(str, counts), f"{one.seconds:.2f}", f"{one.seconds_per_kill:.2f}")
    return drawn


if __name__ == "__main__":
    sys.exit(main())
