"""Arrays from untrusted .npy files: memory is only allocated for what a file really holds."""

from __future__ import annotations

import io
import math
import os
import stat
import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.bounds import check_memory

NPY, ZIP = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")
# numpy's own bound for the text of a head, and the magic, the version and the length before it.
LONGEST_HEAD = 10_000 + 12
# Version 3 differs from version 2 in the names of fields alone, which plain numbers do not have.
HEADS = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
    (3, 0): npy.read_array_header_2_0,
}
# No numpy array has more, and the product of a thousand sides has too many digits for a message.
MOST_SIDES, LONGEST_SIDE = 64, 2**63 - 1
CHUNK = 2**22


def read_array(path: Path, what: str | None = None) -> NDArray[Any]:
    """Read the array of a .npy file; refuse a file that does not hold what its header says."""
    place, what = regular_file(path, what), what or str(path)
    try:
        with place.open("rb") as stream:
            start = stream.read(len(NPY))
            if start != NPY:
                other = ": it is an archive, as .npz files are" if start[:4] in ZIP else ""
                raise InputError(f"{what} is not a .npy file of numbers{other}")
            stream.seek(0)
            return array_in(stream, os.fstat(stream.fileno()).st_size, what)
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}") from None


def map_array(path: Path, what: str | None = None) -> np.memmap[Any, Any]:
    """Map the array of a .npy file into memory, read-only; refuse a file shorter than its header says."""
    place, what = regular_file(path, what), what or str(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return npy.open_memmap(place, mode="r")
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}") from None
    except Exception:  # numpy parses the head as Python text: a damaged one fails, or warns, in many ways
        raise InputError(f"{what} is damaged: it is not a whole .npy file of numbers") from None


def regular_file(path: Path, what: str | None = None) -> Path:
    """Return the path of a regular file; refuse a pipe, which might never end."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{what or path}: there is no such file") from None
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{what or repr(str(path))} cannot be read: {reason}") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{what or path} is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise InputError(f"{what or path} is a pipe or a device: a regular file is needed")
    return path


def array_in(stream: IO[bytes], size: int, what: str, whole: bool = False) -> NDArray[Any]:
    """Read an array in .npy format from a stream of ``size`` bytes; ``whole`` refuses anything after it."""
    begin = stream.read(LONGEST_HEAD)
    shape, turned, dtype, start = head_of(begin, what)
    if dtype.hasobject:
        raise InputError(f"{what} holds Python objects, not numbers")
    if dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise InputError(f"{what} claims to be an array of the shape {shape} and the type {dtype}")
    needed, there = math.prod(shape) * dtype.itemsize, size - start
    if needed > there or (whole and needed != there):
        raise InputError(
            f"{what} is damaged: its head announces {needed:,} bytes (the shape {shape}),"
            f" but {there:,} follow"
        )
    check_memory(needed, what)
    try:
        values = np.empty(needed, np.uint8)
    except MemoryError:
        raise InputError(f"{what} needs {needed:,} bytes of memory, which are not free") from None
    _fill(values, begin[start : start + needed], stream, what)
    try:
        return values.view(dtype).reshape(shape, order="F" if turned else "C")
    except (ValueError, TypeError):  # a side that is too long for numpy, beside one of length 0
        raise InputError(f"{what} claims to be an array of the shape {shape} and the type {dtype}") from None


def _fill(values: NDArray[np.uint8], begin: bytes, stream: IO[bytes], what: str) -> None:
    """Fill an array with the bytes read already and all that follow; the last one checks an archive's sum."""
    values[: len(begin)] = np.frombuffer(begin, np.uint8)
    room, done = values.data, len(begin)
    while done < len(values):
        # Streams of files and of archives have it, though the type of both does not say so.
        more = stream.readinto(room[done : done + CHUNK])  # type: ignore[attr-defined]
        if not more:
            raise InputError(f"{what} is damaged: it ends after {done:,} of {len(values):,} bytes")
        done += more


def head_of(data: bytes, what: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return the shape, whether the first index runs fastest, the type, and where the values begin."""
    stream = io.BytesIO(data)
    try:
        read = HEADS[npy.read_magic(stream)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, turned, dtype = read(stream)
        if len(shape) > MOST_SIDES or max(shape, default=0) > LONGEST_SIDE:
            raise ValueError
    except Exception:  # a damaged head makes numpy raise nearly anything, with all of the head in it
        raise InputError(f"{what} is damaged: its head does not describe an array") from None
    return shape, turned, dtype, stream.tell()


def refuse_masked(values: object, what: str) -> None:
    """Refuse masked values: numpy would hand out what lies under the mask."""
    rows = values if isinstance(values, (list, tuple)) else (values,)
    masks = [np.ma.getmaskarray(row) for row in rows if isinstance(row, np.ma.MaskedArray)]
    count = sum(int(np.count_nonzero(mask)) for mask in masks)
    if count:
        raise InputError(
            f"{what}: {count} value{' is' if count == 1 else 's are'} masked; fill them in first"
        )
