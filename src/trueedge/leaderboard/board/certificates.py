"""Check the certificates of an entry against the card of its task."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.text import shown
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.metrics import Scores
from trueedge.metrics import get as get_metric
from trueedge.metrics.units import plural
from trueedge.results.certificate_check import certified_scores, check_content
from trueedge.results.certificate_claims import check_headline
from trueedge.results.certificate_file import read_certificate
from trueedge.results.packed_units import is_mean
from trueedge.tasks.test_parts import hash_of_test_part

Array = NDArray[np.float64]
# What all certificates of an entry must have in common.
SAME = ("dataset", "protocol", "options", "method", "settings", "headline", "kind")


def complaints_of(path: Path, task: BoardTask) -> list[str]:
    """Return what is wrong with one certificate and its scores, a sentence each; empty if it is fine."""
    return examined(path, task)[0]


def examined(
    path: Path, task: BoardTask, card: Mapping[str, Any] | None = None
) -> tuple[list[str], Array | None]:
    """Return what is wrong with one certificate, and the headline's value for each unit if nothing is.

    Args:
        path: the certificate, with its scores beside it.
        task: its task.
        card: its content, if it was read before.
    """
    try:
        card = read_certificate(path) if card is None else card
    except InputError as error:
        return [str(error)], None
    scores = certified_scores(path, card)
    found = [f"{path.name}: {one}" for one in complaints_about_task(card, task)]
    checks = [*check_content(card, scores), *check_headline(card, None)]
    found += [f"{path.name}: {one.name}: {one.sentence}" for one in checks if not one.ok]
    if isinstance(scores, InputError):
        return found, None
    trouble, values = _values(card, scores, task)
    if trouble:
        found.append(f"{path.name}: {trouble}")
    return found, None if found else values


def complaints_about_task(card: Mapping[str, Any], task: BoardTask) -> Iterator[str]:
    """Yield what a certificate says of its task that is not so."""
    if card["version"] < 3:
        yield f"it has the version {card['version']}; a board takes version 3"
        return
    for name in ("dataset", "protocol", "kind", "headline"):
        if card[name] != getattr(task, name):
            yield f"its {name} is {card[name]!r}, that of the task is {getattr(task, name)!r}"
    frozen = task.seeds.get(card["task_seed"])
    if frozen is None:
        listed = ", ".join(map(str, task.seeds)) or "none yet"
        yield f"it is of the task's seed {card['task_seed']}; {task.name} has the seeds {listed}"
    elif card["hashes"]["task"] != frozen.task:
        yield (
            f"it is of another task: its hash is {card['hashes']['task'][:12]}…, that of {task.name}, seed"
            f" {card['task_seed']}, is {frozen.task[:12]}…"
        )
    elif frozen.test_part and hash_of_test_part(task.kind, card["hashes"], frozen.task) != frozen.test_part:
        yield f"its hashes of the test part are not those of {task.name}, seed {card['task_seed']}"


def _values(card: Mapping[str, Any], scores: Scores, task: BoardTask) -> tuple[str, Array | None]:
    """Return why scores cannot be of the task, or the headline's value for each unit.

    They cannot be if they have another size, other labels, or a headline that is not the mean over units.
    """
    frozen = task.seeds.get(card["task_seed"])
    trouble = "" if frozen is None else frozen.mismatch(scores)
    if trouble:
        return trouble, None
    claimed = card["metrics"].get(task.headline)
    try:
        values = get_metric(task.headline).per_unit(scores)
    except InputError:
        return "", None
    if claimed is not None and not is_mean(mean := float(np.mean(values)), claimed):
        return f"{task.headline} is {claimed!r}, but its mean over {plural(task.unit)} is {mean!r}", None
    return "", values


def complaints_together(cards: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield why certificates, by their file's name, cannot be those of one entry."""
    names = list(cards)
    for name in names[1:]:
        for what in SAME:
            if cards[name].get(what) != cards[names[0]].get(what):
                yield f"{name} has other {what} than {names[0]}: an entry is one method with one setting"
                break
    seals: dict[str, str] = {}
    seeds: dict[int, str] = {}
    for name, card in cards.items():
        same, beside = seals.setdefault(card["seal"], name), seeds.setdefault(card["seed"], name)
        if same != name:
            yield f"{same} and {name} are the same certificate twice"
        elif beside != name:
            yield f"{beside} and {name} are two certificates of one seed, {card['seed']}"


def complaint_about_day(submitted: str, cards: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why an entry cannot have been submitted on a day; empty if it can.

    Its first certificate must have been created by then. Certificates are dated in UTC, and where it is
    yesterday still, the day before is right.

    Args:
        submitted: the day.
        cards: the certificates by their file's name.
    """
    days = []
    for name, card in cards.items():
        try:
            days.append(datetime.date.fromisoformat(card["created"][:10]))
        except ValueError:
            return f"{name} was created on {shown(card['created'])}, which is no day"
    if not days or datetime.date.fromisoformat(submitted) >= min(days) - datetime.timedelta(days=1):
        return ""
    return f"submitted is {submitted}, but the first certificate was created on {min(days)}"


def missing_seeds(task: BoardTask, cards: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the seeds of a task that no certificate is of: an entry without them is not ranked."""
    held = {card["task_seed"] for card in cards}
    return [seed for seed in task.seeds if seed not in held]
