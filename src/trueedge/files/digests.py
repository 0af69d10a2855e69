"""Hashes of files, which are read again only if they may have changed."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

# A file that was changed less than so many nanoseconds ago may change again without another time.
SETTLED = 2_000_000_000

_State = tuple[int, int, int, int, int]
_KNOWN: dict[Path, tuple[_State, str]] = {}


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's content; an OSError if it cannot be read.

    A file is read once for each state of its system entry. Its time of change cannot be set back, unlike its
    time of modification, so a copy with an old date is noticed.
    """
    state = file_state(path)
    known = _KNOWN.get(path)
    if known is not None and known[0] == state:
        return known[1]
    now = time.time_ns()
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    _KNOWN.pop(path, None)
    if max(state[3:]) < now - SETTLED and file_state(path) == state:
        _KNOWN[path] = (state, found)
    return found


def file_state(path: str | Path) -> _State:
    """Return what tells whether a file has changed: its place, size and times."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
