"""Read small .npz files of numbers that are stored as numpy writes them, several times as fast as zipfile.

Only archives without anything unusual are read here: members that are neither packed nor encrypted, one after
another without gaps, each with its checksum. Whatever differs in a single byte is left to the general reader
(:mod:`trueedge.files.archives`), which says what is wrong with it.
"""

from __future__ import annotations

import math
import struct
import zlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import NPY, head_of

# A larger file takes longer to read than its directory.
MOST_BYTES = 1 << 22
# The parts of a zip archive, as PKWARE's APPNOTE numbers their fields.
LOCAL = struct.Struct("<4s5H3I2H")
LISTED = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
# In the head of a member written as a stream, its sizes follow as numbers of 64 bits.
LONG, LONG_SIZES = 0xFFFFFFFF, struct.Struct("<2H2Q")
# What a reader must understand: folders, and sizes of 64 bits.
VERSIONS = (20, 45)
PREFIX = len(NPY) + 4


def read_stored(data: bytes) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of an archive by their names, or None if it is not as numpy stores it.

    Args:
        data: the whole file.
    """
    if len(data) < END.size:
        return None
    mark, disk, first, here, count, size, start, comment = END.unpack_from(data, len(data) - END.size)
    whole = start + size + END.size == len(data)
    if mark != b"PK\x05\x06" or disk or first or comment or here != count or not whole:
        return None
    found: dict[str, NDArray[Any]] = {}
    place, member = start, 0
    for _ in range(count):
        listed = _listed(data, place, member)
        if listed is None:
            return None
        name, begin, end, place = listed
        array = _array(data[begin:end])
        if array is None or name in found:
            return None
        found[name] = array
        member = end
    return found if place == start + size and member == start else None


def _listed(data: bytes, place: int, member: int) -> tuple[str, int, int, int] | None:
    """Return a member's name, where its content begins and ends, and where the next line of the list is.

    Args:
        data: the whole file.
        place: where the list names the member.
        member: where its own head must be.
    """
    if place + LISTED.size > len(data):
        return None
    mark, _, version, flags, method, _, _, crc, packed, size, named, extra, said, disk, _, _, offset = (
        LISTED.unpack_from(data, place)
    )
    usual = mark == b"PK\x01\x02" and version in VERSIONS and packed == size
    if not usual or flags or method or extra or said or disk:
        return None
    name = data[place + LISTED.size : place + LISTED.size + named]
    begin = _content(data, member, name, crc, size) if offset == member else None
    if begin is None or not name.endswith(b".npy") or not name.isascii():
        return None
    if zlib.crc32(memoryview(data)[begin : begin + size]) != crc:
        return None
    return name[:-4].decode(), begin, begin + size, place + LISTED.size + named


def _content(data: bytes, member: int, name: bytes, crc: int, size: int) -> int | None:
    """Return where a member's content begins, if its own head says the same as the list."""
    if member + LOCAL.size > len(data):
        return None
    mark, version, flags, method, _, _, own, packed, unpacked, named, extra = LOCAL.unpack_from(data, member)
    place = member + LOCAL.size
    if mark != b"PK\x03\x04" or version not in VERSIONS or flags or method or own != crc:
        return None
    if data[place : place + named] != name:
        return None
    place += named
    if extra == LONG_SIZES.size and packed == unpacked == LONG:
        kind, length, unpacked, packed = LONG_SIZES.unpack_from(data, place)
        if (kind, length) != (1, LONG_SIZES.size - 4):
            return None
    elif extra:
        return None
    begin = place + extra
    return begin if packed == unpacked == size and begin + size <= len(data) else None


def _array(content: bytes) -> NDArray[Any] | None:
    if content[: len(NPY) + 2] != NPY + b"\x01\x00" or len(content) < PREFIX:
        return None
    begin = PREFIX + int.from_bytes(content[PREFIX - 2 : PREFIX], "little")
    described = _described(content[:begin])
    if described is None:
        return None
    shape, dtype = described
    if begin + math.prod(shape) * dtype.itemsize != len(content):
        return None
    # Copied, so that it can be changed and lies where numbers of its type should.
    return np.frombuffer(content, dtype=dtype, offset=begin).reshape(shape).copy()


@lru_cache(maxsize=256)
def _described(head: bytes) -> tuple[tuple[int, ...], np.dtype[Any]] | None:
    """Return the shape and type in the head of a .npy array: most entries of a task have the same."""
    try:
        shape, turned, dtype, start = head_of(head, "")
    except InputError:
        return None
    plain = dtype.kind in "biuf" and min(shape, default=1) > 0
    return (shape, dtype) if plain and not turned and start == len(head) else None
