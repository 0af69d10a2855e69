"""A board: a folder of tasks, entries and certificates, which git keeps and anyone can check."""

from __future__ import annotations

import datetime
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, StoreWarning, unknown
from trueedge.files.digests import file_digest
from trueedge.files.writing import new_folder, write_text
from trueedge.leaderboard.board.audit_card import write_audit
from trueedge.leaderboard.board.certificates import complaint_about_day, complaints_of, complaints_together
from trueedge.leaderboard.board.checking import BESIDE_ENTRIES, problems_of
from trueedge.leaderboard.board.entry import Entry
from trueedge.leaderboard.board.entry_card import FILE as ENTRY_FILE
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.entry_files import ELSEWHERE, sync_folder, write_entry
from trueedge.leaderboard.board.held_entries import Held, HeldEntries
from trueedge.leaderboard.board.problem import Problem
from trueedge.leaderboard.board.task_card import FILE as TASK_FILE
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.leaderboard.board.text_fields import (
    folder_name,
    folder_of_entry,
    is_folder_name,
    text_field,
)
from trueedge.leaderboard.board.toml_files import read_toml, toml_text
from trueedge.results.certificate_file import read_certificate
from trueedge.tasks import Task

FILE = "board.toml"
FORMAT = "trueedge leaderboard"
VERSION = 1
IGNORED = f"{ELSEWHERE}/\n.build.json\n.*.draft\n"


