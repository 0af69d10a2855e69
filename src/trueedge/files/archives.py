"""Arrays from untrusted .npz files: memory is only allocated for what a file really holds."""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from trueedge.errors import InputError
from trueedge.files.arrays import ZIP, array_in, regular_file
from trueedge.files.bounds import check_archive, check_memory
from trueedge.files.stored_archives import MOST_BYTES, read_stored
from trueedge.files.text import plain, shown
from trueedge.files.whole import read_whole

MOST_NAMES = 8
ENCRYPTED = 1  # the first flag of a zip archive's member


def read_archive(path: Path, what: str | None = None, most: int | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz file by their names.

    Args:
        path: the file; a member that unpacks to more than its head says, or than memory holds, is refused.
        what: what errors call it; its path where that is not given.
        most: how many bytes it may unpack to, where that is known.
    """
    found = _quickly(path, MOST_BYTES if most is None else min(most, MOST_BYTES))
    if found is not None:
        return found
    place, what = regular_file(path, what), what or str(path)
    try:
        with place.open("rb") as stream:
            if stream.read(4) not in ZIP:
                raise InputError(f"{what} is not a .npz file of numbers")
            return _members(stream, what, most)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{what} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # among them zlib's; their messages can hold half of the file
        reason = shown(str(error)) if str(error) else type(error).__name__
        raise InputError(f"{what} is a damaged archive: {reason}") from None


def _quickly(path: Path, most: int) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a small file as numpy stores it, or None for the general reader to see to it."""
    try:
        _, content = read_whole(path, most)
    except (OSError, ValueError):
        return None
    return None if content is None else read_stored(content)


def listing(names: Iterable[str]) -> str:
    """Return the names of arrays for a message, the first few of them."""
    ordered = sorted(names)
    more = f" and {len(ordered) - MOST_NAMES:,} more" if len(ordered) > MOST_NAMES else ""
    return (", ".join(map(plain, ordered[:MOST_NAMES])) or "nothing") + more


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Refuse an archive that holds two files of one name: programs differ in which of them they read."""
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"{what} holds {plain(twice.removesuffix('.npy'))} twice")


def _members(stream: IO[bytes], archived: str, most: int | None) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    with zipfile.ZipFile(stream) as archive:
        check_archive(archive.infolist(), os.fstat(stream.fileno()).st_size, archived)
        refuse_repeated(archive.namelist(), archived)
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        total = sum(member.file_size for member in members)
        check_memory(total, archived)
        if most is not None and total > most:
            arrays = [member.filename.removesuffix(".npy") for member in members]
            many = f"holds {len(arrays)} arrays, {listing(arrays)}, and " if len(arrays) > 1 else ""
            raise InputError(
                f"{archived} {many}unpacks to {total:,} bytes, and {most:,} at most are expected"
            )
        for member in members:
            name = member.filename.removesuffix(".npy")
            what = f"{archived}, {plain(name)}"
            if member.flag_bits & ENCRYPTED:
                raise InputError(f"{what} is encrypted")
            with archive.open(member) as inner:
                found[name] = array_in(inner, member.file_size, what, whole=True)
    return found
