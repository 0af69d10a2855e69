"""Where the files of data sets are: ``$TRUEEDGE_DATA``, then the cache, then their official address."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Literal

from trueedge.datasets.dataset import SourceFile, get
from trueedge.errors import InputError

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

DATA_VARIABLE = "TRUEEDGE_DATA"
CACHE_VARIABLE = "TRUEEDGE_CACHE"
_BLOCK = 1 << 18
_TIMEOUT = 30.0  # seconds without a byte


class MissingFile(InputError):  # noqa: N818
    """A file of a data set is not here and cannot be had."""


@dataclass(frozen=True)
class FileCheck:
    """What is known of one file of a data set on this machine.

    Attributes:
        path: where it belongs below a data folder.
        found: where it lies, or None.
        state: ``"ok"``, ``"differs"`` from its checksum, ``"missing"``, or ``"unknown"`` without a checksum.
    """

    path: str
    found: Path | None
    state: Literal["ok", "differs", "missing", "unknown"]


def available(name: str, *, released: bool = False) -> None:
    """See that a data set can be read here, downloading what has an address; :class:`MissingFile` if not.

    Args:
        name: the data set.
        released: look for the split HeaRT released for it, not for the data set itself.
    """
    card = get(name)
    if released and not card.heart_files:
        raise MissingFile(f"HeaRT released no split for {name}")
    locate_all(card.heart_files if released else card.files, name)


def locate(file: SourceFile, owner: str = "a file") -> Path:
    """Find one file, or download it: its place.

    Args:
        file: what is needed.
        owner: who needs it, for error messages.
    """
    return locate_all((file,), owner)[file.path]


def locate_all(files: Sequence[SourceFile], owner: str) -> dict[str, Path]:
    """Find the files of a data set, and download those that are not here: the place of each, by its path.

    Args:
        files: what is needed.
        owner: the data set's name, for error messages.
    """
    places = {file.path: _local(file) for file in files}
    for file in files:
        if places[file.path] is not None:
            continue
        if file.url is None:
            why = file.note or "there is no address to download it from"
            raise MissingFile(f"{_not_here(owner, file)}, and {why}; {_put_it(file)}")
        if not file.archive:
            places[file.path] = _download_file(file, owner)
            continue
        wanted = [other for other in files if other.url == file.url and places[other.path] is None]
        places.update(_download_archive(wanted, owner))
    return {path: place for path, place in places.items() if place is not None}


def verify(name: str) -> tuple[FileCheck, ...]:
    """Compare the files of a data set on this machine with their checksums; nothing is downloaded.

    The files HeaRT released for it are looked at too.

    Args:
        name: the data set.
    """
    checks = []
    card = get(name)
    for file in (*card.files, *card.heart_files):
        found = _local(file)
        if found is None:
            checks.append(FileCheck(file.path, None, "missing"))
        elif file.sha256 is None:
            checks.append(FileCheck(file.path, found, "unknown"))
        else:
            with found.open("rb") as stream:
                equal = hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
            checks.append(FileCheck(file.path, found, "ok" if equal else "differs"))
    return tuple(checks)


def cache_folder() -> Path:
    """The folder downloads are kept in: ``$TRUEEDGE_CACHE``, or ``trueedge`` in the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "trueedge"


def data_folder() -> Path | None:
    """The folder ``$TRUEEDGE_DATA`` names, or None where it is not set."""
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        return None
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise InputError(f"{DATA_VARIABLE} names {folder}, which is not a folder")
    return folder


def _local(file: SourceFile) -> Path | None:
    own = data_folder()
    for folder in (own, cache_folder()):
        if folder is not None and (folder / file.path).is_file():
            return folder / file.path
    return None


def _not_here(owner: str, file: SourceFile) -> str:
    own = data_folder()
    first = f"in {own}" if own else f"here ({DATA_VARIABLE} is not set)"
    return f"{owner}: {file.path} is not {first} nor in {cache_folder()}"


