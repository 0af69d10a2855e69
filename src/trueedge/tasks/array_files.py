"""Arrays from anybody's .npy and .npz files: nothing is set aside that a file only claims to hold."""

from __future__ import annotations

import io
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from trueedge.datasets.pickles import distrust
from trueedge.datasets.room import memory
from trueedge.errors import InputError
from trueedge.graph.text import shown

NPY, ZIP = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")
# numpy's own bound for the text of a head, and the magic, the version and the length before it.
LONGEST_HEAD = 10_000 + 12
# Version 3 differs from version 2 in the names of fields alone, which plain numbers do not have.
HEADS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
    (3, 0): npy.read_array_header_2_0,
}
CHUNK = 2**24
MOST_NAMES = 8
ENCRYPTED = 1  # the first flag of a zip archive's member


def regular_file(path: Path) -> Path:
    """The path of a file that can be read from begin to end; a pipe would be waited for without end.

    Args:
        path: where it lies; a link is followed.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{str(path)!r} cannot be read: {reason}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is a pipe or a device: a regular file is needed")
    return path


def read_array(path: Path) -> NDArray[Any]:
    """The array of a .npy file.

    Args:
        path: the file; one that does not hold what its head says is refused before anything is allocated.
    """
    with distrust(str(path)), regular_file(path).open("rb") as stream:
        start = stream.read(len(NPY))
        if start != NPY:
            other = ": it is an archive, as .npz files are" if start[:4] in ZIP else ""
            raise InputError(f"{path} is no .npy file of numbers{other}")
        stream.seek(0)
        return _array(stream, os.fstat(stream.fileno()).st_size, str(path), whole=False)


def read_archive(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file by their names.

    Args:
        path: the file; a member that unpacks to more than its head says, or than memory holds, is refused.
    """
    with distrust(str(path)), regular_file(path).open("rb") as stream:
        if stream.read(4) not in ZIP:
            raise InputError(f"{path} is no .npz file of numbers")
        try:
            return _members(stream, path)
        except (InputError, OSError):
            raise
        except Exception as error:  # among them zlib's; their words can hold half of the file
            reason = shown(str(error)) if str(error) else type(error).__name__
            raise InputError(f"{path} is a damaged archive: {reason}") from None


def listing(names: Iterable[str]) -> str:
    """The names of arrays for a message, the first few of them, in whatever letters they come."""
    ordered = sorted(names)
    more = f" and {len(ordered) - MOST_NAMES:,} more" if len(ordered) > MOST_NAMES else ""
    return (", ".join(map(_plain, ordered[:MOST_NAMES])) or "nothing") + more


def _plain(name: str) -> str:
    return name if name.isprintable() and len(name) <= 60 else shown(name)


def _members(stream: IO[bytes], path: Path) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(stream) as archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        _fits(sum(member.file_size for member in members), str(path))
        for member in members:
            name = member.filename.removesuffix(".npy")
            what = f"{path}, {_plain(name)}"
            if member.flag_bits & ENCRYPTED:
                raise InputError(f"{what} is encrypted")
            with archive.open(member) as inner:
                found[name] = _array(inner, member.file_size, what, whole=True)
    return found


def _array(stream: IO[bytes], size: int, what: str, whole: bool) -> NDArray[Any]:
    """The array that a stream of so many bytes holds; it must fill all of them where it is the whole."""
    begin = stream.read(LONGEST_HEAD)
    shape, turned, dtype, start = _head(begin, what)
    if dtype.hasobject:
        raise InputError(f"{what} holds Python objects, not numbers")
    if dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise InputError(f"{what} says that it is an array of the shape {shape} and the type {dtype}")
    needed, there = math.prod(shape) * dtype.itemsize, size - start
    if needed > there or (whole and needed != there):
        raise InputError(
            f"{what} is damaged: its head speaks of {needed:,} bytes (the shape {shape}),"
            f" and {there:,} follow"
        )
    _fits(needed, what)
    values = np.empty(needed, np.uint8)
    _fill(values, begin[start : start + needed], stream, what)
    return values.view(dtype).reshape(shape, order="F" if turned else "C")


def _fill(values: NDArray[np.uint8], begin: bytes, stream: IO[bytes], what: str) -> None:
    """Fill bytes with those read already and those that follow; the last one has an archive's sum checked."""
    values[: len(begin)] = np.frombuffer(begin, np.uint8)
    done = len(begin)
    while done < len(values):
        more = stream.read(min(CHUNK, len(values) - done))
        if not more:
            raise InputError(f"{what} is damaged: it ends after {done:,} of {len(values):,} bytes")
        values[done : done + len(more)] = np.frombuffer(more, np.uint8)
        done += len(more)


def _head(data: bytes, what: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether the first index runs fastest, type, and where the values begin."""
    stream = io.BytesIO(data)
    try:
        read = HEADS[npy.read_magic(stream)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, turned, dtype = read(stream)
    except Exception:  # a damaged head makes numpy raise nearly anything, with all of the head in it
        raise InputError(f"{what} is damaged: its head does not describe an array") from None
    return shape, turned, dtype, stream.tell()


def _fits(needed: int, what: str) -> None:
    there = memory()
    if there is not None and needed > there:
        raise InputError(
            f"{what} unpacks to {needed / 1e9:,.0f} GB, and this machine has {there / 1e9:,.0f} GB of memory"
        )
