"""Files that are written atomically, each by one process at a time.

A file is written under another name, and locked. The system releases the lock when a process ends, so no
process waits for a dead one, and the next one writes the file again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import map_array

DIGEST = 32
SECONDS_BETWEEN_CHECKS = 0.1


def draft_of(path: Path) -> Path:
    """Return the path of a file while it is being written."""
    return path.with_name(f".{path.name}.part")


@contextmanager
def claimed(path: Path) -> Iterator[BinaryIO | None]:
    """Yield an empty draft for :func:`publish`, or None where another process writes the file or just did.

    Args:
        path: where the file shall be.
    """
    draft = draft_of(path)
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    with os.fdopen(descriptor, "r+b") as file:
        # Another may have published, between our opening and our locking, the very file we hold now.
        if _lock(file) and _is_at(file, draft):
            file.truncate()
            yield file
        else:
            yield None


def publish(file: BinaryIO, path: Path) -> None:
    """Move a draft to its place, once it is safely on the disk.

    Args:
        file: from :func:`claimed`, still open: its lock ends after the file is in its place.
        path: that place.
    """
    file.flush()
    os.fsync(file.fileno())
    os.replace(draft_of(path), path)


def write_once(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file that several processes want: one of them writes it, and all return when it is there.

    Args:
        path: where the file goes.
        write: writes the content into an open file.
    """
    while not path.exists():
        with claimed(path) as file:
            if file is None:
                time.sleep(SECONDS_BETWEEN_CHECKS)
            elif path.exists():
                draft_of(path).unlink()
            else:
                write(file)
                publish(file, path)


def write_rows(file: BinaryIO, rows: NDArray[np.int32], salt: str) -> None:
    """Write a table as a .npy file with a checksum after its end, where readers of .npy do not look.

    Args:
        file: open for writing.
        rows: int32 array (m, d).
        salt: what the checksum depends on beside the rows: whose they are.
    """
    plain = np.ascontiguousarray(rows, dtype="<i4")
    np.lib.format.write_array(file, plain, allow_pickle=False)
    file.write(_digest(plain, salt))


def read_rows(path: Path, shape: tuple[int, int], salt: str | None) -> NDArray[np.int32]:
    """Map a table that :func:`write_rows` wrote into memory, read-only.

    Args:
        path: where it is.
        shape: what it must have.
        salt: what it was written with, to compare the checksum, which reads all of it; None trusts the file.
    """
    rows = map_array(path, str(path))
    if rows.shape != shape or rows.dtype != np.dtype("<i4") or not rows.flags.c_contiguous:
        raise InputError(f"{path} is damaged: it does not hold int32 numbers of shape {shape}")
    end = rows.offset + rows.nbytes
    if path.stat().st_size != end + DIGEST:
        raise InputError(f"{path} is damaged: it does not have its full length")
    if salt is not None:
        with path.open("rb") as file:
            file.seek(end)
            if file.read() != _digest(rows, salt):
                raise InputError(
                    f"{path} is damaged: its content does not have the checksum it was written with"
                )
    return np.asarray(rows)


def _digest(rows: NDArray[np.int32], salt: str) -> bytes:
    digest = hashlib.sha256(salt.encode())
    digest.update(np.asarray(rows).reshape(-1).view(np.uint8).data)
    return digest.digest()


def _lock(file: BinaryIO) -> bool:
    """Lock an open file without waiting; return whether it succeeded."""
    try:
        import fcntl
    except ImportError:
        raise InputError(
            "this system has no file locks: negatives cannot be written in shards here"
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: BinaryIO, path: Path) -> bool:
    """Return whether an open file is the one that has a name now."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
