"""The project's own board: built-in methods on the embedded and generated graphs, under every protocol."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trueedge import datasets as data_sets
from trueedge import methods, tasks
from trueedge.errors import InputError, unknown
from trueedge.files.writing import write_text
from trueedge.leaderboard.board.audit_card import write_audit
from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.entry import Entry
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.reproducing import keep_rerun
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.methods import Method
from trueedge.results import Record, Store, certify
from trueedge.runs import Cell, Processes, Runner, drive, runner_for
from trueedge.runs.processes import too_long
from trueedge.tasks import Task
from trueedge.tasks.protocols import catalogue as protocols
from trueedge.tasks.protocols import default_protocol
from trueedge.tasks.protocols import get as get_protocol

#: The data sets that need no download.
DATASETS = ("karate", "cora", "umls", "nations", "bibliography", "bookshop")
AUTHOR = "trueedge"


@dataclass
class OwnBoard:
    """The project's own board, and what could not be put on it.

    Attributes:
        board: the board.
        methods: for each task, how many methods fit it.
        entries: for each task, how many of them are on the board.
        left_out: for each task, the reason for each method that is not; a reason alone for a task that could
            not be made.
        not_reproduced: for each task, the reason for each entry whose rerun failed; it is not ranked.
    """

    board: Board
    methods: dict[str, int] = field(default_factory=dict)
    entries: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, dict[str, str]] = field(default_factory=dict)
    not_reproduced: dict[str, dict[str, str]] = field(default_factory=dict)

    def leave_out(self, task: str, method: str, reason: str) -> None:
        """Keep the first reason why a method is not on the board."""
        self.left_out.setdefault(task, {}).setdefault(method, reason)

    def summary(self) -> list[str]:
        """Return a line for each task, and one for each reason why methods are missing or not ranked."""
        lines = [
            f"{task}: {self.entries.get(task, 0)} of {count} methods" for task, count in self.methods.items()
        ]
        for what, listed in (("left out", self.left_out), ("not reproduced", self.not_reproduced)):
            for task, reasons in listed.items():
                for reason in dict.fromkeys(reasons.values()):
                    named = ", ".join(name for name, said in reasons.items() if said == reason and name)
                    lines.append(f"{what}: {task}{named and f', {named}'}: {reason}")
        return lines


def own_board(
    folder: str | Path,
    store: Store,
    *,
    chosen: Sequence[str] = ("all",),
    skipped: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    datasets: Sequence[str] = DATASETS,
    under: Sequence[str] = (),
    seeds: int = 3,
    jobs: int = 1,
    limit: float | None = None,
    device: str = "cpu",
    say: Callable[[str], object] = str,
) -> OwnBoard:
    """Run built-in methods, certify them, add them to a board, and run each again.

    Args:
        folder: the board: a new folder, or an earlier one that is continued.
        store: where records and scores are kept.
        chosen: names of methods and families; ``all`` is every method.
        skipped: names of methods that are not run.
        settings: settings by the name of a method; the name of its entry states them.
        datasets: names of data sets.
        under: names of protocols; empty for all that fit.
        seeds: how many seeds.
        jobs: parallel processes.
        limit: how many seconds a run may take; a method that takes longer is left out. None is no limit.
        device: where trained methods run.
        say: is told what is done.
    """
    known = {kind.name for kind in methods.catalogue()}
    for name in skipped:
        if name not in known:
            raise unknown("method", name, known, "'trueedge methods' lists them")
    for dataset in datasets:
        if not Path(dataset).exists():
            data_sets.get(dataset)
    for protocol in under:
        get_protocol(protocol)
    place = Path(folder)
    exists = (place / "board.toml").is_file()
    board = Board.open(place) if exists else Board.create(place, "trueedge: built-in methods")
    made = OwnBoard(board)
    runner = runner_for(jobs) if limit is None else Processes(jobs, limit)
    with runner:
        for dataset in datasets:
            for protocol in fitting_protocols(dataset):
                if under and protocol not in under:
                    continue
                try:
                    frozen = [tasks.task(dataset, protocol, seed) for seed in range(seeds)]
                except InputError as error:
                    made.leave_out(f"{dataset} under {protocol}", "", str(error))
                    continue
                card = board.add_task(frozen)
                if not (board.folder / card.name / "audit.json").exists():
                    write_audit(board.folder / card.name, frozen[0])
                fitting = fitting_methods(chosen, protocol, frozen[0], settings or {})
                made.methods[card.name] = len(fitting)
                for one in fitting:
                    if one.name in skipped:
                        made.leave_out(card.name, one.name, "skipped")
                cells = {
                    # No page of a board uses other draws of negatives.
                    one.name: [
                        Cell(dataset, protocol, one, seed, device=device, redraws=False)
                        for seed in range(seeds)
                    ]
                    for one in fitting
                    if one.name not in skipped
                }
                say(f"{card.name}: {len(cells)} method{'' if len(cells) == 1 else 's'}")
                _Filling(made, card, cells, settings or {}, store, runner, limit).fill()
    return made


def fitting_protocols(dataset: str) -> list[str]:
    """Return the protocols that take a data set and need no released files."""
    data = get_protocol(default_protocol(dataset)).takes[0]
    return [one.name for one in protocols() if one.released is None and data in one.takes]


def wanted_methods(chosen: Sequence[str]) -> list[type[Method]]:
    """Return the built-in methods of some names and families; ``all`` is every one."""
    every = [kind for kind in methods.catalogue() if kind.__module__.startswith("trueedge.")]
    known = {"all", *(kind.name for kind in every), *(kind.family for kind in every)}
    for name in chosen:
        if name not in known:
            raise unknown("method or family", name, known, "'trueedge methods' lists them")
    return [kind for kind in every if "all" in chosen or kind.family in chosen or kind.name in chosen]


def fitting_methods(
    chosen: Sequence[str], protocol: str, task: Task, settings: Mapping[str, Mapping[str, Any]]
) -> list[Method]:
    """Return the chosen methods that can be fitted to a task, with the settings of each."""
    data = get_protocol(protocol).takes[0]
    fitting = [kind for kind in wanted_methods(chosen) if data in kind.takes and kind.can_do(task.kind)]
    return [kind(**settings.get(kind.name, {})) for kind in fitting]


@dataclass
class _Filling:
    """Puts the methods of one task on the board.

    Attributes:
        made: the board.
        card: the task.
        cells: for each method, its cells by seed.
        settings: settings by the name of a method.
        store: where records are kept.
        runner: what runs the cells.
        limit: how many seconds a run may take.
    """

    made: OwnBoard
    card: BoardTask
    cells: Mapping[str, Sequence[Cell]]
    settings: Mapping[str, Mapping[str, Any]]
    store: Store
    runner: Runner
    limit: float | None
    _records: dict[str, list[Record]] = field(default_factory=dict)
    _again: list[tuple[Cell, Entry]] = field(default_factory=list)

    def fill(self) -> None:
        """Run all methods, add those that have all seeds, and run each of these again."""
        slow = SlowRuns(self.store.folder)
        if self.limit is not None:
            for name, cells in self.cells.items():
                if (known := slow.limit_of(cells[0], self.limit)) is not None:
                    self.made.leave_out(self.card.name, name, too_long(known))
        # The first seed shows which methods take too long: their other seeds are not tried.
        self._run([cells[0] for name, cells in self.cells.items() if not self._is_left_out(name)], slow)
        further = (
            cell for name, cells in self.cells.items() if not self._is_left_out(name) for cell in cells[1:]
        )
        self._run(further, slow)
        self._reproduce()

    def _is_left_out(self, name: str) -> bool:
        return name in self.made.left_out.get(self.card.name, {})

    def _run(self, cells: Iterable[Cell], slow: SlowRuns) -> None:
        for _, outcome in drive(cells, self.store, self.runner, keep_scores=True):
            name = outcome.cell.method.name
            if outcome.record is None:
                self.made.leave_out(self.card.name, name, outcome.reason)
                if self.limit is not None and outcome.reason == too_long(self.limit):
                    slow.keep(outcome.cell, self.limit)
                continue
            found = self._records.setdefault(name, [])
            found.append(outcome.record)
            if len(found) == len(self.cells[name]):
                self._add(name, sorted(found, key=lambda record: record.seed))

    def _add(self, name: str, records: Sequence[Record]) -> None:
        """Certify the records of a method, and add them as an entry."""
        about = EntryCard(
            name=_named(name, self.settings.get(name, {})),
            authors=(AUTHOR,),
            licence="MIT",
            submitted=min(record.created for record in records)[:10],
        )
        try:
            with tempfile.TemporaryDirectory(prefix="trueedge-own-") as place:
                paths = [
                    certify(record, Path(place) / f"seed-{record.seed}.json", self.store)
                    for record in records
                ]
                entry = self.made.board.add(paths, about, self.card.name)
        except InputError as error:
            self.made.leave_out(self.card.name, name, str(error))
            return
        self.made.entries[self.card.name] = self.made.entries.get(self.card.name, 0) + 1
        if not entry.reproductions:
            # A rerun gives what is compared, the metrics of the test part.
            self._again.append((replace(self.cells[name][0], parts=("test",)), entry))

    def _reproduce(self) -> None:
        """Run the first seed of each new entry again."""
        for position, outcome in drive([cell for cell, _ in self._again], None, self.runner, again=True):
            entry = self._again[position][1]
            date = entry.card.submitted
            try:
                if outcome.record is None:
                    raise InputError(outcome.reason)
                value = outcome.record.metrics["test"][self.card.headline]
                keep_rerun(entry, self.card, f"{AUTHOR} leaderboard own", date, outcome.cell.seed, value)
            except InputError as error:
                failed = self.made.not_reproduced.setdefault(self.card.name, {})
                failed[outcome.cell.method.name] = str(error)


class SlowRuns:
    """Remembers which runs took longer than a limit, so that a command that goes on does not try them again.

    Args:
        folder: the folder of the records.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "over-limit.json"
        self._limits: dict[str, float] = {}
        # A file that cannot be read costs a try of each run, and nothing else.
        with suppress(OSError, ValueError, TypeError, AttributeError):
            known = json.loads(self._path.read_text())
            self._limits = {str(key): float(limit) for key, limit in known.items()}

    def limit_of(self, cell: Cell, limit: float) -> float | None:
        """Return the limit that a run was over, if the limit is not higher now."""
        known = self._limits.get(cell.key)
        return known if known is not None and known >= limit else None

    def keep(self, cell: Cell, limit: float) -> None:
        """Remember a run that was over the limit."""
        self._limits[cell.key] = limit
        write_text(self._path, json.dumps(self._limits, indent=1) + "\n", "the slow runs")


def _named(method: str, settings: Mapping[str, Any]) -> str:
    stated = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"{method} ({stated})" if stated else method
