"""The project's own board: built-in methods on the embedded and generated graphs, under every protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge import datasets as data_sets
from trueedge import methods, tasks
from trueedge.errors import InputError, unknown
from trueedge.leaderboard.board.audit_card import FILE as AUDIT_FILE
from trueedge.leaderboard.board.board import Board
from trueedge.leaderboard.board.own_runs import Filling, OwnBoard, fill
from trueedge.leaderboard.board.task_card import FILE as TASK_FILE
from trueedge.leaderboard.board.text_fields import folder_name_of
from trueedge.methods import Method
from trueedge.results import Store
from trueedge.runs import Cell, InProcess, Processes, Runner
from trueedge.runs.cells import check_device_name
from trueedge.tasks import Task
from trueedge.tasks.protocols import catalogue as protocols
from trueedge.tasks.protocols import default_protocol
from trueedge.tasks.protocols import get as get_protocol

#: The data sets that need no download.
DATASETS = ("karate", "cora", "umls", "nations", "bibliography", "bookshop")
TITLE = "trueedge: built-in methods"


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
    total: float | None = None,
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
        total: how many seconds all runs may take together; what is finished then is kept. None is no limit.
        device: where trained methods run.
        say: is told what is done.
    """
    check_request(skipped, datasets, under, device)
    place = Path(folder)
    exists = (place / "board.toml").is_file()
    board = Board.open(place) if exists else Board.create(place, TITLE)
    made = OwnBoard(board)
    start, fillings = time.monotonic(), []
    for dataset, protocol, frozen in _frozen_tasks(made, datasets, under, seeds):
        card = board.add_task(frozen)
        if not (board.folder / card.name / AUDIT_FILE).exists() or not card.audit:
            board.add_audit(card.name, frozen[0])
        fitting = fitting_methods(chosen, protocol, frozen[0], settings or {})
        made.methods[card.name] = len(fitting)
        cells = {}
        for one in fitting:
            if one.name in skipped:
                made.leave_out(card.name, one.name, "skipped")
                continue
            # No page of a board uses other draws of negatives.
            first = Cell(dataset, protocol, one, 0, device=device, redraws=False)
            cells[one.name] = [replace(first, seed=seed) for seed in range(seeds)]
        say(f"{card.name}: {len(cells)} method{'' if len(cells) == 1 else 's'}")
        fillings.append(Filling(made, card, cells, settings or {}, store))
    alone = jobs == 1 and limit is None and total is None
    chosen_runner: Runner = InProcess() if alone else Processes(jobs, limit, in_order=True, raises=False)
    with chosen_runner as runner:
        fill(fillings, runner, store, limit, say, start, total)
    return made


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files of others for board, site and runs; an earlier one is continued."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: board, site and runs are written to a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    board = folder / "board"
    if not (board / "board.toml").is_file() or Board.open(board).title != TITLE:
        raise InputError(f"the folder {folder} is not empty, and not one of 'trueedge leaderboard own'")


def refuse_other_seeds(folder: Path, datasets: Sequence[str], under: Sequence[str], seeds: int) -> None:
    """Refuse to continue tasks with another number of seeds: entries would not have the same ones."""
    for dataset in datasets if (folder / "board" / "board.toml").is_file() else ():
        for protocol in fitting_protocols(dataset):
            name = folder_name_of(f"{Path(dataset).name}-{protocol}")
            if (under and protocol not in under) or not (folder / "board" / name / TASK_FILE).is_file():
                continue
            begun = len(Board.open(folder / "board").task(name).seeds)
            if begun != seeds:
                many = "1 seed" if begun == 1 else f"{begun} seeds"
                raise InputError(f"{folder} was begun with {many}: give --seeds {begun}, or another folder")


def check_request(skipped: Sequence[str], datasets: Sequence[str], under: Sequence[str], device: str) -> None:
    """Refuse unknown names, protocols that no data set is for, and what is no device, before any work."""
    check_device_name(device, "leaderboard own")
    known = {kind.name for kind in methods.catalogue()}
    for name in skipped:
        if name not in known:
            raise unknown("method", name, known, "'trueedge methods' lists them")
    for dataset in datasets:
        if not Path(dataset).exists():
            data_sets.get(dataset)
    for protocol in under:
        get_protocol(protocol)
    fitting = {dataset: fitting_protocols(dataset) for dataset in datasets}
    if under and not any(set(under) & set(known) for known in fitting.values()):
        listed = "; ".join(f"{dataset} has {', '.join(known)}" for dataset, known in fitting.items())
        raise InputError(f"{' and '.join(under)} cannot be used with these data sets: {listed}")


def _frozen_tasks(
    made: OwnBoard, datasets: Sequence[str], under: Sequence[str], seeds: int
) -> Iterator[tuple[str, str, list[Task]]]:
    """Yield each data set and protocol with its task for each seed; what cannot be made is left out."""
    for dataset in datasets:
        for protocol in fitting_protocols(dataset):
            if under and protocol not in under:
                continue
            try:
                frozen = [tasks.task(dataset, protocol, seed) for seed in range(seeds)]
            except InputError as error:
                made.leave_out(f"{dataset} under {protocol}", "", str(error))
            else:
                yield dataset, protocol, frozen


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
