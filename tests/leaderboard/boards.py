"""Certificates of built-in methods, boards that hold them, and forgeries."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

import trueedge as te
from trueedge.leaderboard.board import Board, Entry, EntryCard
from trueedge.results.certificate_file import digest, request_of, seal_of

SEEDS = (0, 1, 2)
CARD = {"name": "RA", "authors": ("A. Person",), "licence": "MIT", "submitted": "2026-01-05"}


def card(**changes: object) -> EntryCard:
    return EntryCard(**{**CARD, **changes})


@cache
def frozen(dataset: str = "karate", protocol: str = "existing") -> tuple[te.Task, ...]:
    return tuple(te.task(dataset, protocol, seed) for seed in SEEDS)


def certificates(
    folder: Path, method: str = "ra", dataset: str = "karate", protocol: str = "existing"
) -> list[Path]:
    """Run a method on all seeds and certify it, on a day before entries are submitted."""
    store = te.Store(folder / "runs")
    found = []
    for seed in SEEDS:
        record = te.run(dataset, protocol, method, seed, store=store, keep_scores=True)
        found.append(dated(te.certify(record, folder / f"{method}-{seed}.json", store)))
    return found


def dated(path: Path) -> Path:
    """Date a certificate on the day of :data:`CARD`, so that pages hold no day of today."""
    return reseal(path, created=f"{CARD['submitted']}T10:00:00+00:00")


def board_with(folder: Path, *methods: str, dataset: str = "karate", protocol: str = "existing") -> Board:
    """Make a board of one task with an entry of each method."""
    board = Board.create(folder / "board", "A board")
    task = board.add_task(list(frozen(dataset, protocol)))
    for method in methods:
        paths = certificates(folder / "made", method, dataset, protocol)
        board.add(paths, card(name=method.upper()), task.name)
    return board


def reseal(path: Path, **changes: object) -> Path:
    """Change fields of a certificate, and make its own hashes agree again, as a forger would."""
    content = {**json.loads(path.read_text()), **changes}
    content["hashes"] = {
        **content["hashes"],
        "settings": digest(request_of(content)),
        "versions": digest(content["versions"]),
    }
    content["seal"] = seal_of(content)
    path.write_text(json.dumps(content))
    return path


def reproduced(entry: Entry, by: str = "B. Person") -> None:
    """Lift an entry to the tier ``reproduced`` by running its method again."""
    from trueedge.leaderboard.board.reproducing import run_again

    board = Board.open(entry.folder.parents[1])
    run_again(entry, board.task(entry.task), by, "2026-01-06")


def perfect(path: Path) -> Path:
    """Forge a perfect certificate: every positive is above every negative, and all hashes agree."""
    from trueedge import metrics
    from trueedge.metrics import PairScores
    from trueedge.results.kept_scores import describe, save_scores

    content = json.loads(path.read_text())
    shapes = content["scores"]["shapes"]
    scores = PairScores.check(np.ones(shapes["positive"]), np.zeros(shapes["negative"]))
    save_scores(scores, path.parent / content["scores"]["file"])
    claimed = {name: metrics.get(name).value(scores) for name in content["metrics"]}
    hashes = {**content["hashes"], "scores": describe(scores)["scores"]}
    return reseal(path, metrics=claimed, hashes=hashes)
