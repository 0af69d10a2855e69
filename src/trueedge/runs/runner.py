"""Runners take cells and yield their outcomes; here is the one that runs them in this process."""

from __future__ import annotations

import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import ClassVar, Self

from trueedge.errors import InputError
from trueedge.methods import Method
from trueedge.progress import Progress
from trueedge.runs.cells import Cell, Outcome, run_on
from trueedge.runs.code import source_files, task_code
from trueedge.runs.imports import PACKAGE, is_users
from trueedge.runs.opened_files import OpenedFiles, watched_files
from trueedge.tasks import Task

LookUp = Callable[[Cell], Outcome | None]


def nothing_known(cell: Cell) -> None:
    """Return None: the record of no cell is known."""
    del cell


class Runner(ABC):
    """The base of runners: in this process, in several, on many machines. Use it in a ``with`` statement.

    A runner neither reads nor writes the store; :func:`trueedge.runs.drive` does.

    Attributes:
        in_process: whether cells run one after the other in this process, where callbacks reach them.
    """

    in_process: ClassVar[bool] = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @abstractmethod
    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run cells and yield the position and the outcome of each as soon as it is known.

        Args:
            cells: the cells; a generator is advanced only when there is room for another cell.
            look_up: called with each cell before it runs; if it returns an outcome, the cell does not run.
            scores_to: the folder of records where the scores of the test part are kept; None keeps none.
                They are in the outcome, and :func:`trueedge.runs.drive` writes them after the record.
        """

    def stop(self) -> None:  # noqa: B027
        """End what is running and free resources."""


class StoredOnly(Runner):
    """Runs nothing: cells have the outcome that is known, or none."""

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Yield what the store has of each cell, in order."""
        del scores_to
        for position, cell in enumerate(cells):
            yield position, look_up(cell) or Outcome(cell, None, reason="it is not in the store")


class InProcess(Runner):
    """Runs cells in this process, in order. A task is kept until a cell of another task comes.

    Args:
        progress: called with a stage of making a task, the work done and the total work.
        raises: let exceptions of a user's own method pass, instead of making them the outcome's reason.
    """

    in_process = True

    def __init__(self, progress: Progress | None = None, raises: bool = False) -> None:
        self._progress, self._raises = progress, raises
        self._task: Task | None = None
        self._task_key, self._seconds = "", 0.0
        self._files = OpenedFiles()

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run cells in order."""
        for position, cell in enumerate(cells):
            yield position, look_up(cell) or self.run_one(cell, scores_to)

    def run_one(self, cell: Cell, scores_to: Path | None = None) -> Outcome:
        """Run one cell."""
        try:
            task = self._made(cell)
            with nullcontext() if self._raises else user_error(cell.method):
                return run_on(task, cell, self._seconds, scores_to, self._files)
        except InputError as error:
            return Outcome(cell, None, reason=str(error))

    def _made(self, cell: Cell) -> Task:
        """Return the task of a cell: the last one, if it is the same, or a new one."""
        key = cell.task_key
        if self._task is None or key != self._task_key:
            users = task_code(cell.source, cell.protocol).folder is not None
            start = time.perf_counter()
            with watched_files() if users else nullcontext(OpenedFiles()) as self._files:
                self._task = cell.task(self._progress)
            self._task_key, self._seconds = key, time.perf_counter() - start
        return self._task

    def stop(self) -> None:
        """Forget the task of the last cell."""
        self._task = None


@contextmanager
def user_error(method: Method) -> Iterator[None]:
    """Turn exceptions of a user's own method into an InputError of one sentence.

    Exceptions of trueedge's own methods are bugs of trueedge and pass unchanged.
    """
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if type(method).__module__.partition(".")[0] == "trueedge":
            raise
        raise InputError(_sentence(error, method)) from None


def _sentence(error: BaseException, method: Method) -> str:
    """Return the exception's text, with the file and the line of the user's code it came from."""
    said = [str(error), *getattr(error, "__notes__", ())]
    words = "; ".join(line.strip() for text in said for line in _first_line(text))
    place = _place(error, method)
    return f"its code raised {type(error).__name__}{words and f': {words}'}{place and f' ({place})'}"


def _first_line(text: str) -> list[str]:
    """Return the first line of a text that says something, or nothing."""
    return [line for line in text.splitlines() if line.strip()][:1]


def _place(error: BaseException, method: Method) -> str:
    """Return the innermost line in a file in the method's own folder, or nothing.

    A method that was made from a user's function has no file of its own: then any file of the user's counts.
    """
    try:
        files = [path.resolve() for path in source_files(type(method))]
    except (TypeError, OSError):
        files = []
    folders = {path.parent for path in files if not path.is_relative_to(PACKAGE)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if any(_lies_with(path, folder) for folder in folders) if folders else _is_theirs(path):
            return f"{_shown(path)}, line {frame.lineno}"
    return ""


def _is_theirs(path: Path) -> bool:
    return path.is_file() and is_users(path) and not path.is_relative_to(PACKAGE)


def _lies_with(path: Path, folder: Path) -> bool:
    if not path.is_relative_to(folder) or path.is_relative_to(PACKAGE):
        return False
    # A virtual environment may lie in the user's folder.
    return "site-packages" not in path.relative_to(folder).parts


def _shown(path: Path) -> Path:
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path