def _put_it(file: SourceFile) -> str:
    return f"put it at {(data_folder() or cache_folder()) / file.path}"


def _download_file(file: SourceFile, owner: str) -> Path:
    target = cache_folder() / file.path
    with _draft(target.parent) as draft:
        _fetch(file, owner, draft)
        _keep(draft, target, file, owner)
    return target


def _download_archive(files: Sequence[SourceFile], owner: str) -> dict[str, Path]:
    """Download one archive and unpack some of its files, each to its own place."""
    import zipfile

    places = {}
    folder = cache_folder()
    with _draft(folder) as packed:
        _fetch(files[0], owner, packed)
        try:
            with zipfile.ZipFile(packed) as archive:
                members = _honest_members(archive, owner, str(files[0].url))
                for file in files:
                    if file.member not in members:
                        raise InputError(f"{owner}: the archive at {file.url} holds no {file.member}")
                    target = folder / file.path
                    with _draft(target.parent) as draft:
                        with archive.open(members[file.member]) as inner, draft.open("wb") as out:
                            while block := inner.read(_BLOCK):
                                out.write(block)
                        _keep(draft, target, file, owner)
                    places[file.path] = target
        except zipfile.BadZipFile as error:
            raise InputError(f"{owner}: what {files[0].url} sent is a damaged archive ({error})") from None
    return places


def _honest_members(archive: ZipFile, owner: str, url: str) -> dict[str, ZipInfo]:
    """The files of an archive by name; one that points outside the archive spoils the whole."""
    for info in archive.infolist():
        name = info.filename
        outside = name.startswith("/") or "\\" in name or ":" in name or ".." in PurePosixPath(name).parts
        link = (info.external_attr >> 16) & 0o170000 == 0o120000
        if outside or link:
            what = "is a link" if link else "lies outside of it"
            raise InputError(f"{owner}: the archive at {url} was not unpacked: its file {name!r} {what}")
    return {info.filename: info for info in archive.infolist() if not info.is_dir()}


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    """A temporary file in a folder; what has not been moved to its place by the end is deleted."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=folder)
    except OSError as error:
        raise InputError(f"cannot write to the cache {folder} ({error.strerror})") from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _keep(draft: Path, target: Path, file: SourceFile, owner: str) -> None:
    """Give a complete file its name, unless its checksum is wrong."""
    if file.sha256 is not None:
        with draft.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != file.sha256:
            raise InputError(
                f"{owner}: {file.path} from {file.url} has the SHA-256 checksum {found} instead of"
                f" {file.sha256}; it was deleted"
            )
    draft.chmod(0o644)
    draft.replace(target)


def _fetch(file: SourceFile, owner: str, draft: Path) -> None:
    """Download an address into a file; whatever keeps it from arriving whole is one kind of error."""
    from http.client import HTTPException
    from urllib.request import Request, urlopen

    request = Request(str(file.url), headers={"User-Agent": "trueedge"})
    try:
        with urlopen(request, timeout=_TIMEOUT) as response, draft.open("wb") as out:
            length = response.headers.get("Content-Length")
            expected = int(length) if length and length.isdigit() else None
            with _progress(f"{owner}: {PurePosixPath(str(file.url)).name}", expected) as advance:
                received = _copy(response, out, advance)
        if expected is not None and received != expected:
            raise EOFError(f"the transfer broke off after {received} of {expected} bytes")
    except (OSError, EOFError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", "") or error or type(error).__name__)
        code = getattr(error, "code", None)
        said = f"HTTP {code} {reason}" if code else reason
        raise MissingFile(
            f"{_not_here(owner, file)}, and downloading {file.url} failed ({said}); {_put_it(file)}"
        ) from None


def _copy(response: IO[bytes], out: IO[bytes], advance: Callable[[int], object]) -> int:
    received = 0
    while block := response.read(_BLOCK):
        out.write(block)
        received += len(block)
        advance(len(block))
    return received


@contextmanager
def _progress(title: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """A progress bar on a terminal, and nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)
