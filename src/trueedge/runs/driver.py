"""Look cells up in the store, let a runner run the others, and store their records."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from trueedge import methods
from trueedge.errors import InputError, StoreWarning
from trueedge.graph.any_graph import GraphLike
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.results import kept_scores
from trueedge.results.record import Record
from trueedge.results.store import Store
from trueedge.runs.cells import Cell, Outcome, default_protocol, lacks_redraws
from trueedge.runs.processes import Processes
from trueedge.runs.reuse import is_unchanged
from trueedge.runs.runner import InProcess, Runner
from trueedge.tasks import Task
from trueedge.tasks.protocols import Data
from trueedge.tasks.protocols import find as find_protocol


def runner_for(jobs: int, progress: Progress | None = None) -> Runner:
    """Return a runner: this process for one job, which reports progress, or several processes."""
    return InProcess(progress) if jobs == 1 else Processes(jobs)


@contextmanager
def runner_in_use(runner: Runner | None, jobs: int) -> Iterator[Runner]:
    """Yield a runner that somebody else stops, or one of our own, which is stopped at the end.

    Args:
        runner: the runner to use; None for one of our own.
        jobs: the number of processes of our own.
    """
    if runner is not None:
        yield runner
        return
    with runner_for(jobs) as own:
        yield own


def drive(
    cells: Iterable[Cell],
    store: Store | None,
    runner: Runner,
    again: bool = False,
    keep_scores: bool = False,
) -> Iterator[tuple[int, Outcome]]:
    """Yield the position and the outcome of each cell: :func:`run_cells` with a runner of your own.

    Args:
        cells: what to run.
        store: where records are looked up and stored; None for neither.
        runner: what runs them.
        again: run all cells; the older records stay in the store.
        keep_scores: keep the scores of the test part too.
    """
    if keep_scores and store is None:
        raise InputError("scores are kept with the records: there is no store to keep them in")

    writable = False

    def look_up(cell: Cell) -> Outcome | None:
        nonlocal writable
        cell.check()
        found = None if store is None or again else _stored(cell, store)
        if store is None or found is None or (keep_scores and not kept_scores.settled(found, store.folder)):
            if store is not None and not writable:
                store.check_writable()
                writable = True
            return None
        others = [None if again else _stored(one, store) for one in cell.others_selected()]
        kept = [one for one in others if one is not None]
        if len(kept) < len(others):
            return None
        # The same graph may have come under another name.
        own, *rest = (replace(_renamed(one, cell.name), cached=True) for one in (found, *kept))
        return Outcome(cell, own, others=tuple(rest))

    scores_to = store.folder if store is not None and keep_scores else None
    for position, outcome in runner.run(cells, look_up, scores_to):
        if store is not None and outcome.fresh and outcome.record is not None:
            for record in (outcome.record, *outcome.others):
                store.keep(record)
            outcome = _with_scores(outcome, outcome.record)
        yield position, outcome


def _renamed(record: Record, name: str) -> Record:
    """Return a record whose data set has another name; warnings about its scores begin with that."""
    old = f"{record.dataset} {record.protocol} "
    warnings = tuple(
        f"{name} {record.protocol} {one.removeprefix(old)}" if one.startswith(old) else one
        for one in record.warnings
    )
    return replace(record, dataset=name, warnings=warnings)


def _stored(cell: Cell, store: Store) -> Record | None:
    """Return the record of a cell, if there is one whose code and files are what they were."""
    code = cell.code()
    if not code.reason:

        def usable(record: Record) -> bool:
            return is_unchanged(record, code) and not (cell.redraws and lacks_redraws(record))

        return store.find(cell.key_with(code), usable)
    kind = type(cell.method)
    if code.reason not in _SAID.setdefault(kind, set()):
        _SAID[kind].add(code.reason)
        why = f"{cell.method.name} is computed, and no stored record is used: {code.reason}"
        warnings.warn(why, StoreWarning, stacklevel=2)
    return None


# The reasons that were given for each class, once.
_SAID: WeakKeyDictionary[type, set[str]] = WeakKeyDictionary()


def _with_scores(outcome: Outcome, record: Record) -> Outcome:
    """Write the scores of a record that is stored."""
    if outcome.scores is None:
        return outcome
    complaint = outcome.scores.save()
    shown = kept_scores.without_scores(record, complaint) if complaint else record
    return replace(outcome, record=shown, scores=None)


def run_cells(
    cells: Iterable[Cell],
    store: Store | str | Path | None = None,
    *,
    jobs: int = 1,
    again: bool = False,
    keep_scores: bool = False,
) -> Iterator[Outcome]:
    """Run cells and yield the outcome of each as soon as it is known.

    Cells of the same task should follow each other, so that the task is made once. It is not made at all if
    the store has all their records. A new record is on disk before its outcome is yielded.

    Args:
        cells: what to run.
        store: where records are looked up and stored: a store or its folder; None keeps them in memory.
        jobs: the number of parallel processes; with more than one, outcomes come in the order they finish.
        again: run all cells; the older records stay in the store.
        keep_scores: keep the scores of the test part too. Records without them are recomputed.
    """
    kept = Store.of(store)
    with runner_for(jobs) as runner:
        for _, outcome in drive(cells, kept, runner, again, keep_scores):
            yield outcome


def run(
    source: str | Data | Task | GraphLike,
    protocol: str | None = None,
    method: str | Method = "ra",
    seed: int = 0,
    *,
    settings: Mapping[str, Any] | None = None,
    device: str = "cpu",
    store: Store | str | Path | None = None,
    task_seed: int | None = None,
    keep_scores: bool = False,
    **options: Any,
) -> Record:
    """Fit a method on a data set under a protocol and evaluate it.

    Args:
        source: a data set's name, the path of an edge list, a graph (of another library too, see
            :func:`trueedge.graph.as_graph`), or a task.
        protocol: the protocol's name; by default that of the data set or task.
        method: a method's name, or a method with its settings.
        seed: seeds split, negatives and training.
        settings: settings of a method given by name.
        device: where trained methods train.
        store: where the record is looked up and stored: a store or its folder; None keeps it in memory.
        task_seed: seeds split and negatives, in place of ``seed``.
        keep_scores: keep the scores of the test part in the store, for a certificate.
        options: the protocol's options.
    """
    protocol = protocol if protocol is not None else default_protocol(source)
    cell = Cell(source, protocol, with_settings(method, settings, protocol), seed, options, device, task_seed)
    kept = Store.of(store)
    with InProcess(raises=True) as runner:
        ((_, outcome),) = drive([cell], kept, runner, keep_scores=keep_scores)
    if outcome.record is None:
        raise InputError(outcome.reason)
    return outcome.record


def with_settings(
    method: str | Method, settings: Mapping[str, Any] | None, protocol: str | None = None
) -> Method:
    """Return a method by name with settings, or a method as it is.

    A name that exists for several kinds of data means the class for the data of the protocol.
    """
    if isinstance(method, str):
        known = find_protocol(protocol or "")
        data = "graph" if known is None else known.data
        return methods.create(method, settings, data)
    if settings:
        raise InputError("settings go with a method's name; this method has its settings already")
    return method


@contextmanager
def workers(
    jobs: int, store: Store | None = None, again: bool = False, keep_scores: bool = False
) -> Iterator[SimpleNamespace]:
    """Do what the deprecated ``Workers`` did; it is removed in the next version."""
    with Processes(jobs) as runner:
        yield SimpleNamespace(run=lambda cells: drive(cells, store, runner, again, keep_scores))
