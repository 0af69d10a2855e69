"""Large objects in a folder that all machines share: each array is mapped into memory, and never copied."""

from __future__ import annotations

import mmap
import os
import pickle
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trueedge.errors import InputError
from trueedge.files.writing import replacing

_MAGIC = b"trueedge mapped object 1\n"
# Arrays begin at multiples of it, as processors like them.
_ALIGNMENT = 64


def save_mapped(thing: Any, path: Path) -> None:
    """Write an object to a file: its pickle without arrays, then the arrays."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    sizes = [len(head), *(view.nbytes for view in views)]
    with replacing(path, "the data for workers") as draft, draft.open("wb") as file:
        file.write(_MAGIC + struct.pack(f"<q{len(sizes)}q", len(sizes), *sizes))
        for content in (memoryview(head), *views):
            file.write(b"\0" * (-file.tell() % _ALIGNMENT))
            file.write(content)
        file.flush()
        os.fsync(file.fileno())


def load_mapped(path: Path) -> Any:
    """Return the object in a file that :func:`save_mapped` wrote; a pickle, so only from your own files."""
    try:
        with path.open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if bytes(mapped[: len(_MAGIC)]) != _MAGIC:
        raise InputError(f"{path} is damaged: it holds no data for workers")
    try:
        head, *buffers = _pieces(mapped)
    except (struct.error, IndexError):
        raise InputError(f"{path} is damaged: it does not have its full length") from None
    return pickle.loads(head, buffers=buffers)


def _pieces(mapped: memoryview) -> Iterator[memoryview]:
    start = len(_MAGIC)
    (count,) = struct.unpack_from("<q", mapped, start)
    sizes = struct.unpack_from(f"<{count}q", mapped, start + 8)
    start += 8 * (count + 1)
    for size in sizes:
        start += -start % _ALIGNMENT
        if start + size > len(mapped):
            raise IndexError
        yield mapped[start : start + size]
        start += size
