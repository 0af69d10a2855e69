"""A runner that runs cells on a cluster of Dask."""

from __future__ import annotations

import asyncio
import queue
import secrets
import threading
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
from trueedge.runs.engines.worker import run_job
from trueedge.runs.runner import LookUp, Runner, nothing_known

# A cell is started so often: its worker may die for reasons of its own.
STARTS = 3
# Seconds without any worker, and without one that can run any of the cells, until the driver gives up.
SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_WITHOUT_FITTING = 30.0
# Seconds between two looks at the list of workers, and until a scheduler that does not answer is given up.
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_OF_SILENCE = 60.0
# Seconds between two lines on how far the work is.
SECONDS_BETWEEN_LINES = 60.0
# Cells that are looked up ahead of the workers, so that each gets cells of the task it has made.
AHEAD, AHEAD_PER_WORKER = 64, 4
AGAIN = "finished results are stored: run the same command again to go on"


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
        self._tells, self._told = tells, time.monotonic()
        self._where = (scheduler, scheduler_file, whole_number("workers", "Dask", jobs, 1))
        self._timeout = cell_timeout
        self._notice = notice or (lambda _: None)
        self._open: Cluster | None = None
        self._workers: dict[str, Worker] = {}
        self._abandoned: set[str] = set()
        self._answers: queue.SimpleQueue[tuple[Started, Answer | BaseException]] = queue.SimpleQueue()
        self._answered: list[Any] = []
        self._looked = self._idle_since = 0.0
        self._refusals: dict[str, None] = {}
        self._said: set[str] = set()

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
                while len(waiting) < self._ahead(cells) and (one := next(coming, None)) is not None:
                    known = look_up(one[1])
                    if known is not None:
                        done += 1
                        yield one[0], known
                    else:
                        job = job_of(one[1], scores_to, token)
                        waiting.append(Waiting(*one, one[1].task_key, job))
                if not waiting and not self._running():
                    return
                found, trouble = self._turn(waiting, f"{done:,}{total} cells done")
                for position, outcome in found:
                    done += 1
                    # Another driver may have stored the same result in the meantime.
                    there = look_up(outcome.cell) if outcome.fresh else None
                    if there is not None:
                        self._say("another run on the same store has computed the same results: its are used")
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
        self, waiting: list[Waiting], so_far: str
    ) -> tuple[list[tuple[int, Outcome]], Exception | None]:
        """Wait for answers for a moment; return the outcomes, and what ends the run after they are stored.

        Workers that have answered get the next cells at once: storing a record takes a while.
        """
        found: list[tuple[int, Outcome]] = []
        trouble: Exception | None = None
        try:
            found += self._look(waiting)
            self._give(waiting)
            self._check_progress(waiting)
            self._tell(f"{so_far}, {len(self._running())} running")
        except InputError as error:
            trouble = error
        for started, answer in self._arrived(SECONDS_BETWEEN_LOOKS if trouble is None else 0):
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

    @property
    def _cluster(self) -> Cluster:
        if self._open is None:
            self._open = Cluster(*self._where, self._notice)
            self._idle_since = time.monotonic()
        return self._open

    def _ahead(self, cells: Iterable[Cell]) -> int:
        if isinstance(cells, Sequence):
            return max(AHEAD, AHEAD_PER_WORKER * len(self._workers))
        return max(1, len(self._workers))

    def _running(self) -> list[Started]:
        return [worker.running for worker in self._workers.values() if worker.running is not None]

    def _look(self, waiting: list[Waiting]) -> Iterator[tuple[int, Outcome]]:
        """Look at the list of workers now and then; yield outcomes of cells that are given up."""
        now = time.monotonic()
        if self._workers and now - self._looked < SECONDS_BETWEEN_LOOKS:
            return
        self._looked = now
        listed = self._listed()
        self._abandoned &= set(listed)
        for address in set(self._workers) - set(listed):
            worker = self._workers.pop(address)
            if worker.running is not None:
                yield from self._died(worker.running, waiting, "")
        for address, card in listed.items():
            busy = bool(card.get("metrics", {}).get("executing", 0))
            if address in self._workers:
                self._workers[address].busy_elsewhere &= busy
            elif address not in self._abandoned and card.get("status") in (None, "running"):
                gpu = float(card.get("resources", {}).get("GPU", 0)) > 0
                self._workers[address] = Worker(address, gpu, busy)
        if self._timeout is None:
            return
        for started in self._running():
            if now - started.since > self._timeout:
                self._restart(started.worker)
                yield from self._died(started, waiting, f"it took longer than {self._timeout:g} s")

    def _listed(self) -> dict[str, dict[str, Any]]:
        """Return the workers by address; an InputError if the scheduler does not answer."""
        client = self._cluster.client
        try:
            if client.status not in ("running", "newly-created"):
                raise OSError(client.status)
            # The scheduler names a few workers only, unless asked for all.
            found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=SECONDS_OF_SILENCE)
        except (TimeoutError, OSError, TypeError, AttributeError):
            raise self._lost() from None
        return dict(found["workers"])

    def _lost(self) -> InputError:
        return InputError(f"the scheduler at {self._cluster.address} is lost; {AGAIN}")

    def _give(self, waiting: list[Waiting]) -> None:
        """Give cells to idle workers: first of a task that the worker has made, then of one nobody has."""
        for worker in self._workers.values():
            if worker.running is not None or worker.busy_elsewhere or not waiting:
                continue
            chosen = choose(worker, waiting, self._workers.values())
            if chosen is not None:
                waiting.remove(chosen)
                self._start(chosen, worker)

    def _start(self, what: Waiting, worker: Worker) -> None:
        job = what.job
        sent = not job.source or job.source in worker.sources
        source = None if sent else source_of(what.cell, self.shared)
        code = user_code(what.cell) if job.code and job.code not in worker.codes else None
        client = self._cluster.client
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
                raise self._lost() from None
        started = Started(what, worker, future, time.monotonic())
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
            self._say(answer.refused)
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

        refusal = self._cluster.refusal(error)
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
        what.starts += 1
        if what.starts < STARTS:
            waiting.append(what)
            return
        reason = why or "its worker died while it ran (out of memory?)"
        yield what.position, Outcome(what.cell, None, reason=f"{reason}, in each of {STARTS} starts")

    def _restart(self, worker: Worker) -> None:
        """Restart a worker that takes too long; it comes back under a new address."""
        self._workers.pop(worker.address, None)
        self._abandoned.add(worker.address)
        self._restarted([worker.address])

    def _restarted(self, addresses: list[str]) -> None:
        client = self._cluster.client

        def restart() -> None:
            # A worker without a nanny cannot be restarted.
            with suppress(Exception):
                client.restart_workers(addresses, timeout=30, raise_for_error=False)

        threading.Thread(target=restart, daemon=True).start()

    def _check_progress(self, waiting: list[Waiting]) -> None:
        """Raise an InputError if cells wait, and no worker has been able to run any of them for long."""
        now = time.monotonic()
        others = any(worker.busy_elsewhere for worker in self._workers.values())
        if others and waiting and not self._running():
            self._say("all workers are busy with other work: waiting for them")
        if not waiting or self._running() or others:
            self._idle_since = now
            return
        waited = now - self._idle_since
        address = self._cluster.address
        if not self._workers and waited > SECONDS_WITHOUT_WORKERS:
            raise InputError(
                f"the scheduler at {address} has had no worker for {SECONDS_WITHOUT_WORKERS:.0f} s: start"
                f" some with 'trueedge worker {address}'; {AGAIN}"
            )
        if self._workers and waited > SECONDS_WITHOUT_FITTING:
            if self._refusals:
                raise InputError(f"no worker can run the rest: {next(iter(self._refusals))}; {AGAIN}")
            raise InputError(
                f"none of the workers at {address} has a GPU: start one with 'trueedge worker {address}"
                f" --gpus 0', or leave out --device; {AGAIN}"
            )

    def _leave(self) -> None:
        """Give up what is still running: nobody waits for it any longer."""
        running = self._running()
        for started in running:
            started.worker.running = None
            with suppress(Exception):
                started.future.cancel()
        cluster = self._open
        if running and cluster is not None and not cluster.own and cluster.client.status == "running":
            # A cancelled cell would go on, and block its worker.
            self._restarted([started.worker.address for started in running])
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def _tell(self, sentence: str) -> None:
        """Tell the user how far the work is, once a minute."""
        now = time.monotonic()
        if self._tells and now - self._told >= SECONDS_BETWEEN_LINES:
            self._told = now
            self._notice(sentence)

    def _say(self, sentence: str) -> None:
        """Tell the user something, once."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._notice(sentence)

    def stop(self) -> None:
        """Close the connection, and the cluster if it was started here."""
        self._workers.clear()
        if self._open is not None:
            self._open.close()
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
