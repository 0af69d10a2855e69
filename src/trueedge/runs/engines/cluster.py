"""Connections to a cluster of Dask: one that is there, or one of our own on this machine."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import re
import threading
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.runs.processes import THREADS, undisturbed

SECONDS_TO_CONNECT = 20
# Workers that are still starting are closed after they have.
SECONDS_TO_CLOSE = 30
PROTOCOLS = ("tcp", "tls", "ws", "wss", "ucx", "ucxx")
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
        self._cluster: Any = None
        self._jobs, self._asked = jobs, 0
        if scheduler_file is not None:
            scheduler = address_in(scheduler_file)
        if scheduler is not None:
            scheduler = checked_address(scheduler)
        self.own = scheduler is None
        try:
            self.client = self._own(jobs) if scheduler is None else self._connected(scheduler, notice)
        except BaseException:
            self._stack.close()
            raise
        self.address: str = self.client.scheduler.address
        if find_spec("bokeh") is not None and self.client.dashboard_link:
            notice(f"dashboard: {self.client.dashboard_link}")

    def _connected(self, address: str, notice: Callable[[str], object]) -> Any:
        from distributed import Client

        # A client would wait for ever for something that takes the call and is no scheduler.
        said = _silence(address)
        if said:
            raise InputError(f"no scheduler answers at {address}: {said}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                client = Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False, name="trueedge")
            except (OSError, ValueError, TypeError, ImportError) as error:
                said = _first_line(error)
                raise InputError(f"the scheduler at {address} does not take the driver: {said}") from None
        for one in caught:
            if packages := re.findall(r"^\| (?!Package)(\w+) +\|", str(one.message), re.MULTILINE):
                notice(f"the cluster at {address} has other versions of {', '.join(packages)}")
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
        # Ctrl-C reaches all processes of a terminal: workers leave it to this one, and a cluster that has
        # started by half cannot be closed.
        with undisturbed():
            cluster = LocalCluster(
                n_workers=0,
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
        self._cluster = cluster
        return client

    def need_workers(self, count: int) -> None:
        """Start workers of our own cluster for some cells, up to its number, without waiting for them."""
        wanted = min(count, self._jobs)
        if self._cluster is not None and wanted > self._asked:
            self._asked = wanted
            self._cluster.scale(wanted)

    def refusal(self, error: BaseException) -> InputError | None:
        """Return what to tell the user if the scheduler is lost or cannot read what it is sent, or None."""
        if self.client.status != "running":
            return InputError(f"the scheduler at {self.address} is lost")
        if "deserialization of the task graph" in str(error):
            return InputError(
                f"the scheduler at {self.address} cannot read what it is sent: it needs the same trueedge as"
                " the driver"
            )
        return None

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
        # It sets the level of its client by itself, when it is imported.
        importlib.import_module("distributed")
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


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


def checked_address(text: str) -> str:
    """Return the address of a scheduler, with ``tcp://`` where it names no protocol."""
    found = re.fullmatch(r"(?:(\w+)://)?[^/\s]+:(\d{1,5})/?", text.strip())
    if found is None or (found[1] or "tcp") not in PROTOCOLS or not 0 < int(found[2]) < 1 << 16:
        raise InputError(f"{text} is not the address of a scheduler: it has the form tcp://HOST:8786")
    address = text.strip().rstrip("/")
    return address if found[1] else f"tcp://{address}"


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _silence(address: str) -> str:
    """Return why no scheduler answers at an address, or nothing if one does."""
    found: list[str] = []

    def ask() -> None:
        try:
            asyncio.run(asyncio.wait_for(_identity(address), SECONDS_TO_CONNECT))
        except TimeoutError as error:
            found.append(_first_line(error, f"nothing came in {SECONDS_TO_CONNECT:g} s"))
        except Exception as error:  # whoever listens there may send anything
            found.append(_first_line(error))

    # In a thread, since a notebook has a loop of its own in this one.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(SECONDS_TO_CONNECT + 5)
    return found[0] if found else "it does not end the call" if thread.is_alive() else ""


async def _identity(address: str) -> None:
    from distributed.core import rpc
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=SECONDS_TO_CONNECT, connection_args=arguments) as scheduler:
        found = await scheduler.identity(n_workers=0)
    if found.get("type") != "Scheduler":
        raise ValueError("it is no scheduler")


def _first_line(error: BaseException, otherwise: str = "") -> str:
    return next(iter(str(error).splitlines()), "") or otherwise or type(error).__name__


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
        close(timeout=SECONDS_TO_CLOSE)
    except Exception as error:  # what cannot be closed any more is closed
        logging.getLogger(__name__).debug("closing: %s", error)
