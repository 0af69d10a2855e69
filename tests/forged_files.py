"""Files that claim more than they hold, and how much memory reading them takes."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


def head(shape: str, dtype: str = "<i8", body: bytes = bytes(64), turned: bool = False) -> bytes:
    """A .npy file with a shape of one's own, and whatever follows it."""
    text = f"{{'descr': '{dtype}', 'fortran_order': {turned}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


# Each with words of the sentence that refuses it.
FORGED = [
    (head("(1000000000000, 2)"), r"announces 16,000,000,000,000 bytes .*, but 64 follow"),
    (head("(5, 2)"), r"announces 80 bytes \(the shape \(5, 2\)\), but 64 follow"),
    (head("(-1, 2)"), r"claims to be an array of the shape \(-1, 2\)"),
    (head("(4, 2)", "|O"), "holds Python objects, not numbers"),
    (head("(4, 2)", turned=True)[:-1], "announces 64 bytes .*, but 63 follow"),
    (head("(" + "1, " * 70 + ")"), "its head does not describe an array"),
    (head("(" + "9" * 4000 + ", " + "9" * 4000 + ")"), "its head does not describe an array"),
    (
        head("(0, 9223372036854775807, 9)", body=b""),
        r"claims to be an array of the shape \(0, 9223372036854775807, 9\)",
    ),
    (b"\x93NUMPY\x01", "its head does not describe an array"),
]


CARDS = [
    (b"[" * 100_000, "is not JSON"),
    (b'{"a": "\xe9"}', "is not JSON"),
    (b"{}".ljust(100_000_000), "has 100,000,000 bytes, which is too large for a card"),
]


def zeros(megabytes: int) -> bytes:
    """So many megabytes of zeros as one member of a gzip file, as small as deflate makes them."""
    packer = zlib.compressobj(9, wbits=31)
    packed = [packer.compress(bytes(1 << 20)) for _ in range(megabytes)]
    return b"".join((*packed, packer.flush()))


@cache
def bomb() -> bytes:
    """A gzip file of a megabyte that unpacks to more than a gigabyte: many members."""
    return zeros(64) * 17


@contextmanager
def memory_below(most: float) -> Iterator[None]:
    """Fail where more bytes than these are held at a time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
        assert peak < most, f"{peak:,.0f} bytes were held"
    finally:
        tracemalloc.stop()
