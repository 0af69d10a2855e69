"""Runs that are killed on purpose, and runs that share a folder, in processes of their own.

``python killed_runs.py random FOLDER SEED COUNT`` kills after a random number of shards, ``pointed FOLDER
MOMENT`` around calls that put a file into its place, and ``shared FOLDER`` has two runs at one time; they
print what happened as JSON. Runs are forked from a process that has loaded everything, so that a kill lands
in the work.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

import trueedge.graph as tg
from trueedge.negatives.heart import heart
from trueedge.negatives.heart_shards import heart_shards
from trueedge.negatives.sharded import open_shards

module = sys.modules[heart_shards.__module__]
OPTIONS = {"k": 60, "eps": 1e-5, "seed": 5}
ENDS_PER_SHARD = 12


def make_case() -> tuple[tg.Graph, np.ndarray]:
    rng = np.random.default_rng(0)
    weights = rng.pareto(1.5, 2000) + 0.2
    pairs = rng.choice(2000, size=(8000, 2), p=weights / weights.sum())
    graph = tg.Graph.from_edges(pairs, 2000, self_loops="drop", repeats="drop")
    return graph, graph.edges[rng.choice(graph.num_edges, 150, replace=False)]


def fill(folder: Path) -> None:
    graph, positives = make_case()
    heart_shards(graph, positives, folder, ends_per_shard=ENDS_PER_SHARD, **OPTIONS)


def start(work: Callable[[], object]) -> int:
    """Work in a forked process; its id."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        # Leave at once: the parent's cleaning up is not the child's.
        os._exit(status)
    return child


def end_of(child: int) -> int:
    """The exit status of a process, once it has ended: below 0 if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_child(work: Callable[[], object]) -> int:
    """Work in a forked process; its exit status."""
    return end_of(start(work))


def killed_at(shards: int, delay: float, folder: Path) -> int:
    """Fill a folder in a process that is killed a moment after there are so many shards; its exit status."""
    child = start(lambda: fill(folder))
    while shards_in(folder) < shards and not has_ended(child):
        time.sleep(0.001)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    return end_of(child)


def has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def shards_in(folder: Path) -> int:
    return len(list(folder.glob("shard-*.npy")))


def content(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def at_random(folder: Path, seed: int, count: int) -> dict[str, object]:
    """Kill runs until so many were really killed; whatever folder got complete has the undisturbed bytes."""
    assert in_child(lambda: fill(folder / "undisturbed")) == 0
    expected, shards = content(folder / "undisturbed"), shards_in(folder / "undisturbed")
    rng = random.Random(seed)
    killed, resumed, finished = 0, 0, [folder / "killed-0"]
    while killed < count:
        before = shards_in(finished[-1])
        moment = min(before + rng.randrange(6), shards - 1)
        status = killed_at(moment, rng.choice([0.0, 0.001, 0.003]), finished[-1])
        assert status in (0, -signal.SIGKILL), status
        killed += status != 0
        resumed += before > 0
        if status == 0:
            assert content(finished[-1]) == expected
            finished.append(folder / f"killed-{len(finished)}")
    assert in_child(lambda: fill(finished[-1])) == 0
    assert content(finished[-1]) == expected
    return {"killed": killed, "resumed": resumed, "folders": len(finished)}


def pointed(folder: Path, name: str) -> dict[str, object]:
    """Kill runs around calls that put a file into its place; all end with the undisturbed bytes."""
    assert in_child(lambda: fill(folder / "undisturbed")) == 0
    expected = content(folder / "undisturbed")
    left = {}
    # The first file is that of the positives, then comes the card, then come the shards.
    moments = {"before fsync": (1, 3), "before replace": (1, 2, 3), "after replace": (1, 2, 3, 9)}
    for number in {**moments, "within write": (1, 9)}[name]:
        place = folder / f"{name} {number}".replace(" ", "-")
        status = in_child(lambda i=number, p=place: (arm(name, i), fill(p)))
        assert status == -signal.SIGKILL, (name, number, status)
        left[place.name] = sorted(content(place))
        assert in_child(lambda p=place: fill(p)) == 0
        assert content(place) == expected, (name, number)
    return {"left": left}


def shared(folder: Path) -> dict[str, object]:
    """Two runs at one time: both to the end, then one of them killed when it has made a few shards."""
    assert in_child(lambda: fill(folder / "undisturbed")) == 0
    expected = content(folder / "undisturbed")
    made = {}
    for name in ("both", "one killed"):
        place = folder / name
        logs = [folder / f"{name} {i}.log" for i in range(2)]
        children = [
            start(lambda log=log, other=other, place=place: (tell(log, other), fill(place)))
            for log, other in (logs, logs[::-1])
        ]
        if name == "one killed":
            while not logs[0].exists() or logs[0].read_text().count("shard-") < 3:
                time.sleep(0.001)
            os.kill(children[0], signal.SIGKILL)
        ends = [end_of(child) for child in children]
        assert ends == [0 if name == "both" else -signal.SIGKILL, 0], ends
        assert content(place) == expected
        made[name] = [log.read_text().split() if log.exists() else [] for log in logs]
    return {"made": made}


def tell(log: Path, other: Path) -> None:
    """Have this process write down the files it puts into their places, and leave a shard to the other."""
    replace = os.replace

    def telling_replace(source: Path, target: Path) -> None:
        replace(source, target)
        with log.open("a") as file:
            file.write(f"{Path(target).name}\n")
        is_shard = Path(target).name.startswith("shard-")
        while is_shard and not (other.exists() and "shard-" in other.read_text()):
            time.sleep(0.001)

    os.replace = telling_replace


def arm(name: str, number: int) -> None:
    """Have this process killed at the given call of a kind."""
    calls = 0

    def now() -> bool:
        nonlocal calls
        calls += 1
        return calls == number

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    replace, fsync, write_rows = os.replace, os.fsync, module.write_rows

    def killing_replace(source: Path, target: Path) -> None:
        reached = now()
        if reached and name == "before replace":
            die()
        replace(source, target)
        if reached:
            die()

    def killing_fsync(descriptor: int) -> None:
        if now():
            die()
        fsync(descriptor)

    def killing_write(file, rows: np.ndarray, salt: str) -> None:
        write_rows(file, rows, salt)
        if now():
            file.flush()
            os.truncate(file.fileno(), file.tell() // 2)
            die()

    if name == "before fsync":
        os.fsync = killing_fsync
    elif name == "within write":
        module.write_rows = killing_write
    else:
        os.replace = killing_replace


def main(kind: str, folder: str, *words: str) -> None:
    place = Path(folder)
    graph, positives = make_case()
    # Loads what is compiled before anything is forked; in one thread, since threads do not live on in a fork.
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    expected = heart(graph, positives, **OPTIONS)
    numba.set_num_threads(threads)
    kinds = {"random": at_random, "pointed": pointed, "shared": shared}
    happened = kinds[kind](place, *(int(word) if word.isdigit() else word for word in words))
    negatives = open_shards(place / "undisturbed")
    assert (negatives.assemble() == expected).all()
    print(json.dumps({"shards": negatives.num_shards, **happened}))


if __name__ == "__main__":
    main(*sys.argv[1:])
