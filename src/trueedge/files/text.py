"""Text files in memory: plain or gzip, and errors that name the file and the line."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trueedge.errors import InputError
from trueedge.files.arrays import regular_file
from trueedge.files.bounds import check_lines, check_memory, gunzip

# A line as a string of its own, without its characters.
BYTES_A_LINE = 64


@dataclass(frozen=True, eq=False)
class TextFile:
    """A text file in memory.

    Attributes:
        path: where it was read from, for messages.
        data: its content: UTF-8 without a byte order mark, lines end with a line feed.
        packed: the number of bytes of a gzip file; None for a plain one.
    """

    path: Path
    data: bytes
    packed: int | None = None

    @cached_property
    def lines(self) -> list[str]:
        """The lines; number n is at n - 1."""
        check_lines(self.data, self.packed, BYTES_A_LINE, str(self.path))
        return self.data.decode().split("\n")

    def error(self, line: int, what: str) -> InputError:
        """Return an error that names the file and the line."""
        return InputError(f"{self.path}, line {line}: {what}")


def open_text(path: str | os.PathLike[str]) -> TextFile:
    """Read a text file, plain or gzip (recognised by its first bytes), with any line ends."""
    place = regular_file(as_path(path, "open_text"))
    data, packed = _content(place)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = TextFile(place, data, packed)
    foreign = first_foreign_byte(data)
    if foreign is not None:
        line = data.count(b"\n", 0, foreign) + 1
        # Programs for Windows write these two bytes first.
        utf16 = "; it seems to be UTF-16: save it as UTF-8" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise text.error(line, f"{not_text(data[foreign])}{utf16}")
    return text


def as_path(path: object, owner: str) -> Path:
    """Return a path; refuse anything else."""
    if isinstance(path, (str, os.PathLike)):
        return Path(path)
    raise InputError(f"{owner}: a path is needed, got {type(path).__name__}")


def shown(value: str) -> str:
    """Return a value in quotes for a message, cut where it is long."""
    # A text of numpy would be shown with its type.
    return repr(str(value) if len(value) <= 60 else str(value[:57]) + "...")


def plain(name: str) -> str:
    """Return a name for a message as it is, or in quotes where it is long or not printable."""
    return name if name.isprintable() and len(name) <= 60 else shown(name)


def readable(text: str) -> str:
    """Return a text that UTF-8 can encode: anything else, such as a stray byte of a file's name, is ``?``."""
    return text.encode("utf-8", "replace").decode()


def _content(place: Path) -> tuple[bytes, int | None]:
    """Return the content of a file, unpacked, and the size of a gzip file."""
    try:
        check_memory(place.stat().st_size, str(place))
        data = place.read_bytes()
        return (gunzip(data, str(place)), len(data)) if data[:2] == b"\x1f\x8b" else (data, None)
    except InputError:
        raise
    except (EOFError, zlib.error) as error:
        raise InputError(f"{place} is a damaged gzip file: {error}") from None
    except OSError as error:
        raise InputError(f"{str(place)!r} cannot be read: {error.strerror or error}") from None


def not_text(byte: int) -> str:
    """Return why a byte is not text, in words."""
    if byte == 0:
        return "there is a NUL byte: save it as UTF-8 text, not as UTF-16 or binary data"
    return f"the byte '0x{byte:02x}' is not UTF-8 text"


def first_foreign_byte(data: bytes) -> int | None:
    """Return the place of the first byte that is not UTF-8 text, or None."""
    try:
        # Decoding is a copy, which plain files do not need.
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError as error:
        return error.start
    # A NUL is valid UTF-8, but only binary files have it.
    at = data.find(b"\0")
    return None if at < 0 else at
