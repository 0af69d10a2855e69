"""Check every file of a board: what ``trueedge leaderboard check`` runs before a change is accepted."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.cards import read_json
from trueedge.files.digests import file_digest
from trueedge.leaderboard.board.audit_card import FILE as AUDIT_FILE
from trueedge.leaderboard.board.audit_card import read_audit
from trueedge.leaderboard.board.certificates import (
    complaint_about_day,
    complaints_about_task,
    complaints_together,
    examined,
)
from trueedge.leaderboard.board.entry import CERTIFICATE, JUDGED, SCORED, SCORES, UNITS, Entry
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.reproducing import complaints_of_proof
from trueedge.leaderboard.board.reproduction import PROOF, Reproduction
from trueedge.leaderboard.board.task_card import FILE as TASK_FILE
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.unit_files import headline_values
from trueedge.results.certificate_check import check_content
from trueedge.tasks.base import KINDS

SEED_FILE = re.compile(rf"seed-(\d+)(\.json|{re.escape(SCORES)}|{re.escape(UNITS)})")
PROOF_SCORES = re.compile(rf"(reproduced-[a-z0-9][a-z0-9.+-]*){re.escape(SCORES)}")
BESIDE_ENTRIES = (TASK_FILE, AUDIT_FILE, JUDGED, "README.md")


def problems_of(folder: Path) -> Iterator[Problem]:
    """Yield everything that is wrong with a board."""
    yield from problems_of_folder(folder)
    for name in _task_names(folder):
        try:
            task = BoardTask.from_toml(folder / name / TASK_FILE)
        except InputError as error:
            yield Problem.of(folder, folder / name / TASK_FILE, error)
            continue
        yield from problems_of_task(folder, task)
        entries = [Entry.read(place) for place in _entry_places(folder / name)]
        found = problems_of_entries(entries, task)
        for entry in entries:
            yield from found.get(entry.name, ())
            yield from _dates(entry)


def problems_of_folder(folder: Path) -> Iterator[Problem]:
    """Yield what is wrong with a board's folder: what is in it beside tasks."""
    for place in sorted(folder.iterdir()):
        if place.name.startswith("."):
            continue
        if place.is_symlink():
            yield Problem(place.name, "it is a link: a board holds files and folders alone")
        elif place.is_dir() and not (place / TASK_FILE).is_file():
            yield Problem(place.name, f"it has no {TASK_FILE}")


def problems_of_task(folder: Path, task: BoardTask) -> Iterator[Problem]:
    """Yield what is wrong with a task's card, its audit, and the files beside its entries."""
    place = folder / task.name
    if task.superseded_by and task.superseded_by not in _task_names(folder):
        yield Problem(task.name, f"it is superseded by {task.superseded_by}, which is not on the board")
    elif task.superseded_by and _is_its_own_successor(folder, task):
        yield Problem(task.name, f"it is superseded by {task.superseded_by}, which leads back to it")
    kind = KINDS.find(task.kind)
    if kind is not None and task.unit != kind.unit:
        yield Problem(
            f"{task.name}/{TASK_FILE}", f"unit is {task.unit!r}, that of a {task.kind} task is {kind.unit!r}"
        )
    try:
        found = read_audit(place)
    except InputError as error:
        yield Problem.of(folder, place / AUDIT_FILE, error)
    else:
        if task.audit and found is None:
            yield Problem(task.name, f"it has no {AUDIT_FILE}, although its card names one")
        elif task.audit and file_digest(place / AUDIT_FILE) != task.audit:
            yield Problem(f"{task.name}/{AUDIT_FILE}", "it is not the audit that the task's card names")
    for one in sorted(place.iterdir()):
        where = str(one.relative_to(folder))
        if one.is_symlink():
            yield Problem(where, "it is a link: a board holds files and folders alone")
        elif not one.is_dir() and not one.name.startswith(".") and one.name not in BESIDE_ENTRIES:
            yield Problem(where, "no such file belongs beside the entries of a task")


