"""Cells in several processes, each of which ends with the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from trueedge.errors import InputError, must_be, whole_number
from trueedge.runs.cells import Cell, Outcome, kept, run_cells
from trueedge.results.record import Record
from trueedge.results.store import Store

# What torch, numba and the libraries of numpy and scipy read when they are first imported.
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(eq=False)
class _Worker:
    """A process, the line to it, the task it made last, and what it is at."""

    process: BaseProcess
    line: Connection
    ready: bool = False
    task_key: str = ""
    place: int = -1
    cell: Cell | None = None

    def send(self) -> None:
        """Send it what it is at, once it listens: a long message would be waited with until then."""
        if self.ready and self.cell is not None:
            # One that has died is heard of when it is listened to.
            with suppress(OSError):
                self.line.send(_packed(self.cell))


class Workers:
    """Processes that run cells; they are started as they are needed, and gone at the end of a ``with``.

    They share the cores of the machine, and the GPU where the cells name it. A process that dies costs the
    cell it was at, and nothing else. A script of your own that starts some needs its
    ``if __name__ == "__main__"``, since each process imports the script anew.

    Args:
        jobs: how many at most.
        store: where records are kept and looked up.
        again: compute what is in the store anew.
        keep_scores: keep the scores of the test part too.
    """

    def __init__(
        self, jobs: int, store: Store | None = None, again: bool = False, keep_scores: bool = False
    ) -> None:
        whole_number("jobs", "Workers", jobs, 1)
        self._jobs, self._store, self._again, self._keep_scores = jobs, store, again, keep_scores
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, cells: Iterable[Cell]) -> Iterator[tuple[int, Outcome]]:
        """Run cells, and yield the place and the outcome of each as it is done.

        A process gets cells of the task it has made already where there are some left. Of cells that are made
        one by one only as many are looked at ahead as there are processes.
        """
        ahead = len(cells) if isinstance(cells, Sequence) else self._jobs
        coming = enumerate(cells)
        left: list[tuple[int, Cell, str]] = []
        try:
            while True:
                while len(left) < ahead and (one := next(coming, None)) is not None:
                    found = self._found(one[1])
                    if found is not None:
                        yield one[0], found
                    else:
                        left.append((*one, one[1].task_key))
                if left and len(self._busy) < self._jobs:
                    self._give(left)
                elif self._busy:
                    yield from self._done()
                else:
                    return
        finally:
            # Nobody waits any more for what is still run.
            _end(self._busy)

    def _found(self, cell: Cell) -> Outcome | None:
        cell.check()
        return kept(cell, self._store, self._again, self._keep_scores)

    def _give(self, left: list[tuple[int, Cell, str]]) -> None:
        """Give a cell to a process that is free."""
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        made = {worker.task_key for worker in self._idle}
        held = made | {worker.task_key for worker in self._busy}
        # Of a task that a free process has made, else of one that nobody has, else the first.
        chosen = next((one for one in left if one[2] in made), None)
        chosen = chosen or next((one for one in left if one[2] not in held), left[0])
        left.remove(chosen)
        place, cell, key = chosen
        _packed(cell)  # before a process is started for one that cannot be sent
        free = sorted(self._idle, key=lambda worker: worker.task_key != key)
        worker = free[0] if free else self._start()
        if free:
            self._idle.remove(worker)
        worker.place, worker.cell, worker.task_key = place, cell, key
        self._busy.append(worker)
        worker.send()

    def _done(self) -> Iterator[tuple[int, Outcome]]:
        """Wait for one process at least, and yield what has come."""
        heard = wait([worker.line for worker in self._busy])
        for worker in [worker for worker in self._busy if worker.line in heard]:
            assert worker.cell is not None
            try:
                said = worker.line.recv()
            except (EOFError, OSError):
                self._busy.remove(worker)
                yield worker.place, Outcome(worker.cell, None, reason=_death(worker))
                continue
            if said is None:
                worker.ready = True
                worker.send()
                continue
            self._busy.remove(worker)
            self._idle.append(worker)
            record, reason = _told(said, worker.cell)
            yield worker.place, Outcome(worker.cell, record, record is not None, reason)

    def _start(self) -> _Worker:
        # A forked process would share locks with the threads of numba and torch: it starts afresh.
        context = multiprocessing.get_context("spawn")
        line, far_end = context.Pipe()
        folder = None if self._store is None else self._store.folder
        arguments = (far_end, folder, self._keep_scores)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        with _limited(max(1, _cores() // self._jobs)), _undisturbed():
            process.start()
        far_end.close()
        return _Worker(process, line)

    def stop(self) -> None:
        """End all processes, whatever they are at."""
        _end(self._idle)
        _end(self._busy)


def _end(workers: list[_Worker]) -> None:
    """End some processes, and forget them."""
    for worker in workers:
        worker.process.kill()
        worker.line.close()
    for worker in workers:
        worker.process.join()
    workers.clear()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Let processes that are started inside have so many threads each, or fewer where the user asked so."""
    before = {name: os.environ.get(name) for name in THREADS}
    for name, value in before.items():
        asked = int(value) if value is not None and value.isdecimal() and int(value) else threads
        os.environ[name] = str(min(asked, threads))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started inside until they know what to do about it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(worker: _Worker) -> str:
    """Why a process died, as far as can be told; one that never lived is an error of the caller's."""
    worker.process.join()
    worker.line.close()
    status = worker.process.exitcode
    # An exception at its very start: it has imported nothing but the script that started it.
    if not worker.ready and status == 1:
        raise InputError(
            "a process to run cells in could not begin: a script that starts some needs its"
            ' `if __name__ == "__main__"`'
        )
    hint = ": it may have run out of memory, and fewer jobs need less" if status == -signal.SIGKILL else ""
    return f"the process that ran it died with status {status}{hint}"


