"""Connections to a cluster of Dask: one that is there, or one of our own on this machine."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.runs.processes import THREADS

SECONDS_TO_CONNECT = 20
# A cluster of our own. The restart of a worker may take long on a busy machine: without the first setting,
# its place would be given up. A task that ends its worker fails at the third time. A cell may hold the
# interpreter's lock for minutes; that a process has died is noticed at once, without heartbeats. Dask's
# profiler, memory manager and monitors take a third of the CPU time of a short cell, and nobody reads them.
OWN = {
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.tick.interval": "1s",
    "distributed.deploy.lost-worker-timeout": "8760h",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.allowed-failures": 2,
    "distributed.scheduler.worker-ttl": None,
    "distributed.scheduler.work-stealing": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
}


class Cluster:
    """A client of a cluster, which is closed together with what was started for it.

    Attributes:
        client: the client of ``dask.distributed``.
        address: the scheduler's address.
        own: whether the cluster was started here.
    """

    def __init__(
        self, scheduler: str | None, scheduler_file: Path | None, jobs: int, notice: Callable[[str], object]
    ) -> None:
        need_dask()
        quiet()
        self._stack = ExitStack()
        if scheduler_file is not None:
            scheduler = address_in(scheduler_file)
        self.own = scheduler is None
        try:
            self.client = self._own(jobs) if scheduler is None else self._connected(scheduler)
        except BaseException:
            self._stack.close()
            raise
        self.address: str = self.client.scheduler.address
        if find_spec("bokeh") is not None and self.client.dashboard_link:
            notice(f"dashboard: {self.client.dashboard_link}")

    def _connected(self, address: str) -> Any:
        from distributed import Client

        try:
            client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False, name="trueedge")
        except (OSError, ValueError, TypeError) as error:
            said = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise InputError(f"no scheduler answers at {address}: {said}") from None
        self._stack.callback(_quietly, client.close)
        return client

    def _own(self, jobs: int) -> Any:
        import dask.config
        from distributed import Client, LocalCluster

        threads = str(max(1, available_cores() // jobs))
        environment = {name: _fewer(os.environ.get(name), threads) for name in THREADS}
        # Dask sets the variables of its workers in this process, too.
        before = dict(os.environ)
        self._stack.callback(_restore, before)
        self._stack.enter_context(
            dask.config.set({**OWN, "distributed.nanny.pre-spawn-environ": environment})
        )
        os.environ.update(environment)
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            host="127.0.0.1",
            scheduler_port=0,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        )
        self._stack.callback(_quietly, cluster.close)
        # Answers come straight from the workers: the scheduler need not unpack them on the way.
        client = Client(cluster, set_as_default=False, name="trueedge", direct_to_workers=True)
        self._stack.callback(_quietly, client.close)
        return client

    def close(self) -> None:
        """Close the client, and the cluster if it is our own."""
        self._stack.close()


def need_dask() -> None:
    """Raise an InputError if Dask is not installed."""
    if find_spec("distributed") is None:
        raise InputError("the engine dask is not installed: pip install 'trueedge[dask]'")


def quiet() -> None:
    """Let Dask log nothing, here and in the processes it starts, unless the user has set its log level."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    if os.environ["DASK_LOGGING__DISTRIBUTED"] == "critical":
        logging.getLogger("distributed").setLevel(logging.CRITICAL)


def address_in(path: Path) -> str:
    """Return the address in a scheduler file."""
    try:
        found = json.loads(path.read_text("utf-8"))["address"]
    except FileNotFoundError:
        raise InputError(
            f"there is no scheduler file {path}: 'dask scheduler --scheduler-file {path}' writes it"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not a scheduler file: {error}") from None
    return str(found)


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _fewer(asked: str | None, threads: str) -> str:
    """Return the smaller number of threads: the user's or ours."""
    if asked is not None and asked.isdecimal() and int(asked):
        return str(min(int(asked), int(threads)))
    return threads


def _restore(before: dict[str, str]) -> None:
    for name in set(os.environ) - set(before):
        del os.environ[name]
    os.environ.update(before)


def _quietly(close: Callable[..., Any]) -> None:
    """Close something that may be gone already."""
    try:
        close(timeout=5)
    except Exception as error:  # what cannot be closed any more is closed
        logging.getLogger(__name__).debug("closing: %s", error)
