"""A runner that runs cells in several processes."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from trueedge.errors import InputError, is_number, must_be
from trueedge.results.kept_scores import ScoresToKeep
from trueedge.results.record import Record
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.packed_cells import PackedCell, packed, unpacked
from trueedge.runs.runner import InProcess, LookUp, Runner, nothing_known

# A record, the reason why there is none, an error that the cell did not cause, whether scores wait, and the
# records that share the training.
_Answer = tuple[Record | None, str, InputError | str, bool, tuple[Record, ...]]
# What is sent to a process whose record is stored.
_SAVE = "save the scores"
# Seconds: the operating system cannot wait for a number without end.
LONGEST_WAIT = 86_400.0
# Why a cell has no record that was not run, or not to its end, when the time for all cells was over.
NO_TIME = "the time for all runs was over before it was finished"
# What torch, numba and the libraries of numpy and scipy read when they are first imported.
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(eq=False)
class _Worker:
    """A process, the connection to it, the task it made last, and the cell it runs."""

    process: BaseProcess
    line: Connection
    ready: bool = False
    task_key: str = ""
    position: int = -1
    cell: Cell | None = None
    scores_to: Path | None = None
    sent: float = math.inf

    def send(self) -> None:
        """Send the cell once the process listens: sending a long message earlier would block."""
        if self.ready and self.cell is not None:
            self.sent = time.monotonic()
            # The death of a process is noticed when it is waited for.
            with suppress(OSError):
                self.line.send((packed(self.cell), self.scores_to))

    def save(self) -> str:
        """Let the process write the scores of its last cell; return a sentence if that failed."""
        try:
            self.line.send(_SAVE)
            return str(self.line.recv())
        except (EOFError, OSError):
            return "its scores could not be kept: the process that held them has ended"


class Processes(Runner):
    """Runs cells in up to ``jobs`` processes, which are started when they are needed.

    The processes share the cores of the machine, and the GPU if cells use it. If a process dies, its cell has
    no record; all others run. A script that uses this needs ``if __name__ == "__main__"``, since each process
    imports the script.

    Args:
        jobs: the number of processes.
        limit: how many seconds a cell may take; the process of one that takes longer is ended, and the cell
            has no record. None is no limit.
        in_order: start cells in the order they come, even if a process has to make another task for it.
        raises: raise the errors of trueedge's own methods; otherwise such a cell has no record, and its
            process is ended, since a failed kernel of a GPU leaves it unusable.

    Attributes:
        until: when all cells are ended and none is started any more, by ``time.monotonic()``.
    """

    def __init__(
        self, jobs: int, limit: float | None = None, in_order: bool = False, raises: bool = True
    ) -> None:
        if type(jobs) is not int or jobs < 1:
            raise must_be("jobs", "Processes", "a whole number, 1 or more", jobs)
        if limit is not None and (not is_number(limit) or not limit > 0):
            raise must_be("limit", "Processes", "a number of seconds above 0, or None", limit)
        self._jobs = jobs
        self._limit = math.inf if limit is None else float(limit)
        self._in_order, self._raises = in_order, raises
        self.until = math.inf
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run cells and yield outcomes in the order they finish.

        A process gets cells of the task it has made, while there are any. From a generator, only as many
        cells are read ahead as there are processes.
        """
        ahead = len(cells) if isinstance(cells, Sequence) else self._jobs
        coming = enumerate(cells)
        left: list[tuple[int, Cell, str]] = []
        try:
            while True:
                while len(left) < ahead and (one := next(coming, None)) is not None:
                    found = look_up(one[1])
                    if found is not None:
                        yield one[0], found
                    else:
                        left.append((*one, one[1].task_key))
                if left and time.monotonic() >= self.until:
                    for position, cell, _ in left:
                        yield position, Outcome(cell, None, reason=NO_TIME)
                    left.clear()
                elif left and len(self._busy) < self._jobs:
                    self._give(left, scores_to)
                elif self._busy:
                    yield from self._finished()
                else:
                    return
        finally:
            # Nobody waits any longer for what is still running.
            _end(self._busy)

    def _give(self, left: list[tuple[int, Cell, str]], scores_to: Path | None) -> None:
        """Give a cell to an idle process, or to a new one."""
        self._idle = [worker for worker in self._idle if worker.process.is_alive()]
        chosen = left[0] if self._in_order else self._nearest(left)
        left.remove(chosen)
        position, cell, key = chosen
        packed(cell)  # fails before a process is started for a cell that cannot be sent
        free = sorted(self._idle, key=lambda worker: worker.task_key != key)
        worker = free[0] if free else self._start()
        if free:
            self._idle.remove(worker)
        worker.position, worker.cell, worker.task_key, worker.scores_to = position, cell, key, scores_to
        self._busy.append(worker)
        worker.send()

    def _nearest(self, left: list[tuple[int, Cell, str]]) -> tuple[int, Cell, str]:
        """Return a cell of a task that an idle process has made, or else one that no process has, or any."""
        made = {worker.task_key for worker in self._idle}
        held = made | {worker.task_key for worker in self._busy}
        chosen = next((one for one in left if one[2] in made), None)
        return chosen or next((one for one in left if one[2] not in held), left[0])

    def _finished(self) -> Iterator[tuple[int, Outcome]]:
        """Wait for at least one process, and yield what has come."""
        until = min(min(worker.sent for worker in self._busy) + self._limit, self.until)
        left = None if until == math.inf else min(max(0.0, until - time.monotonic()), LONGEST_WAIT)
        heard = wait([worker.line for worker in self._busy], left)
        if not heard:
            yield from self._too_long()
            return
        for worker in [worker for worker in self._busy if worker.line in heard]:
            assert worker.cell is not None
            try:
                said = worker.line.recv()
            except (EOFError, OSError):
                self._busy.remove(worker)
                yield worker.position, Outcome(worker.cell, None, reason=_death(worker))
                continue
            if said is None:
                worker.ready = True
                worker.send()
                continue
            self._busy.remove(worker)
            if not self._raises and said[2]:
                failed = [worker]
                _end(failed)
                yield worker.position, Outcome(worker.cell, None, reason=_failure(said[2]))
                continue
            self._idle.append(worker)
            worker.sent = math.inf
            record, reason, waiting, others = _received(said, worker.cell)
            scores = worker if waiting else None
            yield worker.position, Outcome(worker.cell, record, record is not None, reason, scores, others)

    def _too_long(self) -> Iterator[tuple[int, Outcome]]:
        """End the processes whose cells take longer than the limit, or all at the end of the time."""
        now = time.monotonic()
        ends = now >= self.until
        over = [worker for worker in self._busy if ends or now - worker.sent >= self._limit]
        self._busy = [worker for worker in self._busy if worker not in over]
        ended = [(worker.position, worker.cell) for worker in over]
        _end(over)
        for position, cell in ended:
            assert cell is not None
            yield position, Outcome(cell, None, reason=NO_TIME if ends else too_long(self._limit))

    def _start(self) -> _Worker:
        # A forked process would share locks with the threads of numba and torch: it starts afresh.
        context = multiprocessing.get_context("spawn")
        line, far_end = context.Pipe()
        process = context.Process(target=_serve, args=(far_end,), daemon=True)
        with _limited(max(1, _cores() // self._jobs)), undisturbed():
            process.start()
        far_end.close()
        return _Worker(process, line)

    def stop(self) -> None:
        """End all processes, including those that run a cell."""
        _end(self._idle)
        _end(self._busy)


def too_long(limit: float) -> str:
    """Return the reason why a cell that took longer than a limit in seconds has no record."""
    shown = f"{limit / 60:g} minutes" if limit >= 120 else f"{limit:g} seconds"
    return f"it takes longer than the limit of {shown}"


def _end(workers: list[_Worker]) -> None:
    """End processes and empty the list of them."""
    for worker in workers:
        worker.process.kill()
        worker.line.close()
    for worker in workers:
        worker.process.join()
    workers.clear()


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Limit the threads of processes that are started in the block, unless the user set a lower limit."""
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
def undisturbed() -> Iterator[None]:
    """Block Ctrl-C in processes and threads that are started in the block, until they unblock it themselves.

    In this process it takes effect at the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Whoever starts the first process starts this too, and Python then unblocks Ctrl-C.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _death(worker: _Worker) -> str:
    """Return why a process died; if it could not even start, the calling script is at fault."""
    worker.process.join()
    worker.line.close()
    status = worker.process.exitcode
    # An exception before it was ready: it has imported nothing but the script that started it.
    if not worker.ready and status == 1:
        raise InputError(
            "a process could not start: a script that runs cells in several processes needs"
            ' `if __name__ == "__main__"`'
        )
    hint = " (out of memory? Use fewer jobs)" if status == -signal.SIGKILL else ""
    return f"its process died with status {status}{hint}"


def _received(said: _Answer, cell: Cell) -> tuple[Record | None, str, bool, tuple[Record, ...]]:
    """Return a record or the reason why there is none; raise errors that the cell did not cause."""
    record, reason, trouble, waiting, others = said
    if isinstance(trouble, InputError):
        raise trouble
    if trouble:
        raise RuntimeError(f"{cell.method.name} on {cell.name} failed in another process\n{trouble}")
    return record, reason, waiting, others


def _failure(trouble: InputError | str) -> str:
    """Return the last line of a traceback, which names the error, as the reason of a cell."""
    lines = [line.strip() for line in str(trouble).splitlines() if line.strip()]
    return f"it failed: {lines[-1]}" if lines else "it failed"


def _serve(line: Connection) -> None:
    """Run cells as they are sent, and send back a record or a reason for each."""
    # Ctrl-C reaches the whole group of processes; the one that started us decides what happens.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # It ends with its parent by itself, so it may have children: some methods start processes.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    runner = InProcess()
    with suppress(EOFError, OSError):
        line.send(None)
        held = None
        while True:
            asked = line.recv()
            if asked == _SAVE:
                line.send("" if held is None else held.save())
                continue
            answer, held = _answer(runner, *asked)
            line.send(answer)


def _answer(
    runner: InProcess, sent: PackedCell, scores_to: Path | None
) -> tuple[_Answer, ScoresToKeep | None]:
    """Run a cell; return what is sent back, and the scores that wait until the record is stored."""
    try:
        outcome = runner.run_one(unpacked(sent), scores_to)
    except InputError as error:
        # The user's class could not be imported here.
        return (None, "", InputError(str(error)), False, ()), None
    except Exception:  # it is raised where the work was started
        return (None, "", traceback.format_exc(), False, ()), None
    waiting = outcome.scores is not None
    return (outcome.record, outcome.reason, "", waiting, outcome.others), outcome.scores


def _end_with_parent() -> None:
    """End as soon as the parent is gone: nobody would receive the result."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
