"""Shards of hard negatives on a cluster: each is a task of the engine, in a folder that all share."""

from __future__ import annotations

import os
import queue
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.negatives.heart import Request
from trueedge.negatives.heart_shards import ShardWork
from trueedge.negatives.sharded import ShardedNegatives
from trueedge.progress import Steps
from trueedge.runs.engines.cluster import Cluster
from trueedge.runs.engines.mapped_objects import load_mapped, save_mapped
from trueedge.version import VERSION

# A shard is started so often: its worker may die for reasons of its own.
STARTS = 3
SECONDS_WITHOUT_WORKERS = 60.0
SECONDS_BETWEEN_LOOKS = 0.5
AGAIN = "finished shards are kept: run the same command again to go on"


class ShardsOnDask:
    """Makes the shards of a folder on a cluster, as the ``work`` of ``trueedge.negatives.heart_shards``.

    No lock is needed: a shard is written under a name that no other process has, and renamed. If two workers
    make the same shard, they write the same bytes.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        scheduler_file: Path | None = None,
        jobs: int = 1,
        notice: Callable[[str], object] | None = None,
    ) -> None:
        self._where = (scheduler, scheduler_file, jobs, notice or (lambda _: None))

    def __call__(self, negatives: ShardedNegatives, asked: Request, progress: Steps | None) -> None:
        """Make all shards that are missing or damaged."""
        done = ShardWork(negatives, asked, progress)
        left = [shard for shard in range(negatives.num_shards) if not done.is_good(shard)]
        done.count(set(range(negatives.num_shards)) - set(left))
        if not left:
            return
        folder = negatives.folder.resolve()
        data = folder / f".request-{secrets.token_hex(6)}"
        save_mapped(asked, data)
        cluster = Cluster(*self._where)
        try:
            cluster.need_workers(len(left))
            self._run(cluster, folder, data, left, done)
        finally:
            cluster.close()
            data.unlink(missing_ok=True)
        # Left by workers and drivers that were killed.
        for path in (*folder.glob(".shard-*.draft"), *folder.glob(".request-*")):
            path.unlink(missing_ok=True)

    def _run(self, cluster: Cluster, folder: Path, data: Path, left: list[int], done: ShardWork) -> None:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        running: dict[Any, int] = {}
        starts: dict[int, int] = {}
        idle_since = time.monotonic()
        while left or running:
            workers = _workers(cluster)
            idle_since = time.monotonic() if workers else idle_since
            if time.monotonic() - idle_since > SECONDS_WITHOUT_WORKERS:
                raise InputError(
                    f"the scheduler at {cluster.address} has had no worker for"
                    f" {SECONDS_WITHOUT_WORKERS:.0f} s; {AGAIN}"
                )
            while left and len(running) < workers:
                shard = left.pop(0)
                starts[shard] = starts.get(shard, 0) + 1
                given = (str(folder), str(data), shard, VERSION)
                future = cluster.client.submit(make_shard, *given, pure=False)
                running[future] = shard
                future.add_done_callback(ended.put)
            with suppress(queue.Empty):
                ended.get(timeout=SECONDS_BETWEEN_LOOKS)
            for future in [one for one in running if one.done()]:
                shard = running.pop(future)
                try:
                    refused = future.result(timeout=SECONDS_WITHOUT_WORKERS)
                except (KilledWorker, TimeoutError, CancelledError, OSError, RuntimeError) as error:
                    refusal = cluster.refusal(error)
                    if refusal is not None:
                        raise InputError(f"{refusal}; {AGAIN}") from None
                    refused = ""
                # The file may be there all the same: another driver may have made it.
                if done.is_good(shard):
                    done.count({shard})
                elif refused:
                    raise InputError(f"{refused}; {AGAIN}")
                elif starts[shard] < STARTS:
                    left.append(shard)
                else:
                    raise InputError(
                        f"shard {shard} of {folder} was not written in {STARTS} starts: do all workers share"
                        " that folder, and have enough memory?"
                    )


def _workers(cluster: Cluster) -> int:
    client = cluster.client
    try:
        if client.status != "running":
            raise OSError(client.status)
        found = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=SECONDS_WITHOUT_WORKERS)
    except (TimeoutError, OSError, TypeError, AttributeError):
        raise InputError(f"the scheduler at {cluster.address} is lost; {AGAIN}") from None
    return len(found["workers"])


# The request that this worker has read last, and what it computes shards with.
_WORK: dict[tuple[str, str], ShardWork] = {}


def make_shard(folder: str, data: str, shard: int, version: str) -> str:
    """Write a shard, on a worker; return why that is not possible, or nothing."""
    here = f"the worker on {socket.gethostname()}"
    if version != VERSION:
        return f"{here} has trueedge {VERSION}, and the driver {version}"
    try:
        if (folder, data) not in _WORK:
            _WORK.clear()
            _WORK[folder, data] = ShardWork(ShardedNegatives.at(folder), load_mapped(Path(data)), None)
    except InputError as error:
        return f"{here} does not share the folder of the shards: {error}"
    work = _WORK[folder, data]
    if not work.is_good(shard):
        path = work.negatives.path(shard)
        own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        draft = path.with_name(f".{path.name}.{own}.draft")
        try:
            work.write(shard, draft)
            os.replace(draft, path)
        except FileNotFoundError:
            # Another driver has finished, and removed what it had no more use for.
            if not work.is_good(shard):
                return f"{here} no longer sees the folder of the shards"
        except OSError as error:
            return f"{here} cannot write shard {shard} to {folder}: {error.strerror or error}"
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
    return ""
