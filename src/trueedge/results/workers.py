"""Cells in several processes, each of which ends with the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from trueedge.errors import InputError, must_be
from trueedge.results.cells import Cell, Outcome, kept, run_cells
from trueedge.results.record import Record
from trueedge.results.store import Store


class Workers:
    """Processes that run cells; they are started as they are needed, and gone at the end of a ``with``.

    They share the cores of the machine, and the GPU where the cells name it. A script of your own that
    starts some needs its ``if __name__ == "__main__"``, since each process imports the script anew.

    Args:
        jobs: how many at most.
        store: where records are kept and looked up.
        again: compute what is in the store anew.
        keep_scores: keep the scores of the test part too.
    """

    def __init__(
        self, jobs: int, store: Store | None = None, again: bool = False, keep_scores: bool = False
    ) -> None:
        if not isinstance(jobs, int) or jobs < 1:
            raise must_be("jobs", "Workers", "a whole number from 1 on", jobs)
        self._jobs, self._store, self._again, self._keep_scores = jobs, store, again, keep_scores
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._idle: list[tuple[BaseProcess, Connection]] = []
        self._busy: dict[Connection, tuple[BaseProcess, int, Cell]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def run(self, cells: Iterable[Cell]) -> Iterator[tuple[int, Outcome]]:
        """Run cells, and yield the place and the outcome of each as it is done.

        They are taken one by one, as a process is free: what makes them may hold only a few at a time.
        """
        for place, cell in enumerate(cells):
            cell.check()
            found = kept(cell, self._store, self._again, self._keep_scores)
            if found is not None:
                yield place, found
                continue
            if not self._idle and len(self._busy) == self._jobs:
                yield from self._done()
            process, line = self._idle.pop() if self._idle else self._start()
            self._busy[line] = (process, place, cell)
            line.send(_packed(cell))
        while self._busy:
            yield from self._done()

    def _done(self) -> Iterator[tuple[int, Outcome]]:
        """Wait for one process at least, and yield what has come."""
        for line in [line for line in wait(list(self._busy)) if isinstance(line, Connection)]:
            process, place, cell = self._busy[line]
            record, reason = _received(process, line, cell)
            self._idle.append((process, line))
            del self._busy[line]
            yield place, Outcome(cell, record, record is not None, reason)

    def _start(self) -> tuple[BaseProcess, Connection]:
        # A forked process would share locks with the threads of numba and torch: it starts afresh.
        context = multiprocessing.get_context("spawn")
        line, far_end = context.Pipe()
        folder = None if self._store is None else self._store.folder
        arguments = (far_end, self._threads, folder, self._keep_scores)
        process = context.Process(target=_serve, args=arguments, daemon=True)
        process.start()
        far_end.close()
        return process, line

    def stop(self) -> None:
        """End all processes, whatever they are at."""
        everyone = [*self._idle, *((process, line) for line, (process, _, _) in self._busy.items())]
        self._idle, self._busy = [], {}
        for process, line in everyone:
            process.kill()
            line.close()
        for process, _ in everyone:
            process.join()


def _received(process: BaseProcess, line: Connection, cell: Cell) -> tuple[Record | None, str]:
    try:
        record, reason, trouble = line.recv()
    except (EOFError, OSError):
        process.join()
        raise InputError(
            f"the process that ran {cell.method.name} on {cell.name} died with status {process.exitcode}:"
            " it may have run out of memory, and fewer jobs need less"
        ) from None
    if isinstance(trouble, InputError):
        raise trouble
    if trouble:
        raise RuntimeError(f"a worker failed at {cell.method.name} on {cell.name}\n{trouble}")
    return record, reason


def _serve(line: Connection, threads: int, folder: Path | None, keep_scores: bool) -> None:
    """A worker's life: take a cell, run it, send what became of it."""
    # Ctrl-C reaches the whole group, and whoever started us decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The cores are divided among the workers; torch and numba read this when they are first imported.
    os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)
    with suppress(EOFError, OSError):
        try:
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


def _packed(cell: Cell) -> tuple[Cell, str, str, dict[str, Any]]:
    """A cell with its method by name: a class from a file of the user's own cannot be pickled."""
    kind = type(cell.method)
    bare = replace(cell, method=None)  # type: ignore[arg-type]
    return bare, kind.__module__, kind.__qualname__, cell.method.settings()


def _unpacked(packed: tuple[Cell, str, str, dict[str, Any]]) -> Cell:
    bare, module, name, settings = packed
    kind = attrgetter(name)(_module(module))
    return replace(bare, method=kind(**settings))


def _end_with_parent() -> None:
    """End at once where the parent was killed: nobody would hear of what is being computed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


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