def _told(said: tuple[Record | None, str, InputError | str], cell: Cell) -> tuple[Record | None, str]:
    """A record or the reason why there is none; what went wrong beyond the cell is raised."""
    record, reason, trouble = said
    if isinstance(trouble, InputError):
        raise trouble
    if trouble:
        raise RuntimeError(f"a worker failed at {cell.method.name} on {cell.name}\n{trouble}")
    return record, reason


def _serve(line: Connection, folder: Path | None, keep_scores: bool) -> None:
    """A worker's life: take a cell, run it, send what became of it."""
    # Ctrl-C reaches the whole group, and whoever started us decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # It ends with its parent by itself, so it may have children of its own: some methods start processes.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            line.send(None)
            store = None if folder is None else Store(folder)
            cells = map(_unpacked, iter(line.recv, None))
            # What is in the store already has been found before it came here.
            for outcome in run_cells(cells, store, again=True, keep_scores=keep_scores):
                line.send((outcome.record, outcome.reason, ""))
        except (EOFError, OSError):
            raise
        except InputError as error:
            # Not of the cell, which would have a reason: the disk may be full.
            line.send((None, "", InputError(str(error))))
        except Exception:  # whatever it is, it is read where the work was started
            line.send((None, "", traceback.format_exc()))


def _end_with_parent() -> None:
    """End at once where the parent was killed: nobody would hear of what is being computed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _packed(cell: Cell) -> tuple[Cell, str, str, dict[str, Any]]:
    """A cell with its method by name: a class from a file of the user's own cannot be pickled."""
    kind = type(cell.method)
    module = sys.modules.get(kind.__module__)
    typed_in = kind.__module__ == "__main__" and not hasattr(module, "__file__")
    try:
        found = None if typed_in else attrgetter(kind.__qualname__)(module)
    except AttributeError:
        found = None
    if found is not kind:
        raise InputError(
            f"{cell.method.name}: no other process can find the class {kind.__qualname__} by its name;"
            " define it at the top of a file, or run one cell at a time"
        )
    bare = replace(cell, method=None)  # type: ignore[arg-type]
    return bare, kind.__module__, kind.__qualname__, cell.method.settings()


def _unpacked(packed: tuple[Cell, str, str, dict[str, Any]]) -> Cell:
    bare, module, name, settings = packed
    kind = attrgetter(name)(_module(module))
    return replace(bare, method=kind(**settings))


def _module(name: str) -> ModuleType:
    """A module; a file of the user's own is known under its path, by which nobody can import it."""
    if name in sys.modules:
        return sys.modules[name]
    if not name.endswith(".py"):
        return import_module(name)
    spec = spec_from_file_location(name, name)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
