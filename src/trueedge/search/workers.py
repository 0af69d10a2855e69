"""Cells in several processes, each of which ends with the one that started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from operator import attrgetter
from typing import Any

from trueedge.errors import InputError
from trueedge.results import Cell, Outcome, Record, run_cells


@contextmanager
def workers(jobs: int, cell: Cell) -> Iterator[Workers]:
    """Processes that run cells; they are gone at the end of the block.

    Args:
        jobs: how many.
        cell: one of the cells they will get; a method from a file of the user's own is imported from there.
    """
    module = sys.modules.get(type(cell.method).__module__)
    path = getattr(module, "__file__", None)
    # Such a file is known under its path, by which no process can import it.
    own = path if module is not None and module.__name__ == path else None
    started = Workers(jobs, own)
    try:
        yield started
    finally:
        started.stop()


class Workers:
    """Processes that run cells."""

    def __init__(self, jobs: int, own_code: str | None) -> None:
        self._own_code = own_code
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._idle = [self._start() for _ in range(jobs)]
        self._busy: dict[Connection, tuple[BaseProcess, int]] = {}

    def run(self, cells: Sequence[Cell]) -> Iterator[tuple[int, Outcome]]:
        """Run cells, and yield the place and the outcome of each as it is done."""
        left = list(range(len(cells)))
        while left or self._busy:
            while left and self._idle:
                process, line = self._idle.pop()
                self._busy[line] = (process, left[0])
                line.send(_packed(cells[left.pop(0)]))
            for line in [line for line in wait(list(self._busy)) if isinstance(line, Connection)]:
                process, place = self._busy[line]
                record, reason = _received(process, line, cells[place])
                self._idle.append((process, line))
                del self._busy[line]
                yield place, Outcome(cells[place], record, record is not None, reason)

    def _start(self) -> tuple[BaseProcess, Connection]:
        # A forked process would share locks with the threads of numba and torch: it starts afresh.
        context = multiprocessing.get_context("spawn")
        line, far_end = context.Pipe()
        process = context.Process(target=_serve, args=(far_end, self._threads, self._own_code), daemon=True)
        process.start()
        far_end.close()
        return process, line

    def stop(self) -> None:
        """End all processes, whatever they are at."""
        everyone = [*self._idle, *((process, line) for line, (process, _) in self._busy.items())]
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
    if trouble:
        raise RuntimeError(f"a worker failed at {cell.method.name} on {cell.name}\n{trouble}")
    return record, reason


def _serve(line: Connection, threads: int, own_code: str | None) -> None:
    """A worker's life: take a cell, run it, send what became of it."""
    # Ctrl-C reaches the whole group, and whoever started us decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The cores are divided among the workers; torch and numba read this when they are first imported.
    os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)
    with suppress(EOFError, OSError):
        try:
            if own_code is not None:
                _import(own_code)
            for outcome in run_cells(map(_unpacked, iter(line.recv, None))):
                line.send((outcome.record, outcome.reason, ""))
        except (EOFError, OSError):
            raise
        except Exception:  # whatever it is, it is read where the search was started
            line.send((None, "", traceback.format_exc()))


def _packed(cell: Cell) -> tuple[Cell, str, str, dict[str, Any]]:
    """A cell with its method by name: a class from a file of the user's own cannot be pickled."""
    kind = type(cell.method)
    bare = replace(cell, method=None)  # type: ignore[arg-type]
    return bare, kind.__module__, kind.__qualname__, cell.method.settings()


def _unpacked(packed: tuple[Cell, str, str, dict[str, Any]]) -> Cell:
    bare, module, name, settings = packed
    kind = attrgetter(name)(sys.modules.get(module) or import_module(module))
    return replace(bare, method=kind(**settings))


def _end_with_parent() -> None:
    """End at once where the parent was killed: nobody would hear of what is being computed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _import(path: str) -> None:
    spec = spec_from_file_location(path, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path] = module
    spec.loader.exec_module(module)