class Board:
    """A folder of tasks and entries.

    Args:
        folder: the folder, which has a ``board.toml``; see :meth:`open` and :meth:`create`.
        title: what pages call it.
    """

    def __init__(self, folder: Path, title: str) -> None:
        self.folder = folder
        self.title = title
        self._held = HeldEntries()

    def __repr__(self) -> str:
        return f"Board({self.title})"

    @classmethod
    def open(cls, folder: str | Path) -> Board:
        """Open the board of a folder."""
        place = Path(folder)
        if not (place / FILE).is_file():
            raise InputError(
                f"{place} is not a board: it has no {FILE} ('trueedge leaderboard create' makes one)"
            )
        values = read_toml(place / FILE)
        if values.get("format") != FORMAT or values.get("version") != VERSION:
            raise InputError(f"{place / FILE} does not say format = {FORMAT!r} and version = {VERSION}")
        try:
            return cls(place, text_field(values.get("title"), "title"))
        except InputError as error:
            raise InputError(f"{place / FILE}: {error}") from None

    @classmethod
    def create(cls, folder: str | Path, title: str = "Leaderboard") -> Board:
        """Make an empty board in a new or empty folder; a folder under version control counts as empty."""
        place = Path(folder)
        checked = text_field(title, "title")
        if place.is_dir() and any(one for one in place.iterdir() if not one.name.startswith(".")):
            raise InputError(f"the folder {place} is not empty: a board is made in a new one")
        card = {"format": FORMAT, "version": VERSION, "title": checked}
        write_text(place / FILE, toml_text(card), "the board")
        if not (place / ".gitignore").exists():
            write_text(place / ".gitignore", IGNORED, "the board")
        return cls(place, checked)

    def tasks(self) -> list[BoardTask]:
        """Return the tasks, by name."""
        return [BoardTask.from_toml(path) for path in self._task_cards()]

    def task(self, name: str) -> BoardTask:
        """Return a task by name."""
        path = self.folder / name / TASK_FILE
        if not is_folder_name(name) or not path.is_file():
            known = [one.parent.name for one in self._task_cards()]
            raise unknown("task of this board", name, known, hint="" if known else "it has no tasks yet")
        return BoardTask.from_toml(path)

    def entries(self, task: str | BoardTask, *, damaged: bool = False) -> list[Entry]:
        """Return the entries of a task, by name, withdrawn ones too.

        Args:
            task: the task.
            damaged: whether those whose card cannot be read are among them; else such a card is an error.
        """
        read = Entry.read if damaged else Entry.open
        return [read(folder) for folder in self._entry_folders(self._named(task))]

    def entry(self, task: str | BoardTask, name: str) -> Entry:
        """Return an entry by name."""
        place = self._named(task)
        folder = self.folder / place / name
        if not is_folder_name(name) or not (folder / ENTRY_FILE).is_file():
            known = [one.name for one in self._entry_folders(place)]
            raise unknown("entry of this task", name, known, hint="" if known else "it has no entries yet")
        return Entry.open(folder)

    def add_task(
        self, task: Task | Sequence[Task] | BoardTask, name: str | None = None, **given: Any
    ) -> BoardTask:
        """Add a task, given as frozen tasks of several seeds; the same task again changes nothing.

        Args:
            task: a frozen task, several that differ in their seed, or a card.
            name: the name of its folder; by default made of data set and protocol.
            given: further fields of the card: ``title``, ``version``, ``options``, ``source``, ``hidden``.
        """
        if isinstance(task, BoardTask):
            card = replace(task, name=name or task.name, **given)
        else:
            card = BoardTask.of([task] if isinstance(task, Task) else list(task), name, **given)
        path = self.folder / card.name / TASK_FILE
        if path.exists():
            known = self.task(card.name)
            if known != card:
                raise InputError(
                    f"{card.name} is another task on this board: give a changed task a name of its own, and"
                    " the old one superseded_by"
                )
            if [one.part for one in known.seeds.values()] != [one.part for one in card.seeds.values()]:
                # An older card does not say which seeds have the same test part.
                return self.update_task(replace(known, seeds=card.seeds))
            return known
        write_text(path, card.to_toml(), "the task")
        return card

    def add_audit(self, name: str, task: Task) -> None:
        """Audit a task and keep what was found; its card says that there is an audit, and which."""
        path = write_audit(self.folder / name, task)
        if path is not None:
            self.update_task(replace(self.task(name), audit=file_digest(path)))

    def update_task(self, card: BoardTask) -> BoardTask:
        """Replace the card of a task that is on the board, for example when a season ends."""
        self.task(card.name)
        write_text(self.folder / card.name / TASK_FILE, card.to_toml(), "the task")
        return card

    def add(
        self,
        certificates: Sequence[str | Path],
        card: EntryCard,
        task: str | None = None,
        name: str | None = None,
    ) -> Entry:
        """Verify certificates and add them as an entry: all of it or nothing.

        The same entry again changes nothing; further seeds of an entry are added to it. Another entry whose
        card cannot be read is left as it is, and named in a :class:`~trueedge.errors.StoreWarning`.

        Args:
            certificates: the ``.json`` files, each with its scores beside it.
            card: what the entry says about itself.
            task: the name of the task; by default the one that the certificates are of.
            name: the name of the entry's folder; by default made of the card's name.
        """
        paths = [Path(path) for path in certificates]
        if not paths:
            raise InputError("there is no certificate to add")
        for place, path in enumerate(paths):
            if path in paths[:place]:
                raise InputError(f"{path} is given twice: an entry has one certificate for each seed")
        cards = [read_certificate(path) for path in paths]
        chosen = self.task(task) if task is not None else self._task_of(cards[0])
        if chosen.superseded_by:
            raise InputError(f"the task {chosen.name} is closed: {chosen.superseded_by} is its successor")
        folder = self._folder_for(chosen, card, name)
        earlier = self._earlier(folder, card)
        others = self._others(chosen.name, folder.name)
        _refuse_replayed(chosen.name, others, dict(zip(paths, cards, strict=True)))
        known = earlier.seals if earlier else frozenset()
        new = [(path, one) for path, one in zip(paths, cards, strict=True) if one["seal"] not in known]
        held = (
            {} if earlier is None else {earlier.paths[k].name: one for k, one in earlier.certificates.items()}
        )
        together = {**held, **{f"{place}. {path.name}": one for place, (path, one) in enumerate(new, 1)}}
        found = [*complaints_together(together)]
        found += [sentence for path, _ in new if not found for sentence in complaints_of(path, chosen)]
        dated = card if card.submitted else replace(card, submitted=today())
        if earlier is None and (late := complaint_about_day(dated.submitted, together)):
            found.append(late)
        if found:
            raise InputError(found[0] + (f" (and {len(found) - 1} more)" if len(found) > 1 else ""))
        if earlier is None:
            with new_folder(folder, "the entry") as draft:
                write_entry(self.folder, draft, new, dated)
            sync_folder(folder.parent)
        elif new:
            write_entry(self.folder, folder, new, None)
        _warn_of_damage(others)
        return Entry.open(folder)

    def withdraw(self, task: str, entry: str, reason: str, *, keep: bool = True, date: str = "") -> Entry:
        """Withdraw an entry: its card stays with the reason, and its certificates if ``keep`` is true.

        The certificates of an entry that was withdrawn before can be removed too. It keeps its day, and the
        new reason takes the place of the older one.
        """
        found = self.entry(task, entry)
        files = [] if keep else [path for path in found.folder.iterdir() if path.name != ENTRY_FILE]
        gone = found.card.withdrawn
        if gone is not None and not files:
            raise InputError(f"{task}/{entry} was withdrawn already")
        card = found.card.withdraw(reason, date or (today() if gone is None else gone.date))
        write_text(found.folder / ENTRY_FILE, card.to_toml(), "the entry")
        for path in files:
            path.unlink()
        return Entry.open(found.folder)

    def check(self) -> list[Problem]:
        """Return everything that is wrong with the board, a sentence each; empty if it is fine."""
        return list(problems_of(self.folder))

    def _task_cards(self) -> list[Path]:
        return sorted(path for path in self.folder.glob(f"[!.]*/{TASK_FILE}") if path.is_file())

    def _named(self, task: str | BoardTask) -> str:
        return task.name if isinstance(task, BoardTask) else self.task(task).name

    def _entry_folders(self, task: str) -> list[Path]:
        place = self.folder / task
        names = sorted(
            one.name
            for one in os.scandir(place)
            if one.is_dir(follow_symlinks=False) and not one.name.startswith(".")
        )
        return [place / name for name in names]

    def _task_of(self, card: Mapping[str, Any]) -> BoardTask:
        """Return the task that a certificate is of; a superseded one only if no other is."""
        for one in sorted(self.tasks(), key=lambda one: bool(one.superseded_by)):
            frozen = one.seeds.get(card["task_seed"])
            if frozen is not None and frozen.task == card["hashes"]["task"]:
                return one
        raise InputError(
            f"no task of this board has the hash {card['hashes']['task'][:12]}… of {card['dataset']} under"
            f" {card['protocol']}, seed {card['task_seed']}: 'trueedge leaderboard task' adds it"
        )

    def _folder_for(self, task: BoardTask, card: EntryCard, name: str | None) -> Path:
        """Return the folder of an entry, which need not exist."""
        if name is None:
            name = folder_of_entry(card.name, "name the folder with --folder (name= in Python)")
        if name in BESIDE_ENTRIES:
            raise InputError(f"an entry's folder cannot be called {name}: a file of the task has this name")
        return self.folder / task.name / folder_name(name, "the name of an entry's folder")

    def _earlier(self, folder: Path, card: EntryCard) -> Entry | None:
        """Return the entry that has this name already; refuse to change its card."""
        if not folder.is_dir() or not any(folder.iterdir()):
            return None
        found = Entry.read(folder)
        if found.damage is not None:
            raise InputError(f"{found.damage}: choose another name than {folder.name}, or repair that card")
        theirs = replace(found.card, submitted=card.submitted or "")
        if found.withdrawn or theirs != card:
            how = "was withdrawn" if found.withdrawn else "has another card"
            raise InputError(
                f"{folder.parent.name} has an entry {folder.name}, which {how}: choose another name"
            )
        return found

    def _others(self, task: str, entry: str) -> list[Held]:
        """Return what is known of the other entries of a task: the seals of all must be known."""
        try:
            return self._held.of([one for one in self._entry_folders(task) if one.name != entry])
        except InputError as error:
            raise InputError(f"{error}: until that is repaired, a copy of it cannot be recognised") from None

    def seals(self, task: str) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the name of each entry of a task with the seals of its certificates."""
        for one in self._held.of(self._entry_folders(task)):
            yield one.name, one.seals


def today() -> str:
    """Return the day in UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _refuse_replayed(task: str, others: Sequence[Held], cards: Mapping[Path, Mapping[str, Any]]) -> None:
    """Refuse the seal of another entry: whoever copies a certificate does not own its result."""
    owners = {seal: one.name for one in others for seal in one.seals}
    for path, card in cards.items():
        if card["seal"] in owners:
            raise InputError(f"{path} is already a certificate of {task}/{owners[card['seal']]}")


def _warn_of_damage(others: Sequence[Held]) -> None:
    """Name the entries whose card cannot be read."""
    for one in others:
        if one.damage is not None:
            sentence = f"{one.damage}; the entry is left as it is, and fails the check until that is repaired"
            warnings.warn(sentence, StoreWarning, stacklevel=3)
