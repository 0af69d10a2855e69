"""The end of a season: private values are shown once, labels are released, entries become certificates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.writing import new_folder, write_text
from trueedge.leaderboard.board import Board, BoardTask, Entry
from trueedge.leaderboard.board.entry import SCORED
from trueedge.leaderboard.board.standings import JUDGED
from trueedge.leaderboard.board.task_card import FrozenSeed
from trueedge.leaderboard.hidden.public_folder import read_submission
from trueedge.leaderboard.hidden.secret_folder import PLACES, TASK, Secret
from trueedge.metrics import Scores, get
from trueedge.results.certificate_check import verify
from trueedge.results.certificate_file import FORMAT, VERSION, digest, request_of, seal_of
from trueedge.results.kept_scores import describe, save_scores
from trueedge.runs.provenance import versions
from trueedge.statistics.all_pairs import all_pairs
from trueedge.statistics.sample import Sample
from trueedge.statistics.significance import mean_interval

RELEASED = "released"
LEVEL = 0.95


@dataclass(frozen=True)
class Ended:
    """What a season ended with.

    Attributes:
        released: the folder of the released labels.
        values: the private value of each entry.
        certificates: the certificate of each entry.
    """

    released: Path
    values: Mapping[str, float]
    certificates: Mapping[str, Path]


def end_season(
    board: Board, name: str, secret: Secret, submissions: Mapping[str, Path], released: Path
) -> Ended:
    """Show the private values, release the labels, and write a certificate of every entry.

    The certificates are of the whole test part, against the released task: whoever has the folder can
    recompute every number. Ending a season again changes nothing but what is missing.

    Args:
        board: the board.
        name: the name of the hidden task.
        secret: its labels.
        submissions: the file of scores of each entry, by the entry's name.
        released: a new folder for the labels, the salt, the key and the task.
    """
    task = board.task(name)
    if task.hidden.get("labels") != secret.card.labels:
        raise InputError(f"{name} was published with other labels: their salted hash differs")
    entries = [entry for entry in board.entries(name) if not entry.withdrawn]
    missing = [entry.name for entry in entries if entry.name not in submissions]
    if missing:
        raise InputError(f"the scores of {missing[0]} are missing")
    arrays = {
        entry.name: read_submission(submissions[entry.name], secret.card.shape, f"the scores of {entry.name}")
        for entry in entries
    }
    release(secret, released)
    paths = {entry.name: _certify(entry, task, secret, arrays[entry.name]) for entry in entries}
    values = {entry: secret.values(one, public=False).units for entry, one in arrays.items()}
    _write_final(board, task, entries, values)
    hidden = {**task.hidden, "phase": "final", "salt": secret.salt.hex()}
    frozen = {secret.task.seed: FrozenSeed.of(secret.task)}
    board.update_task(replace(task, hidden=hidden, seeds=frozen))
    return Ended(released, {entry: float(one.mean()) for entry, one in values.items()}, paths)


def release(secret: Secret, folder: Path) -> Path:
    """Write the labels of a hidden task for everybody: the task, the places of its questions, the keys."""
    if (folder / "released.json").is_file():
        return folder
    with new_folder(folder, "the released labels") as draft:
        secret.task.save(draft / TASK)
        np.save(draft / PLACES, secret.places, allow_pickle=False)
        (draft / "released.json").write_text(json.dumps(secret.release(), indent=1) + "\n")
    return folder


def _certify(entry: Entry, task: BoardTask, secret: Secret, submission: NDArray[np.float64]) -> Path:
    """Write the certificate of an entry beside its card; its method is known by name alone."""
    judged = secret.task
    scores = secret.scores_of(submission)
    path = entry.folder / f"seed-{judged.seed}.json"
    if path.is_file():
        return path
    file = entry.folder / f"seed-{judged.seed}.scores.npz"
    save_scores(scores, file)
    card = _card(entry, judged, scores, file.name)
    write_text(path, json.dumps(card, indent=2, allow_nan=False) + "\n", "the certificate")
    found = verify(path, judged)
    if not found.ok:
        path.unlink()
        raise InputError(f"{task.name}/{entry.name} cannot be certified: {found.differences[0].sentence}")
    return path


def _card(entry: Entry, task: Any, scores: Scores, file: str) -> dict[str, Any]:
    kept = describe(scores)
    found = versions()
    card: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kind": task.kind,
        "dataset": task.dataset,
        "protocol": task.protocol,
        "options": {},
        "method": entry.name,
        "settings": {},
        "seed": task.seed,
        "task_seed": task.seed,
        "headline": task.headline,
        "device": "submitted",
        "key": digest({"entry": entry.name, "scores": kept["scores"]}),
        "created": str((entry.scored or {}).get("time", "")),
        "metrics": {name: get(name).value(scores) for name in task.metrics_for(scores)},
        "scores": {"file": file, "form": kept["form"], "shapes": kept["shapes"]},
        "warnings": [f"{task.dataset} {task.protocol} test: {one}" for one in task.remarks(scores)],
        "source": "a submission to a hidden task",
        "versions": found,
    }
    card["hashes"] = {
        **task.hashes,
        "task": task.hash,
        "scores": kept["scores"],
        "settings": digest(request_of(card)),
        "versions": digest(found),
    }
    return {**card, "seal": seal_of(card)}


def _write_final(
    board: Board, task: BoardTask, entries: list[Entry], values: Mapping[str, NDArray[np.float64]]
) -> None:
    """Write the private values with intervals and tie groups, into each entry and the standing."""
    rows = {name: mean_interval(Sample.of([one])) for name, one in values.items()}
    names = list(rows)
    letters: dict[str, str] = dict.fromkeys(names, "a")
    if len(names) > 1:
        pairs = all_pairs([[Sample.of([values[name]])] for name in names])
        order = np.argsort(-pairs.means, kind="stable").tolist()
        found = pairs.letters(order, LEVEL)
        letters = {names[place]: " ".join(marks) for place, marks in zip(order, found, strict=True)}
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = {}
    for entry in entries:
        row = rows[entry.name]
        shown[entry.name] = {
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "letters": letters[entry.name],
        }
        before = dict(entry.scored or {})
        public = {"public": before.get("public", {"value": before.get("value")})}
        content = {
            "phase": "final",
            "metric": task.headline,
            "value": row.value,
            "interval": [row.low, row.high],
            "time": before.get("time", moment),
            "ended": before.get("ended", moment),
            **public,
        }
        write_text(entry.folder / SCORED, json.dumps(content, indent=1) + "\n", "the final value")
    standing = {"phase": "final", "metric": task.headline, "units": "private", "entries": shown}
    write_text(board.folder / task.name / JUDGED, json.dumps(standing, indent=1) + "\n", "the standing")
