"""Check every file of a board: what ``trueedge leaderboard check`` runs before a change is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trueedge.errors import InputError
from trueedge.leaderboard.board.certificates import (
    complaints_about_task,
    complaints_of,
    complaints_together,
)
from trueedge.leaderboard.board.entry import CERTIFICATE, SCORED, SCORES, UNITS, Entry
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.reproducing import complaints_of_proof
from trueedge.leaderboard.board.reproduction import PROOF
from trueedge.leaderboard.board.task_card import FILE as TASK_FILE
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.text_fields import folder_name
from trueedge.leaderboard.board.unit_files import headline_values
from trueedge.results.certificate_check import check_content

SEED_FILE = re.compile(rf"seed-(\d+)(\.json|{re.escape(SCORES)}|{re.escape(UNITS)})")
PROOF_SCORES = re.compile(rf"reproduced-[a-z0-9][a-z0-9.+-]*{re.escape(SCORES)}")
BESIDE_ENTRIES = (TASK_FILE, "audit.json", "standing.json", "README.md")


def problems_of(folder: Path) -> Iterator[Problem]:
    """Yield everything that is wrong with a board."""
    names = set()
    for place in sorted(folder.iterdir()):
        if place.name.startswith("."):
            continue
        if place.is_symlink():
            yield Problem(place.name, "it is a link: a board holds files and folders alone")
        elif place.is_dir() and (place / TASK_FILE).is_file():
            names.add(place.name)
        elif place.is_dir():
            yield Problem(place.name, f"it has no {TASK_FILE}")
    for name in sorted(names):
        try:
            task = BoardTask.from_toml(folder / name / TASK_FILE)
        except InputError as error:
            yield _problem(folder, folder / name / TASK_FILE, error)
            continue
        if task.superseded_by and task.superseded_by not in names:
            yield Problem(name, f"it is superseded by {task.superseded_by}, which is not on the board")
        yield from _task(folder, folder / name, task)


def _task(folder: Path, place: Path, task: BoardTask) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for one in sorted(place.iterdir()):
        where = str(one.relative_to(folder))
        if one.is_symlink():
            yield Problem(where, "it is a link: a board holds files and folders alone")
        elif one.name.startswith(".") or one.name in BESIDE_ENTRIES:
            continue
        elif not one.is_dir():
            yield Problem(where, "no such file belongs beside the entries of a task")
        else:
            yield from entry_problems(folder, one, task, owners)


def entry_problems(folder: Path, place: Path, task: BoardTask, owners: dict[str, str]) -> Iterator[Problem]:
    """Yield everything that is wrong with one entry.

    Args:
        folder: the board's folder.
        place: the entry's.
        task: its task.
        owners: the entry that each seal was found in; those of this one are added.
    """
    where = str(place.relative_to(folder))
    try:
        folder_name(place.name, "the name of an entry")
        entry = Entry.open(place)
    except InputError as error:
        yield _problem(folder, place / ENTRY_FILE, error)
        return
    yield from _files(folder, entry)
    if not entry.card.submitted:
        yield Problem(f"{where}/{ENTRY_FILE}", "submitted is missing: the day of the submission")
    try:
        cards = {path.name: entry.certificates[seed] for seed, path in entry.paths.items()}
        scored = entry.scored
    except InputError as error:
        yield _problem(folder, place, error)
        return
    if scored is not None and not task.hidden:
        yield Problem(f"{where}/{SCORED}", "only the judge of a hidden task scores an entry")
    if not cards and scored is None and not entry.withdrawn:
        yield Problem(where, "it has no certificate")
    for sentence in complaints_together(cards):
        yield Problem(where, sentence)
    for name, card in cards.items():
        if name != f"seed-{card['seed']}.json":
            yield Problem(f"{where}/{name}", f"it is a certificate of seed {card['seed']}")
        other = owners.setdefault(card["seal"], where)
        if other != where:
            yield Problem(f"{where}/{name}", f"it has the seal of a certificate of {other}")
    for seed in entry.paths:
        for sentence in _certificate(entry, seed, task):
            yield Problem(where, sentence)
    yield from _proofs(folder, entry, task)


def _certificate(entry: Entry, seed: int, task: BoardTask) -> Iterator[str]:
    if entry.scores_path(seed).is_file() or not entry.units_path(seed).is_file():
        yield from complaints_of(entry.paths[seed], task)
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
        known = (
            one.name in (ENTRY_FILE, SCORED) or PROOF.fullmatch(one.name) or PROOF_SCORES.fullmatch(one.name)
        )
        if one.is_symlink():
            yield Problem(where, "it is a link: a board holds files and folders alone")
        elif not one.is_file():
            yield Problem(where, "it is not a regular file")
        elif one.name.startswith("."):
            continue
        elif not known and seed is None:
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
            yield _problem(folder, path, error)


def _problem(folder: Path, path: Path, error: InputError) -> Problem:
    """Return an error of a file as a problem that names the file once."""
    sentence = str(error).removeprefix(f"{path}: ").removeprefix(f"{path} ").replace(f"{folder}/", "")
    return Problem(str(path.relative_to(folder)), sentence)
