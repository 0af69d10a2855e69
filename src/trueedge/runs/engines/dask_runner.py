"""A runner that runs cells on a cluster of Dask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from trueedge.errors import InputError, whole_number
from trueedge.results.kept_scores import without_scores
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.engines.assignment import SHORT, Started, Waiting, Worker, choose
from trueedge.runs.engines.cluster import Cluster
from trueedge.runs.engines.jobs import Answer, job_of
from trueedge.runs.engines.notices import Notices
from trueedge.runs.engines.sent_cells import Sent
from trueedge.runs.engines.sent_scores import token_file, with_scores_to
from trueedge.runs.engines.worker_list import (
    AGAIN,
    SECONDS_BETWEEN_LOOKS,
    SECONDS_UNTIL_A_WORKER,
    WorkerList,
)
from trueedge.runs.runner import LookUp, Runner, nothing_known

# A cell is started so often: its worker may die for reasons of its own.
STARTS = 3
# Cells that are looked up ahead of the workers, so that each gets cells of the task it has made.
AHEAD, AHEAD_PER_WORKER = 64, 4
# How often a cell may be beside another driver's when its worker dies, until it counts as the cause.
MOST_BYSTANDER = 10


class DaskRunner(Runner):
    """Runs cells on the workers of a cluster, one at a time on each. See :class:`trueedge.engines.Dask`.

    The driver decides which worker runs a cell and counts its starts: Dask would blame all cells that a dead
    worker held, compute finished ones again, and wait for a worker that never comes.

    Args:
        scheduler: the address of the scheduler; None starts a cluster on this machine.
        scheduler_file: a file with that address, instead.
        jobs: the number of workers of a cluster on this machine.
        cell_timeout: restart a worker whose cell takes longer, in seconds.
        notice: called with sentences on what happens.
        shared: a folder that all machines share, for large graphs.
        tells: notice every minute how many cells are done, where no progress bar is seen.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        scheduler_file: Path | None = None,
        jobs: int = 1,
        cell_timeout: float | None = None,
        notice: Callable[[str], object] | None = None,
        shared: Path | None = None,
        tells: bool = False,
    ) -> None:
        self.shared = shared
        self._where = (scheduler, scheduler_file, whole_number("workers", "Dask", jobs, 1))
        self._timeout = cell_timeout
        self._notices = Notices(notice, tells)
        self._open: WorkerList | None = None
        self._sent = Sent()
        self._refusals: dict[str, None] = {}
        self._short: set[object] = set()

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run cells and yield outcomes in the order they finish."""
        coming = enumerate(cells)
        total = f" of {len(cells):,}" if isinstance(cells, Sequence) else ""
        done = 0
        waiting: list[Waiting] = []
        token = token_file(scores_to)
        try:
            while True:
                while self._has_room(waiting, cells) and (one := next(coming, None)) is not None:
                    known = look_up(one[1])
                    if known is not None:
                        done += 1
                        yield one[0], known
                    else:
                        job = job_of(one[1], scores_to, token)
                        waiting.append(Waiting(*one, one[1].task_key, job))
                if not waiting and (self._open is None or not self._open.running()):
                    return
                wanted = None if isinstance(cells, Sequence) else self._where[2]
                found, trouble = self._turn(waiting, wanted, f"{done:,}{total} cells done")
                for position, outcome in found:
                    done += 1
                    # Another driver may have stored the same result in the meantime.
                    there = look_up(outcome.cell) if outcome.fresh else None
                    if there is not None:
                        self._notices.once(
                            "another run on the same store has computed the same results: its are used"
                        )
                    yield position, there or with_scores_to(outcome, scores_to)
                if trouble is not None:
                    raise trouble
                self._sent.release()
        finally:
            self._leave()
            if scores_to is not None and token:
                (scores_to / token).unlink(missing_ok=True)

    def _turn(
        self, waiting: list[Waiting], wanted: int | None, so_far: str
    ) -> tuple[list[tuple[int, Outcome]], Exception | None]:
        """Wait for answers for a moment; return the outcomes, and what ends the run after they are stored.

        Workers that have answered get the next cells at once: storing a record takes a while.
        """
        found: list[tuple[int, Outcome]] = []
        trouble: Exception | None = None
        try:
            workers = self._workers
            workers.cluster.need_workers(wanted or len(waiting) + len(workers.running()))
            for started, why in workers.look():
                found += self._died(started, waiting, why)
            self._give(waiting)
            workers.check_progress(waiting, self._refusals)
            self._notices.every_minute(f"{so_far}, {len(workers.running())} running")
        except InputError as error:
            trouble = error
        for started, answer in self._sent.arrived(self._pause() if trouble is None else 0):
            try:
                if isinstance(answer, BaseException):
                    found += self._failed(started, answer, waiting)
                    continue
            except InputError as error:
                trouble = trouble or error
                continue
            for what, one in zip(started.cells, answer, strict=True):
                try:
                    found += self._outcome(what, started.worker, one, waiting)
                except RuntimeError as error:
                    trouble = trouble or error
        if trouble is None:
            try:
                self._give(waiting)
            except InputError as error:
                trouble = error
        return found, trouble

    def _pause(self) -> float:
        """Return how long to wait for an answer: shorter until there is a worker."""
        return SECONDS_BETWEEN_LOOKS if len(self._workers) else SECONDS_UNTIL_A_WORKER

    @property
    def _workers(self) -> WorkerList:
        """Return the workers; the cluster is opened when they are first needed."""
        if self._open is None:
            cluster = Cluster(*self._where, self._notices.notice)
            self._open = WorkerList(cluster, self._timeout, self._notices)
        return self._open

    def _has_room(self, waiting: list[Waiting], cells: Iterable[Cell]) -> bool:
        """Return whether to look another cell up before workers are served."""
        if not waiting:
            return True
        # The cluster is started first, and workers that have answered are not kept waiting.
        if self._open is None or not self._sent.is_empty():
            return False
        if isinstance(cells, Sequence):
            return len(waiting) < max(AHEAD, AHEAD_PER_WORKER * len(self._open))
        return len(waiting) < len(self._open)

    def _give(self, waiting: list[Waiting]) -> None:
        """Give cells to idle workers: first of a task that the worker has made, then of one nobody has."""
        idle = self._workers.idle() if waiting else []
        if idle:
            self._workers.see_queues()
        for worker in idle:
            chosen = choose(worker, waiting, list(self._workers), self._short)
            if chosen:
                for what in chosen:
                    waiting.remove(what)
                self._start(chosen, worker)

    def _start(self, cells: list[Waiting], worker: Worker) -> None:
        self._sent.send(self._workers, cells, worker, self.shared)

    def _outcome(
        self, what: Waiting, worker: Worker, answer: Answer, waiting: list[Waiting]
    ) -> Iterator[tuple[int, Outcome]]:
        if answer.trouble:
            where = f"{what.cell.method.name} on {what.cell.name} failed on {worker.address}"
            raise RuntimeError(f"{where}\n{answer.trouble}")
        if answer.missing:
            (worker.sources if answer.missing == "source" else worker.codes).clear()
            waiting.insert(0, what)
        elif answer.refused:
            worker.refused.add(what.job.source_key)
            worker.refused_all |= answer.refused_all
            self._refusals[answer.refused] = None
            self._notices.once(answer.refused)
            waiting.insert(0, what)
        else:
            record = answer.record
            if record is not None and answer.complaint:
                record = without_scores(record, answer.complaint)
            if record is not None and record.seconds["fit"] + record.seconds["score"] < SHORT:
                self._short.add(what.kind)
            else:
                self._short.discard(what.kind)
            said = (answer.reason, answer.scores, answer.others)
            yield what.position, Outcome(what.cell, record, record is not None, *said)

    def _failed(
        self, started: Started, error: BaseException, waiting: list[Waiting]
    ) -> Iterator[tuple[int, Outcome]]:
        """Handle a cell without an answer: its worker died, could not read it, or the scheduler is lost."""
        from distributed import KilledWorker

        refusal = self._workers.cluster.refusal(error)
        if refusal is not None:
            raise InputError(f"{refusal}; {AGAIN}")
        if isinstance(error, KilledWorker):
            yield from self._died(started, waiting, "")
        elif isinstance(error, Exception) and "Cancelled" not in type(error).__name__:
            said = next(iter(str(error).splitlines()), "")
            refused = f"worker {started.worker.address} cannot run cells: {type(error).__name__}: {said}"
            for what in started.cells:
                yield from self._outcome(
                    what, started.worker, Answer(refused=refused, refused_all=True), waiting
                )
        else:
            waiting += started.cells

    def _died(self, started: Started, waiting: list[Waiting], why: str) -> Iterator[tuple[int, Outcome]]:
        """Let a cell wait again whose worker died, or give it up."""
        started.worker.running = None
        with suppress(Exception):
            started.future.cancel()
        if len(started.cells) > 1:
            # Nobody knows which of them it was: each is started again by itself.
            for what in started.cells:
                what.alone = True
            waiting += started.cells
            return
        (what,) = started.cells
        if started.begun or what.bystander >= MOST_BYSTANDER:
            what.starts += 1
        else:
            what.bystander += 1
        if what.starts < STARTS:
            waiting.append(what)
            return
        reason = why or "its worker died while it ran (out of memory?)"
        yield what.position, Outcome(what.cell, None, reason=f"{reason}, in each of {STARTS} starts")

    def _leave(self) -> None:
        """Give up what is still running: nobody waits for it any longer."""
        workers = self._open
        running = workers.running() if workers is not None else []
        for started in running:
            started.worker.running = None
            with suppress(Exception):
                started.future.cancel()
        if workers is None or not running or workers.cluster.own:
            return
        begun = [started.worker.address for started in running if started.begun]
        if begun and workers.cluster.client.status == "running":
            # A cancelled cell would go on, and block its worker.
            workers.restart(begun)
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def stop(self) -> None:
        """Close the connection, and the cluster if it was started here."""
        if self._open is not None:
            self._open.cluster.close()
            self._open = None
