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
from trueedge.files.cards import read_json
from trueedge.files.writing import new_folder, write_text
from trueedge.leaderboard.board import Board, BoardTask, Entry
from trueedge.leaderboard.board.entry import JUDGED, SCORED
from trueedge.leaderboard.board.task_card import FrozenSeed
from trueedge.leaderboard.hidden.ladder import Values
from trueedge.leaderboard.hidden.public_folder import read_submission
from trueedge.leaderboard.hidden.secret_folder import PLACES, TASK, Secret
from trueedge.metrics import Scores, get
from trueedge.results.certificate_check import verify
from trueedge.results.certificate_file import FORMAT, VERSION, digest, read_certificate, request_of, seal_of
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
    check_end(task, secret, board, released)
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
    values = {entry: secret.values(one, public=False) for entry, one in arrays.items()}
    _write_final(board, task, entries, values)
    hidden = {**task.hidden, "phase": "final", "salt": secret.salt.hex()}
    frozen = {secret.task.seed: FrozenSeed.of(secret.task)}
    board.update_task(replace(task, hidden=hidden, seeds=frozen))
    return Ended(released, {entry: one.mean for entry, one in values.items()}, paths)


def check_end(task: BoardTask, secret: Secret, board: Board, released: Path) -> None:
    """Refuse to end a season with other labels, or to release them where they do not belong."""
    if not task.hidden:
        raise InputError(f"{task.name} is no hidden task: its labels are public")
    if task.hidden["labels"] != secret.card.labels:
        raise InputError(f"{task.name} was published with other labels: their salted hash differs")
    if released.resolve().is_relative_to(board.folder.resolve()):
        raise InputError(
            f"the labels must not be released into the folder of the board, which holds tasks and entries"
            f" alone: {released} is in {board.folder}"
        )


def release(secret: Secret, folder: Path) -> Path:
    """Write the labels of a hidden task for everybody: the task, the places of its questions, the keys."""
    card = folder / "released.json"
    if card.is_file():
        known = read_json(card, absent=str(folder), damaged=f"{folder} is damaged: {card.name}")
        if known != secret.release():
            raise InputError(f"{folder} holds the released labels of another task")
        return folder
    with new_folder(folder, "the released task") as draft:
        secret.task.save(draft / TASK)
        np.save(draft / PLACES, secret.places, allow_pickle=False)
        (draft / card.name).write_text(json.dumps(secret.release(), indent=1) + "\n")
    return folder


def _certify(entry: Entry, task: BoardTask, secret: Secret, submission: NDArray[np.float64]) -> Path:
    """Write the certificate of an entry beside its card; its method is known by name alone."""
    judged = secret.task
    scores = secret.scores_of(submission)
    path = entry.folder / f"seed-{judged.seed}.json"
    if path.is_file():
        if read_certificate(path)["hashes"]["scores"] != describe(scores)["scores"]:
            raise InputError(f"{path} is no certificate of the scores that were submitted: remove it")
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


def _write_final(board: Board, task: BoardTask, entries: list[Entry], values: Mapping[str, Values]) -> None:
    """Write the private values with intervals and tie groups, into each entry and the standing.

    The units of one test part do not show how much values depend on negatives that all of them share. Then
    there are neither intervals nor groups, as for any task of a board.
    """
    shared = any(len(one.without) for one in values.values())
    ends: dict[str, tuple[float | None, float | None]] = dict.fromkeys(values, (None, None))
    letters = dict.fromkeys(values, "")
    if not shared:
        rows = {name: mean_interval(Sample.of([one.units])) for name, one in values.items()}
        ends = {name: (row.low, row.high) for name, row in rows.items()}
        letters = _letters({name: one.units for name, one in values.items()})
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    shown = {}
    for entry in entries:
        value, (low, high) = values[entry.name].mean, ends[entry.name]
        shown[entry.name] = {"value": value, "low": low, "high": high, "letters": letters[entry.name]}
        before = dict(entry.scored or {})
        content = {
            "phase": "final",
            "metric": task.headline,
            "value": value,
            "interval": None if low is None else [low, high],
            "time": before.get("time", moment),
            "ended": before.get("ended", moment),
            "public": before.get("public", {"value": before.get("value")}),
        }
        write_text(entry.folder / SCORED, json.dumps(content, indent=1) + "\n", "the final value")
    standing = {"phase": "final", "metric": task.headline, "units": "private", "entries": shown}
    write_text(board.folder / task.name / JUDGED, json.dumps(standing, indent=1) + "\n", "the standing")


def _letters(values: Mapping[str, NDArray[np.float64]]) -> dict[str, str]:
    """Return the letters of each entry, with spaces between them; a shared one is no difference."""
    names = list(values)
    if len(names) < 2:
        return dict.fromkeys(names, "a")
    pairs = all_pairs([[Sample.of([values[name]])] for name in names])
    order = np.argsort(-pairs.means, kind="stable").tolist()
    found = pairs.letters(order, LEVEL)
    return {names[place]: " ".join(marks) for place, marks in zip(order, found, strict=True)}
