"""Commands for :mod:`benchmarks.kills`: how they are started, and what they leave behind.

Processes are forked from one that has imported everything, so that a kill lands in the work.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sqlite3
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trueedge.studies.study import Finding, Plan, comparison, places, register, run_all

# What differs between two runs of the same: when they were, and what they took.
TIMES = ("created", "seconds", "peak_memory", "seal")
COMMANDS = {
    "run": "run karate -p existing,uniform -m cn,ra,pa,jaccard --seeds 2 --keep-scores",
    "tune": "tune karate -p existing -m gcn --set epochs=2 --space dim=8,16 --trials 4 --seeds 2",
    "reproduce": "reproduce kills/small -o evidence.json",
    "negatives": "negatives graph.csv -o hard --shards --shard-size 16 --option k=20",
}
STUDY = "kills/small"

Content = dict[str, Any]


def import_everything() -> None:
    """Import what the commands import, without computing anything: that would start threads."""
    import torch
    import torch._dynamo

    import trueedge.cli.app
    import trueedge.search
    import trueedge.training.loop  # noqa: F401
    from trueedge import methods, studies

    torch.set_num_threads(1)
    methods.catalogue()
    studies.catalogue()
    about = {"title": "A small study", "citation": "none", "decimals": 2}
    register(studies.Study(name=STUDY, run=small_study, **about))
    gc.freeze()


def small_study(plan: Plan) -> Finding:
    """Run three heuristics on the karate club under two protocols, a few seeds each."""
    from trueedge import methods
    from trueedge.runs import Cell

    cells = [
        Cell("karate", protocol, methods.create(method), seed)
        for protocol in ("existing", "degree-corrected")
        for seed in range(3)
        for method in ("cn", "ra", "katz")
    ]
    records, missing = run_all(cells, plan)
    rows = [
        comparison((name, protocol, method.name, "auc"), [record.test["auc"] for record in found])
        for (name, protocol, method), found in records.items()
    ]
    return Finding(rows, missing, places(records.values()))


def finished(command: str, folder: Path) -> dict[str, Any]:
    """Return what is finished: rows of the store, or shards with their times, each as it is on the disk."""
    if command == "negatives":
        shards = (folder / "hard").glob("*/shard-*.npy")
        return {
            str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in shards
        }
    return {str(row[0]): row for row in rows(folder)}


def without_scores(folder: Path) -> set[str]:
    """Return the keys of records whose scores are not written: a record is stored before its scores."""
    found = set()
    for row in rows(folder):
        kept = json.loads(row[-1])["provenance"].get("kept")
        if kept is not None and not (folder / "runs" / "scores" / f"{kept['scores']}.npz").is_file():
            found.add(row[1])
    return found


def computed_again(command: str, folder: Path, before: Content, unscored: set[str]) -> int:
    """Return how many finished records were computed once more, besides those without their scores."""
    if command == "negatives":
        return 0
    keys = [row[1] for row in rows(folder)]
    known = {row[1] for row in before.values()} - unscored
    return sum(keys.count(key) - 1 for key in known)


def content(command: str, folder: Path) -> Content:
    """Return what a command leaves, without times and dates."""
    found: Content = {"the printed tables": (folder / "out").read_text()}
    if command == "negatives":
        made = (path for path in (folder / "hard").rglob("*") if path.is_file())
        return found | {str(path.relative_to(folder)): path.read_bytes() for path in made}
    for row in rows(folder):
        plain = json.loads(row[-1])
        name = f"the record of {plain['method']} under {plain['protocol']}, {row[1][:8]}"
        found[name] = {key: value for key, value in plain.items() if key not in TIMES}
    for path in (folder / "runs" / "scores").glob("[!.]*"):
        found[f"the scores {path.name[:8]}"] = path.read_bytes()
    evidence = folder / "evidence.json"
    if evidence.is_file():
        plain = json.loads(evidence.read_text())
        found["the evidence"] = {key: value for key, value in plain.items() if key != "runs"}
    return found


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows of the store as they are in the file."""
    path = folder / "runs" / "records.sqlite"
    if not path.is_file():
        return []
    connection = sqlite3.connect(path, timeout=60)
    try:
        return connection.execute("SELECT * FROM records ORDER BY id").fetchall()
    except sqlite3.OperationalError:  # killed before the table was made
        return []
    finally:
        connection.close()


def prepared(place: Path, folder: Path) -> Path:
    """Return a new folder with the inputs of the commands."""
    folder.mkdir()
    shutil.copyfile(place / "graph.csv", folder / "graph.csv")
    return folder


def trueedge_command(command: str, folder: Path) -> None:
    """Run a command in a folder, its output in files; a group of processes of its own."""
    from trueedge.cli.app import main as run

    os.setsid()
    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, number)
    sys.argv = ["trueedge", *COMMANDS[command].split()]
    run()


def fork(work: Callable[[], object]) -> int:
    """Work in a forked process; its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except SystemExit as stop:
        status = int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Leave at once: the parent's cleaning up is not the child's.
        os._exit(status)


def end_of(child: int) -> int:
    """Return the exit status of a process, once it has ended: below 0 if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