def problems_of_entries(entries: Sequence[Entry], task: BoardTask) -> dict[str, list[Problem]]:
    """Return everything that is wrong with the entries of a task, by the name of the entry.

    Values of the headline that were verified are kept in the entries, so that ranks need not read the scores
    again.
    """
    found = {entry.name: [_without_folder(one, entry) for one in _entry(entry, task)] for entry in entries}
    # A card that cannot be read does not say whose the certificates are.
    blamed = {one.name for one in entries if found[one.name] and one.damage is None}
    for name, problem in _shared_seals(entries, blamed):
        found[name].append(problem)
    return {name: problems for name, problems in found.items() if problems}


def _is_its_own_successor(folder: Path, task: BoardTask) -> bool:
    """Return whether the successors of a task lead back to it."""
    seen: set[str] = set()
    name = task.superseded_by
    while name and name not in seen and name != task.name:
        seen.add(name)
        try:
            name = BoardTask.from_toml(folder / name / TASK_FILE).superseded_by
        except InputError:  # named by the check of that task
            return False
    return name == task.name


def _task_names(folder: Path) -> list[str]:
    """Return the folders of a board that have a task's card."""
    return sorted(
        one.name
        for one in folder.iterdir()
        if not one.name.startswith(".") and not one.is_symlink() and (one / TASK_FILE).is_file()
    )


def _entry_places(place: Path) -> list[Path]:
    return [
        one
        for one in sorted(place.iterdir())
        if one.is_dir() and not one.is_symlink() and not one.name.startswith(".")
    ]


def _entry(entry: Entry, task: BoardTask) -> Iterator[Problem]:
    """Yield everything that is wrong with one entry, but for what it shares with others."""
    if entry.damage is not None:
        yield entry.damage
        return
    folder, where = entry.folder.parents[1], f"{task.name}/{entry.name}"
    yield from _files(folder, entry)
    if not entry.card.submitted:
        yield Problem(f"{where}/{ENTRY_FILE}", "submitted is missing: the day of the submission")
    try:
        cards = {path.name: entry.certificates[seed] for seed, path in entry.paths.items()}
        scored = entry.scored
    except InputError as error:
        yield Problem(where, str(error))
        return
    if scored is not None and not task.hidden:
        yield Problem(f"{where}/{SCORED}", "only the judge of a hidden task scores an entry")
    elif scored is not None and task.seeds and not entry.withdrawn:
        # The labels are public now: a certificate could be forged, and no judge scores any more.
        yield from _scored_at_the_end(entry, scored)
    if not cards and scored is None and not entry.withdrawn:
        yield Problem(where, "it has no certificate")
    for sentence in complaints_together(cards):
        yield Problem(where, sentence)
    if entry.card.submitted and (late := complaint_about_day(entry.card.submitted, cards)):
        yield Problem(f"{where}/{ENTRY_FILE}", late)
    for name, card in cards.items():
        if name != f"seed-{card['seed']}.json":
            yield Problem(f"{where}/{name}", f"it is a certificate of seed {card['seed']}")
    for seed in entry.paths:
        for sentence in _certificate(entry, seed, task):
            yield Problem(where, sentence)
    yield from _proofs(folder, entry, task)


