"""Build the site of a large board from generated certificates, and check a certificate of 30 million scores.

python -m benchmarks.leaderboard_build                               1,000 entries on each of 50 tasks
python -m benchmarks.leaderboard_build --entries 50 --tasks 4        a smaller board
python -m benchmarks.leaderboard_build --only certificate            the certificate alone

The certificates are real: each has its scores, verifies, and differs from all others. Wall times depend on
what else runs on the machine, so CPU times are measured too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trueedge import metrics
from trueedge.files.writing import write_text
from trueedge.leaderboard.board import Board, BoardTask, EntryCard, FrozenSeed
from trueedge.leaderboard.board.reproducing import LEVEL
from trueedge.leaderboard.pages import build
from trueedge.metrics import PairScores
from trueedge.results.certificate_check import verify
from trueedge.results.certificate_file import FORMAT, VERSION, digest, request_of, seal_of
from trueedge.results.kept_scores import describe, save_scores
from trueedge.runs.provenance import machine, versions
from trueedge.statistics.significance import mean_interval

RESULTS = Path(__file__).parent / "results" / "leaderboard_build.json"
NAMES = ("mrr", "hits@1", "hits@3", "hits@10", "mrr.optimistic", "mrr.pessimistic")
LARGEST_PAGE = 300_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the results; the status is 1 if a page is too large."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scores", type=int, default=30_000_000)
    parser.add_argument("--only", choices=("site", "certificate"))
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {"machine": machine(), "versions": versions(), "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(prefix="leaderboard-") as place:
        if given.only != "site":
            found["certificate"] = measure_certificate(Path(place), given.scores)
        if given.only != "certificate":
            found["site"] = measure_site(
                Path(place), given.entries, given.tasks, given.seeds, given.units, given.jobs
            )
    print(json.dumps(found, indent=2))
    write_text(given.output, json.dumps(found, indent=2) + "\n", "the results")
    return int(found.get("site", {}).get("largest_page_bytes", 0) > LARGEST_PAGE)


def measure_certificate(place: Path, scores: int) -> dict[str, Any]:
    """Verify a certificate twice, and measure the second time."""
    positives = max(1, scores // 500)
    rng = np.random.default_rng(0)
    made = PairScores.check(
        rng.normal(1, 1, positives).astype(np.float32).astype(np.float64),
        rng.normal(0, 1, (positives, 499)).astype(np.float32),
    )
    path = place / "large.json"
    save_scores(made, path.with_suffix(".scores.npz"))
    path.write_text(
        json.dumps(certificate(made, "large", 0, digest("large"), path.with_suffix(".scores.npz").name))
    )
    del made
    times = []
    for _ in range(3):
        start, busy = time.perf_counter(), time.process_time()
        assert verify(path).ok
        times.append((time.perf_counter() - start, time.process_time() - busy))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    wall, busy = min(times[1:])
    return {"scores": 500 * positives, "seconds": wall, "cpu_seconds": busy, "peak_memory_of_process": peak}


def measure_site(place: Path, entries: int, tasks: int, seeds: int, units: int, jobs: int) -> dict[str, Any]:
    """Make a board, build its site, then again without a change, and after a change of one entry."""
    board = make_board(place / "board", entries, tasks, seeds, units)
    found: dict[str, Any] = {"entries": entries, "tasks": tasks, "seeds": seeds, "units": units, "jobs": jobs}
    found["first"] = _timed(board, place / "site", jobs)
    found["unchanged"] = _timed(board, place / "site", jobs)
    board.withdraw(board.tasks()[0].name, "entry-0000", "measured", date="2026-01-02")
    found["one_entry_changed"] = _timed(board, place / "site", jobs)
    sizes = [path.stat().st_size for path in (place / "site").rglob("*.html")]
    found |= {"pages": len(sizes), "largest_page_bytes": max(sizes), "site_bytes": sum(sizes)}
    found["hash"] = hash_of(place / "site")
    shutil.rmtree(place / "site")
    (place / "board" / ".build.json").unlink()
    moved = place / "elsewhere" / "board"
    moved.parent.mkdir()
    shutil.move(place / "board", moved)
    build(Board.open(moved), place / "rebuilt", jobs=jobs)
    found["same_bytes_when_rebuilt"] = hash_of(place / "rebuilt") == found["hash"]
    return found


def _timed(board: Board, site: Path, jobs: int) -> dict[str, float]:
    start, before = time.perf_counter(), _cpu()
    build(board, site, jobs=jobs)
    return {"seconds": time.perf_counter() - start, "cpu_seconds": _cpu() - before}


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def make_board(folder: Path, entries: int, tasks: int, seeds: int, units: int) -> Board:
    """Make a board of generated certificates; its entries count as reproduced."""
    board = Board.create(folder, "A large board")
    for number in range(tasks):
        name = f"task-{number:02d}"
        frozen = {
            seed: FrozenSeed(
                task=digest([name, seed]), shapes={"positive": (units,), "negative": (units, 20)}
            )
            for seed in range(seeds)
        }
        given = {"title": f"Task {number}", "dataset": name, "protocol": "heart", "kind": "link"}
        board.add_task(BoardTask(name=name, headline="mrr", seeds=frozen, **given))
        for place in range(entries):
            _write_entry(folder / name / f"entry-{place:04d}", name, place, seeds, units)
    return board


def _write_entry(folder: Path, task: str, place: int, seeds: int, units: int) -> None:
    folder.mkdir()
    card = EntryCard(
        name=f"Entry {place}",
        authors=(f"Author {place % 70}", "Another Author"),
        licence="MIT",
        code=f"https://example.org/code/{place}",
        commit=f"{place:07x}",
        submitted=f"2025-{1 + place % 12:02d}-{1 + place % 28:02d}",
    )
    (folder / "entry.toml").write_text(card.to_toml())
    for seed in range(seeds):
        rng = np.random.default_rng([int(task[-2:]), place, seed])
        shift = 2.0 * place / 1000
        scores = PairScores.check(
            (rng.normal(shift, 1, units)).astype(np.float32).astype(np.float64),
            rng.normal(0, 1, (units, 20)).astype(np.float32),
        )
        save_scores(scores, folder / f"seed-{seed}.scores.npz")
        made = certificate(
            scores, task, seed, digest([task, seed]), f"seed-{seed}.scores.npz", f"method-{place}"
        )
        (folder / f"seed-{seed}.json").write_text(json.dumps(made))
        if seed == 0:
            proof = {
                "format": "trueedge reproduction",
                "by": "Somebody",
                "date": "2026-02-01",
                "how": "rerun",
            }
            value = made["metrics"]["mrr"]
            proof |= {"seed": 0, "seal": made["seal"], "metric": "mrr", "value": value}
            found = mean_interval(metrics.get("mrr").per_unit(scores), LEVEL)
            ends = {"low": max(found.low, 0.0), "high": min(found.high, 1.0)}
            proof |= {**ends, "certificate": {}, "versions": {}}
            (folder / "reproduced-somebody-0.json").write_text(json.dumps(proof))


def certificate(
    scores: PairScores, dataset: str, seed: int, task: str, file: str, method: str = "generated"
) -> dict[str, Any]:
    """Return a certificate of generated scores."""
    kept = describe(scores)
    card: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": "link",
        "dataset": dataset,
        "protocol": "heart",
        "options": {},
        "method": method,
        "settings": {"width": 64, "layers": 2},
        "seed": seed,
        "task_seed": seed,
        "headline": "mrr",
        "device": "cpu",
        "key": digest([dataset, method, seed]),
        "created": "2025-01-01T00:00:00+00:00",
        "metrics": {name: metrics.get(name).value(scores) for name in NAMES},
        "seconds": {"task": 0.1, "fit": 12.5, "score": 0.5},
        "peak_memory": 1 << 30,
        "scores": {"file": file, "form": kept["form"], "shapes": kept["shapes"]},
        "versions": {"trueedge": "0", "numpy": "0"},
    }
    card["hashes"] = {
        "task": task,
        "scores": kept["scores"],
        "settings": digest(request_of(card)),
        "versions": digest(card["versions"]),
    }
    return {**card, "seal": seal_of(card)}


def hash_of(folder: Path) -> str:
    """Return a hash of the names and bytes of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
