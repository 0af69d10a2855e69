"""Worker processes that wait for cells of a scheduler: ``trueedge worker``."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from pathlib import Path
from urllib.parse import urlsplit

from trueedge.errors import InputError
from trueedge.runs.engines.cluster import OWN, address_in, available_cores, checked_address, need_dask, quiet
from trueedge.runs.processes import THREADS

LOOPBACK = "127.0.0.1"
GPU_VARIABLE = "CUDA_VISIBLE_DEVICES"
# Seconds until a worker whose scheduler does not answer ends.
SECONDS_TO_CONNECT = 60


def serve(
    scheduler: str,
    gpus: Sequence[str] = (),
    processes: int = 1,
    threads: int | None = None,
    host: str | None = None,
    notice: Callable[[str], object] = print,
) -> int:
    """Run workers until the scheduler ends or a signal comes; return the status.

    Args:
        scheduler: the address of the scheduler, or the path of a scheduler file.
        gpus: the GPUs, by number or name: one process for each.
        processes: the number of processes, without GPUs.
        threads: threads of each process; by default the cores are divided among the processes.
        host: the address that other machines reach this one by.
        notice: called with a sentence on what happens.
    """
    need_dask()
    path = Path(scheduler)
    is_path = path.is_file() or path.suffix == ".json" or (os.sep in scheduler and "://" not in scheduler)
    address = checked_address(address_in(path) if is_path else scheduler)
    count = len(gpus) or processes
    each = threads or max(1, available_cores() // count)
    if count > 1:
        return _several(address, list(gpus) or [""] * count, each, host)
    os.environ.update(environment(each, gpus[0] if gpus else None))
    quiet()
    place = host or _own_address(address)
    notice(f"worker for {address} at {place}, {each} threads{f', GPU {gpus[0]}' if gpus else ''}")
    return asyncio.run(_serve(address, place, bool(gpus), notice))


def environment(threads: int, gpu: str | None) -> dict[str, str]:
    """Return the variables of a worker: threads of every library, since Dask sets only some, and the GPU."""
    found = dict.fromkeys(THREADS, str(threads))
    return found if gpu is None else {**found, GPU_VARIABLE: gpu}


def named_gpus(text: str) -> list[str]:
    """Return the GPUs of a comma-separated list; ``all`` are those that this process may use."""
    listed = text
    if text.strip() == "all":
        # Kubernetes shows a container its GPUs, numbered anew, and does not set the variable.
        listed = os.environ.get(GPU_VARIABLE, ",".join(map(str, range(_gpu_files()))))
    found = [one.strip() for one in listed.split(",") if one.strip()]
    if not found:
        raise InputError(
            f"--gpus {text}: {GPU_VARIABLE} names none and none is found: name the GPUs: --gpus 0,1"
        )
    if len(set(found)) != len(found):
        raise InputError(f"--gpus {text} names a GPU twice")
    return found


def _gpu_files() -> int:
    return len(
        [path for path in Path("/dev").glob("nvidia*") if path.name.removeprefix("nvidia").isdecimal()]
    )


def _several(address: str, gpus: Sequence[str], threads: int, host: str | None) -> int:
    """Start a process for each worker, and wait for all."""
    command = [sys.executable, "-m", "trueedge", "worker", address, "--threads", str(threads)]
    command += [] if host is None else ["--host", host]
    started: list[subprocess.Popen[bytes]] = []
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        asked.append(number)
        for one in started:
            with suppress(OSError):
                one.send_signal(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    for gpu in gpus:
        if not asked:
            started.append(subprocess.Popen([*command, *(["--gpus", gpu] if gpu else [])]))
    if asked:
        # It came while they were started.
        end(asked[0], None)
    return max((one.wait() for one in started), default=0)


async def _serve(address: str, host: str, has_gpu: bool, notice: Callable[[str], object]) -> int:
    import dask.config
    from distributed import Nanny

    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    _take_ctrl_c(asyncio.get_running_loop(), stopped)
    with dask.config.set(OWN):
        nanny = Nanny(
            address,
            nthreads=1,
            memory_limit=0,
            host=host,
            resources={"GPU": 1} if has_gpu else None,
            death_timeout=SECONDS_TO_CONNECT,
            silence_logs=logging.CRITICAL,
        )
        try:
            await nanny
        except (OSError, TimeoutError, RuntimeError) as error:
            notice(f"no scheduler answers at {address}: {next(iter(str(error).splitlines()), '')}")
            return 1
        ends = [asyncio.ensure_future(one) for one in (nanny.finished(), stopped.wait())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        asked = stopped.is_set()
        for one in ends:
            one.cancel()
        with suppress(Exception):
            await nanny.close(timeout=5)
    notice("stopped" if asked else f"the scheduler at {address} has ended")
    return 0


def _take_ctrl_c(loop: asyncio.AbstractEventLoop, stopped: asyncio.Event) -> None:
    """Set an event at Ctrl-C, which reaches all processes of a terminal; the worker leaves it to us."""

    def wait() -> None:
        signal.sigwait({signal.SIGINT})
        # The loop may have ended.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(stopped.set)

    # Python unblocks Ctrl-C where it starts this for the first process.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=wait, daemon=True).start()


def _own_address(scheduler: str) -> str:
    """Return the address of this machine on the way to the scheduler; nothing else is listened to."""
    from distributed.utils import get_ip

    there = urlsplit(scheduler)
    name = there.hostname or LOOPBACK
    if name in ("localhost", "::1") or name.startswith("127."):
        return LOOPBACK
    try:
        return str(get_ip(name, there.port or 8786))
    except OSError as error:
        raise InputError(f"no way leads to the scheduler at {scheduler}: {error.strerror or error}") from None
