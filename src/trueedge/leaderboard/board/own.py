"""The project's own board: built-in methods on the embedded and generated graphs, under every protocol."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trueedge import methods, tasks
from trueedge.errors import InputError
from trueedge.leaderboard.board.audit_card import write_audit
from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.entry_card import EntryCard
from trueedge.leaderboard.board.reproducing import run_again
from trueedge.leaderboard.board.task_card import BoardTask
from trueedge.methods import Method
from trueedge.results import Record, Store, certify
from trueedge.runs import Cell, run_cells
from trueedge.tasks import Task
from trueedge.tasks.protocols import catalogue as protocols
from trueedge.tasks.protocols import default_protocol
from trueedge.tasks.protocols import get as get_protocol

#: The data sets that need no download.
DATASETS = ("karate", "cora", "umls", "nations", "bibliography", "bookshop")
#: Families whose methods take seconds on these data sets, and single methods of others.
CHEAP = ("heuristics", "counting", "voting", "item-knn", "bpr-mf")
AUTHOR = "trueedge"


@dataclass
class OwnBoard:
    """The project's own board, and what could not be put on it.

    Attributes:
        board: the board.
        entries: the number of entries.
        left_out: a sentence for each task or method that could not be run.
    """

    board: Board
    entries: int = 0
    left_out: list[str] = field(default_factory=list)


def own_board(
    folder: str | Path,
    store: Store,
    *,
    chosen: Sequence[str] = CHEAP,
    skipped: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    datasets: Sequence[str] = DATASETS,
    seeds: int = 3,
    jobs: int = 1,
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
        seeds: how many seeds.
        jobs: parallel processes.
        device: where trained methods run.
        say: is told what is done.
    """
    place = Path(folder)
    exists = (place / "board.toml").is_file()
    board = Board.open(place) if exists else Board.create(place, "trueedge: built-in methods")
    made = OwnBoard(board)
    for dataset in datasets:
        for protocol in fitting_protocols(dataset):
            try:
                frozen = [tasks.task(dataset, protocol, seed) for seed in range(seeds)]
            except InputError as error:
                made.left_out.append(f"{dataset} under {protocol}: {error}")
                continue
            card = board.add_task(frozen)
            if not (board.folder / card.name / "audit.json").exists():
                write_audit(board.folder / card.name, frozen[0])
            fitting = fitting_methods(chosen, protocol, frozen[0], settings or {})
            made.left_out += [f"{card.name}, {one.name}: skipped" for one in fitting if one.name in skipped]
            # All seeds of a method in a row: it is on the board before the next one runs.
            cells = [
                Cell(dataset, protocol, method, seed, device=device)
                for method in fitting
                if method.name not in skipped
                for seed in range(seeds)
            ]
            say(f"{card.name}: {len(cells)} runs")
            _add(made, card, frozen, cells, store, settings or {}, jobs)
    return made


def fitting_protocols(dataset: str) -> list[str]:
    """Return the protocols that take a data set and need no released files."""
    data = get_protocol(default_protocol(dataset)).takes[0]
    return [one.name for one in protocols() if one.released is None and data in one.takes]


def wanted_methods(chosen: Sequence[str]) -> list[type[Method]]:
    """Return the methods of some names and families; ``all`` is every method."""
    return [
        kind
        for kind in methods.catalogue()
        if "all" in chosen or kind.family in chosen or kind.name in chosen
    ]


def fitting_methods(
    chosen: Sequence[str], protocol: str, task: Task, settings: Mapping[str, Mapping[str, Any]]
) -> list[Method]:
    """Return the chosen methods that can be fitted to a task, with the settings of each."""
    data = get_protocol(protocol).takes[0]
    fitting = [kind for kind in wanted_methods(chosen) if data in kind.takes and kind.can_do(task.kind)]
    return [kind(**settings.get(kind.name, {})) for kind in fitting]


def _add(
    made: OwnBoard,
    card: BoardTask,
    frozen: Sequence[Task],
    cells: Sequence[Cell],
    store: Store,
    settings: Mapping[str, Mapping[str, Any]],
    jobs: int,
) -> None:
    """Run the cells of one task, and add each method as soon as it has all seeds."""
    records: dict[str, list[Record]] = {}
    for outcome in run_cells(cells, store, jobs=jobs, keep_scores=True):
        if outcome.record is None:
            sentence = f"{card.name}, {outcome.cell.method.name}: {outcome.reason}"
            made.left_out += [sentence] if sentence not in made.left_out else []
            continue
        method = outcome.record.method
        found = records.setdefault(method, [])
        found.append(outcome.record)
        if len(found) < len(frozen):
            continue
        try:
            about = EntryCard(
                name=_named(method, settings.get(method, {})),
                authors=(AUTHOR,),
                licence="MIT",
                submitted=min(record.created for record in found)[:10],
            )
            _add_entry(made.board, card, frozen[0], about, found, store)
            made.entries += 1
        except InputError as error:
            made.left_out.append(f"{card.name}, {method}: {error}")


def _named(method: str, settings: Mapping[str, Any]) -> str:
    stated = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"{method} ({stated})" if stated else method


def _add_entry(
    board: Board, card: BoardTask, task: Task, about: EntryCard, records: Sequence[Record], store: Store
) -> None:
    with tempfile.TemporaryDirectory(prefix="trueedge-own-") as place:
        paths = [certify(record, Path(place) / f"seed-{record.seed}.json", store) for record in records]
        entry = board.add(paths, about, card.name)
    if not entry.reproductions:
        run_again(entry, card, f"{AUTHOR} leaderboard own", about.submitted, seed=task.seed, source=task)
