"""Read and write whole small files with as few calls of the operating system as can be.

A board has thousands of files of a few kilobytes. Python's own files ask the system eight times for each.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

# A pipe is opened without waiting for a writer; regular files are not affected.
READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def read_whole(path: Path, most: int) -> tuple[os.stat_result, bytes | None]:
    """Return what is known of a file, and its content, or None for that of one that is not read.

    Only regular files of at most ``most`` bytes are read. Errors are those of the system.
    """
    place = os.open(path, READING)
    try:
        about = os.fstat(place)
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            return about, None
        content = os.read(place, about.st_size)
        # More is asked for only if a file grew, or is longer than one call reads.
        while len(content) < about.st_size and (more := os.read(place, about.st_size - len(content))):
            content += more
        return about, content
    finally:
        os.close(place)


def write_new(path: str | Path, content: bytes) -> None:
    """Write a file that does not exist yet; errors are those of the system."""
    place = os.open(path, NEW, 0o666)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(place, left) :]
    finally:
        os.close(place)
