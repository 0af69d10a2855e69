"""The workers of a cluster: which there are, what they run, and which are lost or in use elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from trueedge.errors import InputError
from trueedge.runs.engines.assignment import Started, Waiting, Worker
from trueedge.runs.engines.cluster import Cluster
from trueedge.runs.engines.notices import Notices

# Seconds without any worker, and without one that can run any of the cells, until the driver gives up.
SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_WITHOUT_FITTING = 30.0
# Seconds between two looks at the list of workers, where it is empty, and until a scheduler that does not
# answer is given up.
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_UNTIL_A_WORKER = 0.05
SECONDS_OF_SILENCE = 60.0
AGAIN = "finished results are stored: run the same command again to go on"


class WorkerList:
    """The workers of a cluster, as the driver last saw them.

    Args:
        cluster: the cluster.
        timeout: restart a worker whose cell takes longer, in seconds; None for never.
        notices: what is told the user.
    """

    def __init__(self, cluster: Cluster, timeout: float | None, notices: Notices) -> None:
        self.cluster, self._timeout, self._notices = cluster, timeout, notices
        self._workers: dict[str, Worker] = {}
        self._abandoned: set[str] = set()
        self._looked, self._idle_since = 0.0, time.monotonic()

    def __iter__(self) -> Iterator[Worker]:
        return iter(self._workers.values())

    def __len__(self) -> int:
        return len(self._workers)

    def running(self) -> list[Started]:
        """Return the cells that are on workers."""
        return [worker.running for worker in self if worker.running is not None]

    def idle(self) -> list[Worker]:
        """Return the workers that wait for a cell."""
        return [worker for worker in self if worker.running is None and not worker.busy_elsewhere]

    def look(self) -> Iterator[tuple[Started, str]]:
        """Look at the list of workers now and then; yield the cells of those that are gone or take too long.

        With each cell comes what its worker did, or nothing if it died.
        """
        now = time.monotonic()
        if self._workers and now - self._looked < SECONDS_BETWEEN_LOOKS:
            return
        self._looked = now
        listed = self._listed()
        self._abandoned &= set(listed)
        for address in set(self._workers) - set(listed):
            worker = self._workers.pop(address)
            if worker.running is not None:
                yield worker.running, ""
        for address, card in listed.items():
            executes = bool(card.get("metrics", {}).get("executing", 0))
            if address in self._workers:
                self._workers[address].busy_elsewhere &= executes
            elif address not in self._abandoned and card.get("status") in (None, "running"):
                gpu = float(card.get("resources", {}).get("GPU", 0)) > 0
                self._workers[address] = Worker(address, gpu, executes)
        self.see_queues()
        if self._timeout is None:
            return
        for started in self.running():
            if started.begun and now - started.since > self._timeout:
                self._restart(started.worker)
                yield started, f"it took longer than {self._timeout:g} s"

    def see_queues(self) -> None:
        """Find out what other drivers have given to the workers, and which cells of ours have begun.

        A cell that waits behind another driver's is not to blame for the death of its worker, and its time
        does not run.
        """
        if self.cluster.own:
            return
        given = self._asked("processing", workers=list(self._workers))
        for worker in self:
            keys = list(given.get(worker.address, ()))
            started = worker.running
            mine = None if started is None else started.future.key
            worker.has_queue = any(key != mine for key in keys)
            # One that has just been sent is not among them yet.
            if started is not None and not started.begun and keys and keys[0] == mine:
                started.begun, started.since = True, time.monotonic()

    def _listed(self) -> dict[str, dict[str, Any]]:
        """Return the workers by address."""
        # The scheduler names a few workers only, unless asked for all.
        return dict(self._asked("identity", n_workers=-1)["workers"])

    def _asked(self, question: str, **options: Any) -> Any:
        """Ask the scheduler; an InputError if it does not answer."""
        client = self.cluster.client
        try:
            if client.status not in ("running", "newly-created"):
                raise OSError(client.status)
            asked = getattr(client.scheduler, question)
            return client.sync(asked, callback_timeout=SECONDS_OF_SILENCE, **options)
        except (TimeoutError, OSError, TypeError, AttributeError):
            raise self.lost_scheduler() from None

    def lost_scheduler(self) -> InputError:
        """Return the error that says that the scheduler is lost."""
        return InputError(f"the scheduler at {self.cluster.address} is lost; {AGAIN}")

    def _restart(self, worker: Worker) -> None:
        """Restart a worker that takes too long; it comes back under a new address."""
        self._workers.pop(worker.address, None)
        self._abandoned.add(worker.address)
        self.restart([worker.address])

    def restart(self, addresses: list[str]) -> None:
        """Restart workers, without waiting for them."""
        client = self.cluster.client

        def restart() -> None:
            # A worker without a nanny cannot be restarted.
            with suppress(Exception):
                client.restart_workers(addresses, timeout=30, raise_for_error=False)

        threading.Thread(target=restart, daemon=True).start()

    def check_progress(self, waiting: Sequence[Waiting], refusals: Iterable[str]) -> None:
        """Raise an InputError if cells wait, and no worker has been able to run any of them for long."""
        now = time.monotonic()
        others = any(worker.busy_elsewhere for worker in self)
        if others and waiting and not self.running():
            self._notices.once("all workers are busy with other work: waiting for them")
        if not waiting or self.running() or others:
            self._idle_since = now
            return
        waited = now - self._idle_since
        address = self.cluster.address
        if not self._workers and waited > SECONDS_WITHOUT_WORKERS:
            raise InputError(
                f"the scheduler at {address} has had no worker for {SECONDS_WITHOUT_WORKERS:.0f} s: start"
                f" some with 'trueedge worker {address}'; {AGAIN}"
            )
        if self._workers and waited > SECONDS_WITHOUT_FITTING:
            for refusal in refusals:
                raise InputError(f"no worker can run the rest: {refusal}; {AGAIN}")
            raise InputError(
                f"none of the workers at {address} has a GPU: start one with 'trueedge worker {address}"
                f" --gpus 0', or leave out --device; {AGAIN}"
            )