def _scored_at_the_end(entry: Entry, scored: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem unless the standing of the season's end has the value of an entry."""
    where = f"{entry.task}/{entry.name}/{SCORED}"
    path = entry.folder.parent / JUDGED
    try:
        found = read_json(path, absent=entry.task, damaged=f"{entry.task}/{JUDGED}: it")
    except InputError as error:
        yield Problem(where, str(error))
        return
    listed = found.get("entries") if isinstance(found, dict) else None
    known = listed.get(entry.name) if isinstance(listed, dict) else None
    if not isinstance(known, dict) or known.get("value") != scored.get("value"):
        yield Problem(where, f"its value is not in {JUDGED}, as those of all entries at the season's end")


def _shared_seals(entries: Sequence[Entry], damaged: Set[str]) -> Iterator[tuple[str, Problem]]:
    """Yield the entries that have a certificate of another one.

    The files do not say whose it is, so that both are named, unless other problems of one say it.
    """
    owners: dict[str, list[tuple[Entry, Path]]] = {}
    for entry in entries:
        with suppress(InputError):  # named by the check of the entry
            for seed, card in entry.certificates.items():
                owners.setdefault(card["seal"], []).append((entry, entry.paths[seed]))
    for held in owners.values():
        blamed = [one for one in held if one[0].name in damaged] or held
        for entry, path in blamed:
            other = next((one for one, _ in held if one is not entry), None)
            if other is not None:
                sentence = f"it has the seal of a certificate of {other.task}/{other.name}"
                yield entry.name, Problem(f"{entry.task}/{entry.name}/{path.name}", sentence)


def _dates(entry: Entry) -> Iterator[Problem]:
    """Yield days that are still to come; pages do not depend on today, so only the check asks for it."""
    where, card = f"{entry.task}/{entry.name}", entry.card
    dated = [(ENTRY_FILE, "submitted", card.submitted)]
    if card.withdrawn is not None:
        dated.append((ENTRY_FILE, "the date of the withdrawal", card.withdrawn.date))
    for path in sorted(entry.folder.iterdir()):
        if PROOF.fullmatch(path.name):
            with suppress(InputError):  # named by the check of the proof
                dated.append((path.name, "date", Reproduction.read(path).date))
    # Somewhere it is tomorrow already.
    latest = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)).date().isoformat()
    for name, field, date in dated:
        if date > latest:
            yield Problem(f"{where}/{name}", f"{field} is {date}, a day to come")


def _certificate(entry: Entry, seed: int, task: BoardTask) -> Iterator[str]:
    if entry.scores_path(seed).is_file() or not entry.units_path(seed).is_file():
        found, values = examined(entry.paths[seed], task, entry.certificates[seed])
        if values is not None:
            entry.kept_values[seed] = values
        yield from found
        return
    # The scores are elsewhere: the seal, the hashes and the headline are what can be checked here.
    card = entry.certificates[seed]
    for sentence in complaints_about_task(card, task):
        yield f"seed-{seed}.json: {sentence}"
    for check in check_content(card, InputError("")):
        if not check.ok and check.name != "scores":
            yield f"seed-{seed}.json: {check.name}: {check.sentence}"
    try:
        headline_values(entry, seed)
    except InputError as error:
        yield str(error)


def _files(folder: Path, entry: Entry) -> Iterator[Problem]:
    """Yield the files of an entry that do not belong there."""
    for one in sorted(entry.folder.iterdir()):
        where = str(one.relative_to(folder))
        seed = SEED_FILE.fullmatch(one.name)
        known = one.name in (ENTRY_FILE, SCORED) or PROOF.fullmatch(one.name)
        proven = PROOF_SCORES.fullmatch(one.name)
        if one.is_symlink():
            yield Problem(where, "it is a link: a board holds files and folders alone")
        elif not one.is_file():
            yield Problem(where, "it is not a regular file")
        elif one.name.startswith("."):
            continue
        elif proven and not (entry.folder / f"{proven[1]}.json").is_file():
            yield Problem(where, f"there is no proof {proven[1]}.json")
        elif not known and not proven and seed is None:
            yield Problem(where, "no such file belongs to an entry")
        elif seed is not None and not CERTIFICATE.fullmatch(one.name) and int(seed[1]) not in entry.paths:
            yield Problem(where, f"there is no certificate seed-{seed[1]}.json")


def _proofs(folder: Path, entry: Entry, task: BoardTask) -> Iterator[Problem]:
    for path in sorted(entry.folder.iterdir()):
        if not PROOF.fullmatch(path.name):
            continue
        try:
            for sentence in complaints_of_proof(path, entry, task):
                yield Problem(str(path.relative_to(folder)), sentence)
        except InputError as error:
            yield Problem.of(folder, path, error)


def _without_folder(problem: Problem, entry: Entry) -> Problem:
    """Return a problem whose sentence names files from the board's folder on, as on every machine."""
    sentence = problem.sentence
    for folder in (entry.folder, entry.folder.parents[1]):
        if folder.name:
            sentence = sentence.replace(f"{folder}/", "")
    return Problem(problem.path, sentence)
