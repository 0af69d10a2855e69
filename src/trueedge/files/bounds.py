"""How much memory a file may ask for, checked before anything is allocated."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING

from trueedge.errors import InputError
from trueedge.files.memory import as_size, free_memory

if TYPE_CHECKING:
    from zipfile import ZipInfo

# Text and numbers pack to a tenth, rarely to a hundredth. Only zeros reach deflate's own limit of 258 bytes
# for two bits: a file near it is a bomb, unless it is small enough for any machine.
MOST_TIMES = 1000
DEFLATE_TIMES = 1032
SMALL = 1 << 30
# Text of distinct lines packs to a tenth at most, and only lines that repeat each other pack further.
MOST_TIMES_TEXT = 100
SMALL_TEXT = 1 << 28
# Deflate copies what came before: a line that did not takes at least a code of its own. Lists of distinct
# edges have half a line to a byte at most.
MOST_LINES_PER_BYTE = 8
FEW_LINES = 1 << 22
SHORTEST_LINE = len("0 1\n")
# What any machine has.
LITTLE_MEMORY = 1 << 26
# Unpacks to 8.5 MB at most.
PIECE = 1 << 13
# The methods of zip archives: none, and deflate. Of others Python unpacks all that it has read, however
# little is asked for; neither numpy nor torch writes them.
DEFLATED = (0, 8)
GZIP = 16 + zlib.MAX_WBITS  # zlib's code for data with a gzip header and checksum


def check_memory(needed: int, what: str) -> None:
    """Refuse what needs more memory than is free."""
    there = free_memory() if needed > LITTLE_MEMORY else None
    if there is not None and needed > there:
        raise InputError(f"{what} needs {as_size(needed)} of memory, but {as_size(there)} are free")


def check_lines(data: bytes, packed: int | None, bytes_a_line: int, what: str) -> None:
    """Refuse a text that has more lines than edges can have, or than memory can hold.

    Args:
        data: the text.
        packed: the number of bytes it was unpacked from; None for a plain file.
        bytes_a_line: the memory that a line takes while the text is read.
        what: what it is, for errors.
    """
    most = len(data) if packed is None else max(FEW_LINES, MOST_LINES_PER_BYTE * packed)
    there = free_memory() if len(data) // SHORTEST_LINE * bytes_a_line > LITTLE_MEMORY else None
    # Counting takes a tenth of the time of reading: it is left out where lines cannot be too many.
    if len(data) <= most and (there is None or len(data) // SHORTEST_LINE * bytes_a_line <= there):
        return
    lines = data.count(b"\n")
    if lines > most:
        raise InputError(
            f"{what} unpacks to {lines:,} lines, from {packed:,} bytes: nearly all of them repeat others;"
            " unpack it first if that is meant"
        )
    check_memory(lines * bytes_a_line, f"{what}, with {lines:,} lines,")


def check_archive(members: Iterable[ZipInfo], size: int, what: str) -> None:
    """Refuse a zip archive whose members unpack to more than they plausibly can."""
    listed = list(members)
    for one in listed:
        if one.compress_type not in DEFLATED:
            raise InputError(f"{what} is an archive with another compression than deflate")
    packed, unpacked = (sum(getattr(one, key) for one in listed) for key in ("compress_size", "file_size"))
    if packed > size:
        raise InputError(
            f"{what} is a damaged archive: its members have {packed:,} bytes, but the whole has {size:,}"
        )
    if unpacked > _most_unpacked(packed):
        raise _bomb(packed, _most_unpacked(packed), what)


def gunzip(data: bytes, what: str) -> bytes:
    """Return the text that gzip data unpacks to; damaged data raise an error of zlib or an EOFError."""
    most = max(SMALL_TEXT, MOST_TIMES_TEXT * len(data))
    if most == SMALL_TEXT:
        # Cheap for so few bytes, and of a bomb nothing is kept.
        _check_unpacked(io.BytesIO(data), len(data), most, what)
    there = free_memory() if DEFLATE_TIMES * len(data) > LITTLE_MEMORY else None
    # The pieces and the whole must fit beside each other.
    fitting = most if there is None else min(most, there // 3)
    # Nearly all files are one member, which takes the least time as one piece.
    member = zlib.decompressobj(wbits=GZIP)
    found = [member.decompress(data, fitting + 1)]
    if not member.eof and len(found[0]) <= fitting:
        raise _cut()
    total = 0
    for piece in chain(found.copy(), _gunzipped(io.BytesIO(member.unused_data))):
        total += len(piece)
        if total > most:
            raise _bomb(len(data), most, what)
        if total > fitting and there is not None:
            raise InputError(
                f"{what} unpacks to more than {as_size(fitting)}, but {as_size(there)} of memory are free"
            )
        found.append(piece)
    return b"".join(found[1:])


def check_gzip(stream: IO[bytes], size: int, what: str) -> None:
    """Refuse gzip data that unpacks to more than honest data would, without keeping what it unpacks to.

    Deflate has a largest ratio, so most of it need not be unpacked: a thirtieth of a usual file, and nothing
    of one below a megabyte.
    """
    _check_unpacked(stream, size, _most_unpacked(size), what)


def _check_unpacked(stream: IO[bytes], size: int, most: int, what: str) -> None:
    unpacked, pieces = 0, _gunzipped(stream)
    # Up to a piece was taken from the stream and is not unpacked yet.
    while unpacked + DEFLATE_TIMES * (size - stream.tell() + PIECE) > most:
        piece = next(pieces, None)
        if piece is None:
            return
        unpacked += len(piece)
        if unpacked > most:
            raise _bomb(size, most, what)


def _gunzipped(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield the members of gzip data one after the other, piece by piece."""
    member, rest = None, b""
    while packed := rest or stream.read(PIECE):
        rest = b""
        if member is None:
            # Zeros after a member fill up the last block of a tape.
            packed = packed.lstrip(b"\0")
            if not packed:
                continue
            member = zlib.decompressobj(wbits=GZIP)
        yield member.decompress(packed)
        if member.eof:
            rest, member = member.unused_data, None
    if member is not None:
        raise _cut()


def _most_unpacked(packed: int) -> int:
    return max(SMALL, MOST_TIMES * packed)


def _cut() -> EOFError:
    return EOFError("it is truncated")


def _bomb(packed: int, most: int, what: str) -> InputError:
    return InputError(
        f"{what} unpacks to more than {most:,} bytes, from {packed:,}: that is more than any plausible file"
    )
