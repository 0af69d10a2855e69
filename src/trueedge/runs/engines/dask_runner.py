"""A runner that runs cells on a cluster of Dask."""

from __future__ import annotations

import asyncio
import queue
import secrets
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from trueedge.errors import InputError, whole_number
from trueedge.results.kept_scores import FOLDER, HeldScores, without_scores
from trueedge.runs.cells import Cell, Outcome
from trueedge.runs.engines.assignment import Started, Waiting, Worker, choose
from trueedge.runs.engines.cluster import Cluster
from trueedge.runs.engines.jobs import Answer, job_of, source_of, user_code
from trueedge.runs.engines.notices import Notices
from trueedge.runs.engines.worker import run_job
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
        self._answers: queue.SimpleQueue[tuple[Started, Answer | BaseException]] = queue.SimpleQueue()
        self._answered: list[Any] = []
        self._refusals: dict[str, None] = {}

    def run(
        self, cells: Iterable[Cell], look_up: LookUp = nothing_known, scores_to: Path | None = None
    ) -> Iterator[tuple[int, Outcome]]:
        """Run cells and yield outcomes in the order they finish."""
        coming = enumerate(cells)
        total = f" of {len(cells):,}" if isinstance(cells, Sequence) else ""
        done = 0
        waiting: list[Waiting] = []
        token = _token_file(scores_to)
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
                    yield position, there or _with_scores(outcome, scores_to)
                if trouble is not None:
                    raise trouble
                while self._answered:
                    self._answered.pop().release()
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
        for started, answer in self._arrived(self._pause() if trouble is None else 0):
            started.worker.running = None
            self._answered.append(started.future)
            try:
                if isinstance(answer, Answer):
                    found += self._outcome(started, answer, waiting)
                else:
                    found += self._failed(started, answer, waiting)
            except (InputError, RuntimeError) as error:
                trouble = trouble or error
        if trouble is None:
            try:
                self._give(waiting)
            except InputError as error:
                trouble = error
        return found, trouble

    def _arrived(self, timeout: float) -> Iterator[tuple[Started, Answer | BaseException]]:
        """Yield the answers that have come, after a wait for the first."""
        with suppress(queue.Empty):
            while True:
                started, answer = self._answers.get(timeout=timeout)
                timeout = 0
                # A cell may have been given up in the meantime.
                if started.worker.running is started:
                    yield started, answer

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
        if self._open is None or not self._answers.empty():
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
            chosen = choose(worker, waiting, self._workers)
            if chosen is not None:
                waiting.remove(chosen)
                self._start(chosen, worker)

    def _start(self, what: Waiting, worker: Worker) -> None:
        job = what.job
        sent = not job.source or job.source in worker.sources
        source = None if sent else source_of(what.cell, self.shared)
        code = user_code(what.cell) if job.code and job.code not in worker.codes else None
        client = self._workers.cluster.client
        with warnings.catch_warnings():
            # Dask suggests to scatter what is large: it would be lost with the worker that holds it.
            warnings.simplefilter("ignore", UserWarning)
            try:
                future = client.submit(
                    run_job,
                    *(job, source, code, worker.address),
                    key=f"trueedge-{secrets.token_hex(12)}",
                    workers=[worker.address],
                    allow_other_workers=False,
                    pure=False,
                    retries=0,
                )
            except (OSError, RuntimeError, AttributeError):
                raise self._workers.lost_scheduler() from None
        started = Started(what, worker, future, time.monotonic(), begun=not worker.has_queue)
        worker.running = started
        for kept, key in ((worker.tasks, what.task_key), (worker.sources, job.source)):
            if key and key not in kept:
                kept.append(key)
        worker.codes.add(job.code)
        asyncio.run_coroutine_threadsafe(self._fetch(started), client.loop.asyncio_loop)

    async def _fetch(self, started: Started) -> None:
        """Wait for an answer, without which the cell is not finished: its worker may die holding it."""
        try:
            answer = await started.future
        except BaseException as error:
            self._answers.put((started, error))
        else:
            self._answers.put((started, answer))

    def _outcome(
        self, started: Started, answer: Answer, waiting: list[Waiting]
    ) -> Iterator[tuple[int, Outcome]]:
        what, worker = started.what, started.worker
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
            yield what.position, Outcome(what.cell, record, record is not None, answer.reason, answer.scores)

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
            yield from self._outcome(started, Answer(refused=refused, refused_all=True), waiting)
        else:
            waiting.append(started.what)

    def _died(self, started: Started, waiting: list[Waiting], why: str) -> Iterator[tuple[int, Outcome]]:
        """Let a cell wait again whose worker died, or give it up."""
        started.worker.running = None
        with suppress(Exception):
            started.future.cancel()
        what = started.what
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


def _token_file(scores_to: Path | None) -> str:
    """Write a file by which workers see whether they share the folder of the records; return its name."""
    if scores_to is None:
        return ""
    name = f"{FOLDER}/.shared-{secrets.token_hex(8)}"
    try:
        (scores_to / FOLDER).mkdir(parents=True, exist_ok=True)
        (scores_to / name).touch()
    except OSError:
        return ""
    return name


def _with_scores(outcome: Outcome, scores_to: Path | None) -> Outcome:
    """Return an outcome whose scores, which a worker has sent, can be written here."""
    if outcome.scores is None or scores_to is None:
        return outcome
    held: Any = outcome.scores
    return replace(outcome, scores=HeldScores(held, scores_to))
