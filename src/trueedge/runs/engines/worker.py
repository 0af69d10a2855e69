"""What a worker does with a job: it checks that it has the same data and code, and runs the cell."""

from __future__ import annotations

import hashlib
import importlib
import multiprocessing
import pickle
import sys
import tempfile
import threading
import traceback
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.results.kept_scores import FOLDER, HeldScores, without_scores
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.engines.jobs import Answer, Job, UserCode
from trueedge.runs.engines.mapped_objects import load_mapped
from trueedge.runs.opened_files import OpenedFiles, imported, loaded
from trueedge.runs.runner import InProcess
from trueedge.tasks import Task
from trueedge.version import VERSION

# Tasks and sources that a worker keeps in memory.
KEPT = 2
# Scores that are not written to a shared folder are sent to the driver, up to so many bytes.
MOST_SCORES = 64 << 20


def run_jobs(
    jobs: Sequence[Job], source: bytes | str | None, code: UserCode | None, address: str
) -> list[Answer]:
    """Run cells of the same source and code one after the other; see :func:`run_job`."""
    return [run_job(job, source, code, address) for job in jobs]


def run_job(job: Job, source: bytes | str | None, code: UserCode | None, address: str) -> Answer:
    """Run a cell, and return its record or why there is none.

    Args:
        job: the cell.
        source: its pickled source, or the path of one in a shared folder, if this worker may not have it.
        code: the user's own code, if this worker may not have it.
        address: the worker's address, for error messages.
    """
    if job.version != VERSION:
        return Answer(
            refused=f"worker {address} has trueedge {VERSION}, and the driver {job.version}", refused_all=True
        )
    # One cell at a time in a process: warnings and peak memory are those of the process.
    with _LOCK:
        return _STATE.run(job, source, code, address)


class _State:
    """What a worker keeps between cells."""

    def __init__(self) -> None:
        self.runner = LastTasks()
        self.sources: OrderedDict[str, Any] = OrderedDict()
        self.modules: dict[str, Any] = {}

    def run(self, job: Job, source: bytes | str | None, code: UserCode | None, address: str) -> Answer:
        _may_have_children()
        try:
            if source is not None:
                held = load_mapped(Path(source)) if isinstance(source, str) else pickle.loads(source)
                self.sources[job.source] = held
        except InputError as error:
            return Answer(refused=f"worker {address} does not share the folder of the records: {error}")
        if job.source and job.source not in self.sources:
            return Answer(missing="source")
        if job.code and job.code not in self.modules and code is None:
            return Answer(missing="code")
        try:
            cell = self._cell(job, code)
            key = cell.key if job.key else ""
        except InputError as error:
            return Answer(refused=f"worker {address} cannot run {job.name}: {error}")
        except Exception as error:
            said = next(iter(str(error).splitlines()), "")
            what = f"{type(error).__name__}{said and f': {said}'}"
            return Answer(refused=f"worker {address} cannot run {job.name}: {what}")
        if key != job.key:
            return Answer(refused=_difference(job, cell, address))
        scores_to = None if job.runs is None else Path(job.runs)
        try:
            outcome = self.runner.run_one(cell, scores_to)
            return replace(_answer(outcome, job), others=outcome.others)
        except Exception:  # it is raised where the work was started
            return Answer(trouble=traceback.format_exc())

    def _cell(self, job: Job, code: UserCode | None) -> Cell:
        bare: Cell
        bare, module, name, settings = pickle.loads(job.cell)
        if job.code:
            if job.code not in self.modules:
                assert code is not None
                self.modules[job.code] = _imported_code(code, module)
            home = self.modules[job.code]
        else:
            home = imported(module)
        kind = attrgetter(name)(home)
        if not job.source:
            return replace(bare, method=kind(**settings))
        self.sources.move_to_end(job.source)
        while len(self.sources) > KEPT:
            self.sources.popitem(last=False)
        return replace(bare, method=kind(**settings), source=self.sources[job.source])


def _difference(job: Job, cell: Cell, address: str) -> str:
    """Say what differs between this worker and the driver."""
    here = cell.source_key
    if here == job.source_key:
        return f"worker {address} has trueedge {VERSION} with other code than the driver"
    return (
        f"worker {address} (trueedge {VERSION}) has other data of {job.name} than the driver:"
        f" {here.removeprefix(job.name).strip() or 'none'} and not"
        f" {job.source_key.removeprefix(job.name).strip() or 'none'}"
    )


def _answer(outcome: Outcome, job: Job) -> Answer:
    """Return what is sent back; scores are written here if the folder is shared, and sent otherwise."""
    record, scores = outcome.record, outcome.scores
    if record is None or not isinstance(scores, HeldScores):
        return Answer(record, outcome.reason)
    if job.token and (scores.runs / job.token).is_file():
        return Answer(record, complaint=scores.save())
    size = sum(array.nbytes for array in scores.scores.arrays().values())
    if size <= MOST_SCORES:
        return Answer(record, scores=scores.scores)
    complaint = (
        f"its scores ({size >> 20} MiB) could not be kept in {scores.runs / FOLDER}: that folder is not"
        f" shared with the worker, and at most {MOST_SCORES >> 20} MiB are sent"
    )
    return Answer(without_scores(record, complaint))


class LastTasks(InProcess):
    """Runs cells in this process and keeps the last tasks, since cells of several tasks may alternate."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: OrderedDict[str, tuple[Task, float, OpenedFiles]] = OrderedDict()

    def _made(self, cell: Cell) -> Task:
        key = cell.task_key
        if key in self._kept:
            self._task, self._seconds, self._files = self._kept[key]
            self._task_key = key
        task = super()._made(cell)
        self._kept[key] = (task, self._seconds, self._files)
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return task


def _imported_code(code: UserCode, module: str) -> Any:
    """Import the user's module: from its own place if the same files are here, else from a copy."""
    folder = Path(code.folder)
    if not _is_here(folder, code.files):
        folder = _unpacked(code)
    for name, other in list(sys.modules.items()):
        # An older copy of the same files.
        file = getattr(other, "__file__", None)
        if file and _is_copy(Path(file)) and not Path(file).is_relative_to(folder):
            del sys.modules[name]
    home = folder / module
    for place in [*(folder / one for one in code.paths), home.parent if module.endswith(".py") else folder]:
        if str(place) in sys.path:
            sys.path.remove(str(place))
        sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    if not module.endswith(".py"):
        return imported(module)
    # Under its whole path, so that no other module has its name.
    return sys.modules.get(str(home)) or loaded(str(home), home)


def _is_here(folder: Path, files: Mapping[str, bytes]) -> bool:
    for name, content in files.items():
        try:
            if (folder / name).read_bytes() != content:
                return False
        except OSError:
            return False
    return True


@cache
def _copies() -> Path:
    # It lives as long as the process.
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="trueedge-code-"))
    return Path(_FOLDERS[-1].name).resolve()


def _is_copy(path: Path) -> bool:
    return bool(_FOLDERS) and path.is_relative_to(_copies())


def _unpacked(code: UserCode) -> Path:
    folder = _copies() / hashlib.sha256(code.hash.encode()).hexdigest()[:16]
    for name, content in code.files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder):
            raise InputError(f"the file {name} of the user's code lies outside of its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def _may_have_children() -> None:
    """Let methods start processes: a worker of Dask is a daemon, which Python forbids to have children."""
    with suppress(AttributeError, KeyError):
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
_LOCK = threading.Lock()
_STATE = _State()
