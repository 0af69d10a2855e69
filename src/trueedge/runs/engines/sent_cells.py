"""Cells on their way to workers, and their answers on the way back."""

from __future__ import annotations

import asyncio
import queue
import secrets
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from trueedge.runs.engines.assignment import Started, Waiting, Worker
from trueedge.runs.engines.jobs import Answer, source_of, user_code
from trueedge.runs.engines.worker import run_jobs
from trueedge.runs.engines.worker_list import WorkerList


class Sent:
    """The cells that are on workers, and what has come back."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[tuple[Started, list[Answer] | BaseException]] = queue.SimpleQueue()
        self._answered: list[Any] = []

    def send(self, workers: WorkerList, cells: list[Waiting], worker: Worker, shared: Path | None) -> None:
        """Send cells of the same source and code to a worker.

        Args:
            workers: the workers.
            cells: the cells.
            worker: which of the workers.
            shared: a folder that all machines share, for large graphs.
        """
        what = cells[0]
        job = what.job
        known = not job.source or job.source in worker.sources
        source = None if known else source_of(what.cell, shared)
        code = user_code(what.cell) if job.code and job.code not in worker.codes else None
        client = workers.cluster.client
        with warnings.catch_warnings():
            # Dask suggests to scatter what is large: it would be lost with the worker that holds it.
            warnings.simplefilter("ignore", UserWarning)
            try:
                future = client.submit(
                    run_jobs,
                    *([one.job for one in cells], source, code, worker.address),
                    key=f"trueedge-{secrets.token_hex(12)}",
                    workers=[worker.address],
                    allow_other_workers=False,
                    pure=False,
                    retries=0,
                )
            except (OSError, RuntimeError, AttributeError):
                raise workers.lost_scheduler() from None
        started = Started(cells, worker, future, time.monotonic(), begun=not worker.has_queue)
        worker.running = started
        for kept, key in ((worker.tasks, what.task_key), (worker.sources, job.source)):
            if key and key not in kept:
                kept.append(key)
        worker.codes.add(job.code)
        asyncio.run_coroutine_threadsafe(self._fetch(started), client.loop.asyncio_loop)

    async def _fetch(self, started: Started) -> None:
        """Wait for an answer, without which the cells are not finished: their worker may die holding it."""
        try:
            answers = await started.future
        except BaseException as error:
            self._answers.put((started, error))
        else:
            self._answers.put((started, answers))

    def is_empty(self) -> bool:
        """Return whether no answer waits."""
        return self._answers.empty()

    def arrived(self, timeout: float) -> Iterator[tuple[Started, list[Answer] | BaseException]]:
        """Yield the answers that have come, after a wait for the first; their workers are idle again."""
        with suppress(queue.Empty):
            while True:
                started, answers = self._answers.get(timeout=timeout)
                timeout = 0
                # Cells may have been given up in the meantime.
                if started.worker.running is started:
                    started.worker.running = None
                    self._answered.append(started.future)
                    yield started, answers

    def release(self) -> None:
        """Let Dask forget answers that are stored: it would compute them again if their worker died."""
        while self._answered:
            self._answered.pop().release()
