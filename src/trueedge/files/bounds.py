"""How much memory a file may ask for, checked before anything is allocated."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING

from trueedge.errors import InputError

if TYPE_CHECKING:
    from zipfile import ZipInfo

# Text and numbers pack to a tenth, rarely to a hundredth. Only zeros reach deflate's own limit of 258 bytes
# for two bits: a file near it is a bomb, unless it is small enough for any machine.
MOST_TIMES = 1000
DEFLATE_TIMES = 1032
SMALL = 1 << 30
# Unpacks to 8.5 MB at most.
PIECE = 1 << 13
# The methods of zip archives: none, and deflate. Of others Python unpacks all that it has read, however
# little is asked for; neither numpy nor torch writes them.
DEFLATED = (0, 8)
GZIP = 16 + zlib.MAX_WBITS  # zlib's code for data with a gzip header and checksum


def memory() -> int | None:
    """Return the bytes of memory this machine has, or None where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def check_memory(needed: int, what: str) -> None:
    """Refuse what needs more memory than the machine has."""
    there = memory()
    if there is not None and needed > there:
        raise InputError(
            f"{what} unpacks to {needed / 1e9:,.0f} GB, but this machine has {there / 1e9:,.0f} GB of memory"
        )


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
        raise _bomb(packed, what)


def gunzip(data: bytes, what: str) -> bytes:
    """Return what gzip data unpacks to; damaged data raise an error of zlib or an EOFError."""
    check_gzip(io.BytesIO(data), len(data), what)
    # Nearly all files are one member, which takes the least time as one piece.
    member = zlib.decompressobj(wbits=GZIP)
    first = member.decompress(data)
    if not member.eof:
        raise _cut()
    return b"".join([first, *_gunzipped(io.BytesIO(member.unused_data))])


def check_gzip(stream: IO[bytes], size: int, what: str) -> None:
    """Refuse gzip data that unpacks to more than honest data would, without keeping what it unpacks to.

    Deflate has a largest ratio, so most of it need not be unpacked: a thirtieth of a usual file, and nothing
    of one below a megabyte.
    """
    most = _most_unpacked(size)
    unpacked, pieces = 0, _gunzipped(stream)
    # Up to a piece was taken from the stream and is not unpacked yet.
    while unpacked + DEFLATE_TIMES * (size - stream.tell() + PIECE) > most:
        piece = next(pieces, None)
        if piece is None:
            return
        unpacked += len(piece)
        if unpacked > most:
            raise _bomb(size, what)


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


def _bomb(packed: int, what: str) -> InputError:
    return InputError(
        f"{what} unpacks to more than {_most_unpacked(packed):,} bytes, from {packed:,}:"
        " that is more than any plausible file"
    )
