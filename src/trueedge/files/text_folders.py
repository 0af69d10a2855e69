"""Text files of a folder or of a zip archive, read in blocks of whole lines."""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from trueedge.errors import InputError
from trueedge.files.archives import ENCRYPTED, refuse_repeated
from trueedge.files.arrays import ZIP, regular_file
from trueedge.files.bounds import check_archive, check_memory
from trueedge.files.text import first_foreign_byte, not_text, plain, shown

BLOCK = 1 << 21
BOM = b"\xef\xbb\xbf"
# What macOS adds to archives.
FOREIGN_FOLDER = "__MACOSX"
SMALL_FILE = 1 << 26


@dataclass(frozen=True, eq=False)
class TextFolder:
    """The files of a folder, or of one folder in a zip archive.

    Attributes:
        path: the folder or the archive.
        files: the path of each file, or its name in the archive, by its name in the folder.
        archive: the open archive, or None.
    """

    path: Path
    files: Mapping[str, str]
    archive: zipfile.ZipFile | None = field(default=None, repr=False)

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def place(self, name: str) -> str:
        """Return the path of a file for a message."""
        return f"{self.path}/{plain(self.files.get(name, name))}"

    def error(self, name: str, line: int, what: str) -> InputError:
        """Return an error that names a file and a line."""
        return InputError(f"{self.place(name)}, line {line}: {what}")

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return the lines of a small file that are not blank, each with its number."""
        self._check_small(name)
        found = []
        for first, data in self.blocks(name):
            rows = data.decode().split("\n")
            found += [(first + n, row.removesuffix("\r")) for n, row in enumerate(rows, 1) if row.strip()]
        return found

    def blocks(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Yield the number of lines before each block, and the block: UTF-8, whole lines, with line feeds.

        A file without anything but white space is an error.
        """
        line, blank = 0, True
        with self._open(name) as stream:
            for data in _whole_lines(stream, self.place(name)):
                block = data.removeprefix(BOM) if line == 0 else data
                foreign = first_foreign_byte(block)
                if foreign is not None:
                    at = line + block.count(b"\n", 0, foreign) + 1
                    raise self.error(name, at, not_text(block[foreign]))
                blank = blank and not block.strip()
                yield line, block
                line += block.count(b"\n")
        if blank:
            raise InputError(f"{self.place(name)} is empty")

    def _check_small(self, name: str) -> None:
        if self.archive is None:
            size = regular_file(self.path / self.files[name]).stat().st_size
        else:
            size = self.archive.getinfo(self.files[name]).file_size
        if size > SMALL_FILE:
            raise InputError(f"{self.place(name)} has {size:,} bytes, at most {SMALL_FILE:,} are expected")

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        try:
            with self._stream(name) as stream:
                yield stream
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise self._damaged(name, error) from None
        except OSError as error:
            raise InputError(f"{self.place(name)} cannot be read: {error.strerror or error}") from None

    def _stream(self, name: str) -> IO[bytes]:
        if self.archive is None:
            return regular_file(self.path / self.files[name]).open("rb")
        try:
            return self.archive.open(self.files[name])
        except Exception as error:  # a damaged header makes Python raise nearly anything
            raise self._damaged(name, error) from None

    def _damaged(self, name: str, error: Exception) -> InputError:
        reason = shown(str(error)) if str(error) else type(error).__name__
        return InputError(f"{self.place(name)} is damaged: {reason}")


@contextmanager
def open_text_folder(path: Path, marks: Collection[str]) -> Iterator[TextFolder]:
    """Open a folder, or a zip archive with files at its top or in one folder.

    Args:
        path: the folder or the archive.
        marks: names of files; the folder of an archive that holds one of them is read.
    """
    if _is_folder(path):
        yield TextFolder(path, {name: name for name in _listed(path)})
        return
    with _opened(path) as archive:
        yield TextFolder(path, _members(archive, path, marks), archive)


def has_files(path: Path, marks: Collection[str]) -> bool:
    """Return whether a folder or zip archive holds one of some files; a file called .zip counts, too."""
    try:
        if _is_folder(path):
            return any((path / name).exists() for name in marks)
        if not path.is_file():
            return False
        if path.suffix.lower() == ".zip":
            return True  # reading it says what is wrong
        with path.open("rb") as stream:
            if stream.read(4) not in ZIP:
                return False
    except (OSError, ValueError):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(_base(name) in marks for name in archive.namelist() if not _is_foreign(name))
    except Exception:  # a damaged archive fails in many ways
        return False


def _listed(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        return False


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    with regular_file(path).open("rb") as stream:
        if stream.read(4) not in ZIP:
            raise InputError(f"{path} is neither a folder nor a zip archive")
        try:
            archive = zipfile.ZipFile(stream)
        except Exception as error:  # damaged directories raise nearly anything
            reason = shown(str(error)) if str(error) else type(error).__name__
            raise InputError(f"{path} is a damaged archive: {reason}") from None
        with archive:
            check_archive(archive.infolist(), os.fstat(stream.fileno()).st_size, str(path))
            yield archive


def _members(archive: zipfile.ZipFile, path: Path, marks: Collection[str]) -> dict[str, str]:
    """Return the members of the one folder that holds one of the marks, by their names in it."""
    for name in archive.namelist():
        windows = "\\" in name or (len(name) > 1 and name[1] == ":")
        if name.startswith("/") or windows or ".." in PurePosixPath(name).parts:
            raise InputError(f"{path} holds {shown(name)}, a name that leads out of the archive")
    listed = [one for one in archive.infolist() if not one.is_dir() and not _is_foreign(one.filename)]
    folders = sorted({_folder(one.filename) for one in listed if _base(one.filename) in marks})
    if len(folders) > 1:
        raise InputError(
            f"{path} holds several data sets, in {' and '.join(map(shown, folders[:2]))}: unpack it,"
            " and give one folder"
        )
    if not folders:
        return {}
    inside = [one for one in listed if _folder(one.filename) == folders[0]]
    refuse_repeated([one.filename for one in inside], str(path))
    for one in inside:
        if one.flag_bits & ENCRYPTED:
            raise InputError(f"{path}, {plain(one.filename)} is encrypted")
    return {_base(one.filename): one.filename for one in inside}


def _is_foreign(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return FOREIGN_FOLDER in parts or (bool(parts) and parts[-1].startswith("."))


def _base(name: str) -> str:
    return PurePosixPath(name).name


def _folder(name: str) -> str:
    return str(PurePosixPath(name).parent)


def _whole_lines(stream: IO[bytes], what: str) -> Iterator[bytes]:
    """Yield the content of a stream in blocks that end with a line feed."""
    rest, size = b"", BLOCK
    while data := stream.read(size):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest, size = data[cut:], BLOCK
        else:
            # A long line is read in ever larger pieces, so that its bytes are not copied often.
            rest, size = rest + data, 2 * size
            check_memory(4 * size, what)
    if rest:
        yield rest + b"\n"
