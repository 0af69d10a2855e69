"""Run the methods of the project's own board, add them, and run them again."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.writing import write_text
from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.entry import Entry
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.reproducing import keep_rerun
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.results import Record, Store, certify
from trueedge.runs import Cell, Outcome, Processes, Runner, drive
from trueedge.runs.processes import too_long

AUTHOR = "trueedge"
# Families of methods by the time that a run takes, the shortest first.
FAMILIES = (
    *("counting", "voting", "heuristics", "classifiers", "embeddings", "recommend", "blockmodels", "gnn"),
    *("kg", "typed", "pairwise", "paths"),
)


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


def fill(
    fillings: Sequence[Filling],
    runner: Runner,
    store: Store,
    limit: float | None,
    say: Callable[[str], object],
    start: float,
    total: float | None,
) -> None:
    """Run the methods of all tasks, add those that have all seeds, and run each of these again.

    Args:
        fillings: the tasks.
        runner: what runs the cells.
        store: where records are kept.
        limit: how many seconds a run may take.
        say: is told what is done.
        start: when the work began.
        total: how many seconds all runs may take.
    """
    slow, said = SlowRuns(store.folder), _Progress(say)
    for one in fillings:
        one.keep_earlier()
    if limit is not None:
        for one in fillings:
            one.leave_out_slow(slow, limit)
    seeds = max((len(cells) for one in fillings for cells in one.cells.values()), default=1)

    def run(asked: Sequence[tuple[Filling, Cell]], again: bool) -> None:
        cells = [cell for _, cell in asked]
        kept = None if again else store
        said.begin(len(cells), "runs again" if again else "runs")
        for position, outcome in drive(cells, kept, runner, again=again, keep_scores=not again):
            filling = asked[position][0]
            if again:
                filling.reproduce(outcome)
            else:
                filling.take(outcome)
                if limit is not None and outcome.reason == too_long(limit):
                    slow.keep(outcome.cell, limit)
            said.one(f"{filling.card.name}, {outcome.cell.method.name}", outcome)

    # Against the clock the shortest go first, so that most are finished; else all processes end together.
    sign = -1.0 if total is None else 1.0

    def order(one: tuple[Filling, Cell]) -> float:
        return sign * one[0].expected(one[1])

    # An entry whose run is not repeated has no rank: a part of the time is kept for that. A rerun takes less
    # time than a run: one part is scored, and all kernels are compiled.
    if total is not None and isinstance(runner, Processes):
        runner.until = start + total * seeds / (seeds + 0.6)
    # The first seed shows which methods take too long: their other seeds are not tried.
    for part in (slice(1), slice(1, None)):
        run(sorted(_waiting(fillings, part), key=order), again=False)
    if total is not None and isinstance(runner, Processes):
        runner.until = start + total
    run(sorted(((one, cell) for one in fillings for cell in one.to_repeat()), key=order), again=True)


def _waiting(fillings: Sequence[Filling], part: slice) -> list[tuple[Filling, Cell]]:
    """Return the cells of some seeds, of the methods that are not left out."""
    return [
        (one, cell)
        for one in fillings
        for name, cells in one.cells.items()
        if not one.is_done(name)
        for cell in cells[part]
    ]


class _Progress:
    """Tells how many runs are done, at most every ten seconds, and what failed.

    Args:
        say: is told.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say, self._count, self._done, self._what, self._last = say, 0, 0, "", 0.0

    def begin(self, count: int, what: str) -> None:
        """Begin with a number of runs."""
        self._count, self._done, self._what, self._last = count, 0, what, time.monotonic()

    def one(self, name: str, outcome: Outcome) -> None:
        """Count a run."""
        self._done += 1
        if outcome.record is None and outcome.reason.startswith("it failed"):
            self._say(f"{name}: {outcome.reason}")
        if time.monotonic() - self._last >= 10.0:
            self._last = time.monotonic()
            self._say(f"{self._done} of {self._count} {self._what}")


@dataclass
class Filling:
    """Puts the methods of one task on the board.

    Attributes:
        made: the board.
        card: the task.
        cells: for each method, its cells by seed.
        settings: settings by the name of a method.
        store: where records are kept.
    """

    made: OwnBoard
    card: BoardTask
    cells: Mapping[str, Sequence[Cell]]
    settings: Mapping[str, Mapping[str, Any]]
    store: Store
    _records: dict[str, list[Record]] = field(default_factory=dict)
    _again: dict[str, Entry] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)

    def keep_earlier(self) -> None:
        """Keep the entries that an earlier command added with all seeds; the code may be another one now."""
        known = {entry.card.name: entry for entry in self.made.board.entries(self.card)}
        for name, cells in self.cells.items():
            entry = known.get(_named(name, self.settings.get(name, {})))
            if entry is None or entry.withdrawn or not {cell.seed for cell in cells} <= set(entry.paths):
                continue
            self._kept.add(name)
            self._count(name, entry)

    def leave_out_slow(self, slow: SlowRuns, limit: float) -> None:
        """Leave out methods that took longer than the limit in an earlier command."""
        for name, cells in self.cells.items():
            if (known := slow.limit_of(cells[0], limit)) is not None:
                self.made.leave_out(self.card.name, name, too_long(known))

    def expected(self, cell: Cell) -> float:
        """Return a number that grows with the time of a cell: measured seconds, or its place by family."""
        known = self._records.get(cell.method.name)
        if known:
            return _seconds(known[0])
        return float(FAMILIES.index(type(cell.method).family))

    def is_done(self, name: str) -> bool:
        """Return whether a method is on the board already, or left out of the task."""
        return name in self._kept or name in self.made.left_out.get(self.card.name, {})

    def take(self, outcome: Outcome) -> None:
        """Take the record of a cell; add its method if all seeds are there."""
        name = outcome.cell.method.name
        if outcome.record is None:
            self.made.leave_out(self.card.name, name, outcome.reason)
            return
        found = self._records.setdefault(name, [])
        found.append(outcome.record)
        if len(found) == len(self.cells[name]):
            self._add(name, sorted(found, key=lambda record: record.seed))

    def to_repeat(self) -> list[Cell]:
        """Return the first cell of each new entry, for a rerun.

        A rerun gives what is compared, the metrics of the test part.
        """
        return [replace(self.cells[name][0], parts=("test",)) for name in self._again]

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
        self._count(name, entry)

    def _count(self, name: str, entry: Entry) -> None:
        """Count an entry, and note it for a rerun if it has none."""
        self.made.entries[self.card.name] = self.made.entries.get(self.card.name, 0) + 1
        if not entry.reproductions:
            self._again[name] = entry

    def reproduce(self, outcome: Outcome) -> None:
        """Keep the proof of a rerun, or the reason why there is none."""
        entry = self._again[outcome.cell.method.name]
        try:
            if outcome.record is None:
                raise InputError(outcome.reason)
            value = outcome.record.metrics["test"][self.card.headline]
            by = f"{AUTHOR} leaderboard own"
            keep_rerun(entry, self.card, by, entry.card.submitted, outcome.cell.seed, value)
        except InputError as error:
            failed = self.made.not_reproduced.setdefault(self.card.name, {})
            failed[outcome.cell.method.name] = str(error)


def _seconds(record: Record) -> float:
    """Return how long fitting and scoring took."""
    return sum(value for name, value in record.seconds.items() if name != "task")


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
