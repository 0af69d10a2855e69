"""Take files of scores: streamed to disk, hashed on the way, and durable before they are acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from fastapi.concurrency import run_in_threadpool

from trueedge.leaderboard.server.limits import MIB, Limits
from trueedge.leaderboard.server.places import sync_folder
from trueedge.leaderboard.server.problems import ApiError

DIGEST = re.compile("[0-9a-f]{64}")
DRAFT = ".draft"


async def body_chunks(stream: AsyncIterator[bytes], limits: Limits, most: int) -> AsyncIterator[bytes]:
    """Yield the parts of a body; cut a client that is too slow or sends too much.

    Args:
        stream: the parts as they come.
        limits: the least rate, and the time that every client has.
        most: the largest number of bytes.
    """
    started, received = time.monotonic(), 0
    parts = stream.__aiter__()
    while True:
        left = limits.grace_seconds + received / limits.least_rate - (time.monotonic() - started)
        try:
            part = await asyncio.wait_for(parts.__anext__(), max(0.001, left))
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ApiError(
                408, f"the body came too slowly: {limits.least_rate / 1024:.0f} KiB/s are needed"
            ) from None
        received += len(part)
        if received > most:
            raise ApiError(413, too_large(most))
        yield part


async def read_small(stream: AsyncIterator[bytes], limits: Limits, most: int) -> bytes:
    """Return a small body whole."""
    return b"".join([part async for part in body_chunks(stream, limits, most)])


def too_large(most: int) -> str:
    """Return the sentence for a body that is too large."""
    size = f"{most // MIB} MiB" if most >= MIB else f"{most:,} bytes"
    return f"the body is too large: {size} are allowed"


def check_length(header: str | None, most: int) -> None:
    """Refuse a body by the length that it announces, before any of it is read."""
    if header is None:
        return
    if not re.fullmatch("[0-9]{1,18}", header, re.ASCII):
        raise ApiError(400, "the header Content-Length is not a number")
    if int(header) > most:
        raise ApiError(413, too_large(most))


async def save_upload(
    stream: AsyncIterator[bytes], target: Path, limits: Limits, submitted: frozenset[str] = frozenset()
) -> int:
    """Write a body to a file that is named by its SHA-256; return its size.

    The file and its name are on the disk when this returns; a body with another hash leaves nothing behind.

    Args:
        stream: the body.
        target: where it goes: its name is the SHA-256 that the body must have.
        limits: sizes and times.
        submitted: the hashes of the team's files that do not wait for a submission.
    """
    await run_in_threadpool(_make_room, target.parent, limits, submitted)
    draft = target.with_name(f"{secrets.token_hex(16)}{DRAFT}")
    hashed, size = hashlib.sha256(), 0
    try:
        with draft.open("wb") as file:
            async for part in body_chunks(stream, limits, limits.file_bytes):
                hashed.update(part)
                file.write(part)
                size += len(part)
            if not size:
                raise ApiError(422, "the body is empty: send the file of scores")
            if hashed.hexdigest() != target.name:
                raise ApiError(
                    422, f"the body has the SHA-256 {hashed.hexdigest()}, not the one in the address"
                )
            file.flush()
            await run_in_threadpool(os.fsync, file.fileno())
        os.replace(draft, target)
        await run_in_threadpool(sync_folder, target.parent)
    finally:
        with suppress(OSError):
            draft.unlink()
    return size


def _make_room(inbox: Path, limits: Limits, submitted: frozenset[str]) -> None:
    """Make the inbox of a team; refuse more files than it may have waiting."""
    if not inbox.exists():
        inbox.mkdir(parents=True, exist_ok=True)
        sync_folder(inbox.parent)
    count = size = 0
    for one in os.scandir(inbox):
        with suppress(OSError):
            if one.name not in submitted:
                count, size = count + 1, size + one.stat().st_size
    if count >= limits.waiting_files or size > limits.waiting_bytes:
        raise ApiError(
            429,
            f"{count} uploaded files are waiting to be submitted: submit them first",
            {"Retry-After": "3600"},
        )


def remove_old(inbox: Path, submitted: frozenset[str], keep_seconds: float) -> int:
    """Remove files that were uploaded long ago and never submitted; return how many.

    Args:
        inbox: the folder with an inbox for each team.
        submitted: the hashes of files that submissions need.
        keep_seconds: how long a file may wait.
    """
    removed = 0
    for one in inbox.glob("*/*"):
        with suppress(OSError):
            if one.name not in submitted and time.time() - one.stat().st_mtime > keep_seconds:
                one.unlink()
                removed += 1
    return removed
