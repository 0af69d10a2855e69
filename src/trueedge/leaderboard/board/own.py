"""The project's own board: built-in methods on the embedded and generated graphs, under every protocol."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
            cells = [
                Cell(dataset, protocol, method, seed, device=device)
                for seed in range(seeds)
                for method in fitting_methods(chosen, protocol, frozen[0])
            ]
            say(f"{card.name}: {len(cells)} runs")
            _add(made, card, frozen, cells, store, jobs)
    return made


def fitting_protocols(dataset: str) -> list[str]:
    """Return the protocols that take a data set and need no released files."""
    data = get_protocol(default_protocol(dataset)).takes[0]
    return [one.name for one in protocols() if one.released is None and data in one.takes]


def fitting_methods(chosen: Sequence[str], protocol: str, task: Task) -> list[Method]:
    """Return the chosen methods that can be fitted to a task."""
    data = get_protocol(protocol).takes[0]
    found = []
    for kind in methods.catalogue():
        wanted = "all" in chosen or kind.family in chosen or kind.name in chosen
        if wanted and data in kind.takes and kind.can_do(task.kind):
            found.append(methods.create(kind.name))
    return found


def _add(
    made: OwnBoard, card: BoardTask, frozen: Sequence[Task], cells: Sequence[Cell], store: Store, jobs: int
) -> None:
    """Run the cells of one task, and add each method that has all seeds."""
    records: dict[str, list[Record]] = {}
    for outcome in run_cells(cells, store, jobs=jobs, keep_scores=True):
        if outcome.record is None:
            sentence = f"{card.name}, {outcome.cell.method.name}: {outcome.reason}"
            made.left_out += [sentence] if sentence not in made.left_out else []
        else:
            records.setdefault(outcome.record.method, []).append(outcome.record)
    for method, found in sorted(records.items()):
        if len(found) < len(frozen):
            continue
        try:
            _add_entry(made.board, card, frozen[0], method, found, store)
            made.entries += 1
        except InputError as error:
            made.left_out.append(f"{card.name}, {method}: {error}")


def _add_entry(
    board: Board, card: BoardTask, task: Task, method: str, records: Sequence[Record], store: Store
) -> None:
    day = min(record.created for record in records)[:10]
    about = EntryCard(name=method, authors=(AUTHOR,), licence="MIT", submitted=day)
    with tempfile.TemporaryDirectory(prefix="trueedge-own-") as place:
        paths = [certify(record, Path(place) / f"seed-{record.seed}.json", store) for record in records]
        entry = board.add(paths, about, card.name)
    if not entry.reproductions:
        run_again(entry, card, f"{AUTHOR} leaderboard own", day, seed=task.seed, source=task)
