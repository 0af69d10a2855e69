"""Where the files of data sets are: ``$TRUEEDGE_DATA``, then the cache, then their official address."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from trueedge.datasets.dataset import SourceFile, get
from trueedge.datasets.downloads import UNVERIFIED_VARIABLE, copy, doubt, draft_in, fetch, unverified_allowed
from trueedge.errors import DataWarning, InputError
from trueedge.files.bounds import check_archive
from trueedge.files.digests import file_digest

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

DATA_VARIABLE = "TRUEEDGE_DATA"
CACHE_VARIABLE = "TRUEEDGE_CACHE"
NOT_PUBLISHED = "is not the published file: its checksum differs"


class MissingFile(InputError):  # noqa: N818
    """A file of a data set is not here and cannot be downloaded."""


@dataclass(frozen=True)
class FileCheck:
    """The state of one file of a data set on this machine.

    Attributes:
        path: where it belongs in a data folder.
        found: where it is, or None.
        state: ``"ok"``, ``"differs"`` from its checksum, ``"missing"``, or ``"unknown"`` without a checksum.
    """

    path: str
    found: Path | None
    state: Literal["ok", "differs", "missing", "unknown"]


def available(name: str, *, released: str | None = None, unverified: bool = False) -> None:
    """Check that a data set can be read here; download its files or raise :class:`MissingFile`.

    A file that is not the published one gives a :class:`trueedge.DataWarning`.

    Args:
        name: the data set.
        released: check the split released for it with these negatives, not the data set itself.
        unverified: also download files without a known checksum, or over plain http.
    """
    card = get(name)
    if released is not None and released not in card.released_files:
        raise MissingFile(f"HeaRT released no split for {name}")
    locate_all(card.files if released is None else card.released_files[released], name, unverified)
    warn_altered(altered_sentences(name, released))


def locate(file: SourceFile, owner: str = "a file") -> Path:
    """Find one file, or download it, and return its path."""
    return locate_all((file,), owner)[file.path]


def locate_all(files: Sequence[SourceFile], owner: str, unverified: bool = False) -> dict[str, Path]:
    """Find the files of a data set, download those that are not here, and return where each one is.

    What cannot be verified (see :func:`trueedge.datasets.downloads.doubt`) is downloaded only if
    ``unverified`` or ``$TRUEEDGE_UNVERIFIED`` says so.
    """
    places = {file.path: _local(file) for file in files}
    for file in files:
        if places[file.path] is not None:
            continue
        if file.url is None:
            why = file.note or "there is no address to download it from"
            raise MissingFile(f"{_not_here(owner, file)}, and {why}; {_put_it(file)}")
        wanted = [file]
        if file.archive:
            wanted = [other for other in files if other.url == file.url and places[other.path] is None]
        allowed = unverified or unverified_allowed()
        if not allowed:
            _refuse_unverified(wanted, owner)
        if file.archive:
            places.update(_download_archive(wanted, owner, allowed))
        else:
            places[file.path] = _download_file(file, owner, allowed)
    return {path: place for path, place in places.items() if place is not None}


def verify(name: str) -> tuple[FileCheck, ...]:
    """Compare the files of a data set on this machine with their checksums; nothing is downloaded.

    Released splits of it are checked too.

    Args:
        name: the data set's name.
    """
    checks = []
    for file in get(name).all_files:
        found = _local(file)
        if found is None:
            checks.append(FileCheck(file.path, None, "missing"))
        elif file.sha256 is None:
            checks.append(FileCheck(file.path, found, "unknown"))
        else:
            equal = _checksum(found) == file.sha256
            checks.append(FileCheck(file.path, found, "ok" if equal else "differs"))
    return tuple(checks)


def local_files(name: str) -> list[Path]:
    """Return where the files of a data set, and of splits released for it, are on this machine."""
    return [place for file in get(name).all_files if (place := _local(file)) is not None]


def fingerprint(name: str, released: str | None = None) -> str:
    """Return a SHA-256 of the content of a data set's files on this machine; nothing is downloaded.

    It is empty for embedded and generated graphs, which have no files.

    Args:
        name: the data set's name.
        released: the negatives whose released split is included; None for none.
    """
    found = [place for _, place in _local_files(name, released)]
    if not found:
        return ""
    return hashlib.sha256("\n".join(map(_known_checksum, found)).encode()).hexdigest()


def altered(name: str, released: str | None = None) -> list[str]:
    """Return the paths of a data set's files on this machine that differ from their checksums.

    Args:
        name: the data set's name.
        released: the negatives whose released split is included; None for none.
    """
    return [
        str(place)
        for file, place in _local_files(name, released)
        if file.sha256 is not None and _known_checksum(place) != file.sha256
    ]


def altered_sentences(name: str, released: str | None = None) -> tuple[str, ...]:
    """Return a sentence on each file of a data set on this machine that is not the published one."""
    return tuple(f"{path} {NOT_PUBLISHED}" for path in altered(name, released))


def warn_altered(sentences: Iterable[str], stacklevel: int = 3) -> None:
    """Warn of files that are not the published ones.

    Args:
        sentences: a warning each.
        stacklevel: whose line a warning names, as in ``warnings.warn``.
    """
    for sentence in sentences:
        warnings.warn(sentence, DataWarning, stacklevel=stacklevel)


def cache_folder() -> Path:
    """Return the folder of downloads: ``$TRUEEDGE_CACHE``, or ``trueedge`` in the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return _expanded(chosen, CACHE_VARIABLE)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "trueedge"
    except RuntimeError:
        raise MissingFile(
            f"there is no home folder for downloads: set {CACHE_VARIABLE} to a folder"
        ) from None


def data_folder() -> Path | None:
    """Return the folder that ``$TRUEEDGE_DATA`` names, or None where it is not set."""
    chosen = os.environ.get(DATA_VARIABLE)
    if not chosen:
        return None
    folder = _expanded(chosen, DATA_VARIABLE)
    try:
        found = folder.is_dir()
    except OSError as error:
        raise InputError(f"{DATA_VARIABLE} names {folder}: {error.strerror}") from None
    if not found:
        raise InputError(f"{DATA_VARIABLE} names {folder}, which is not a folder")
    return folder


def _expanded(chosen: str, variable: str) -> Path:
    try:
        return Path(chosen).expanduser()
    except RuntimeError:
        raise InputError(f"{variable} is {chosen!r}, but there is no such home folder") from None


def _local(file: SourceFile) -> Path | None:
    own = data_folder()
    if own is not None and _is_file(own / file.path):
        return own / file.path
    kept = cache_folder() / file.path
    return kept if _is_file(kept) else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a folder that may not be entered
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _local_files(name: str, released: str | None) -> list[tuple[SourceFile, Path]]:
    places = [(file, _local(file)) for file in get(name).files_with(released)]
    return [(file, place) for file, place in places if place is not None]


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _known_checksum(path: Path) -> str:
    """Return the checksum of a file, which is read again only if it may have changed."""
    try:
        return file_digest(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _not_here(owner: str, file: SourceFile) -> str:
    own = data_folder()
    first = f"in {own}" if own else f"here ({DATA_VARIABLE} is not set)"
    return f"{owner}: {file.path} is not {first} nor in {cache_folder()}"


def _put_it(file: SourceFile) -> str:
    return f"put it at {(data_folder() or cache_folder()) / file.path}"


def _refuse_unverified(files: Sequence[SourceFile], owner: str) -> None:
    for file in files:
        why = doubt(str(file.url), file.sha256)
        if why is not None:
            raise MissingFile(
                f"{_not_here(owner, file)}, and it is not downloaded, since {why};"
                f" set {UNVERIFIED_VARIABLE}=1 to download it all the same, or {_put_it(file)}"
            )


def _download_file(file: SourceFile, owner: str, unverified: bool) -> Path:
    target = cache_folder() / file.path
    with draft_in(target.parent) as draft:
        _fetch(file, owner, draft, unverified)
        _keep(draft, target, file, owner)
    return target


def _download_archive(files: Sequence[SourceFile], owner: str, unverified: bool) -> dict[str, Path]:
    """Download one archive and unpack some of its files, each to its own place."""
    import zipfile

    places = {}
    folder = cache_folder()
    with draft_in(folder) as packed:
        _fetch(files[0], owner, packed, unverified)
        try:
            with zipfile.ZipFile(packed) as archive:
                what = f"{owner}: what {files[0].url} sent"
                check_archive(archive.infolist(), packed.stat().st_size, what)
                members = _honest_members(archive, owner, str(files[0].url))
                for file in files:
                    if file.member not in members:
                        raise InputError(f"{owner}: the archive at {file.url} does not contain {file.member}")
                    target = folder / file.path
                    with draft_in(target.parent) as draft:
                        with archive.open(members[file.member]) as inner, draft.open("wb") as out:
                            copy(inner, out)
                        _keep(draft, target, file, owner)
                    places[file.path] = target
        except InputError:
            raise
        except Exception as error:  # encryption, unknown methods and damage each raise errors of their own
            reason = str(error) or type(error).__name__
            raise InputError(f"{owner}: what {files[0].url} sent is a damaged archive ({reason})") from None
    return places


def _honest_members(archive: ZipFile, owner: str, url: str) -> dict[str, ZipInfo]:
    """Return the files of an archive by name; refuse the archive if one of them points outside of it."""
    for info in archive.infolist():
        name = info.filename
        outside = name.startswith("/") or "\\" in name or ":" in name or ".." in PurePosixPath(name).parts
        link = (info.external_attr >> 16) & 0o170000 == 0o120000
        if outside or link:
            what = "is a link" if link else "lies outside of it"
            raise InputError(f"{owner}: the archive at {url} was not unpacked: its file {name!r} {what}")
    return {info.filename: info for info in archive.infolist() if not info.is_dir()}


def _keep(draft: Path, target: Path, file: SourceFile, owner: str) -> None:
    """Give a complete file its name, unless its checksum is wrong."""
    if file.sha256 is not None:
        found = _checksum(draft)
        if found != file.sha256:
            raise InputError(
                f"{owner}: {file.path} from {file.url} has the SHA-256 checksum {found} instead of"
                f" {file.sha256}; it was deleted"
            )
    try:
        draft.chmod(0o644)
        draft.replace(target)
    except OSError as error:
        raise InputError(f"{owner}: {target} cannot be written ({error.strerror})") from None


def _fetch(file: SourceFile, owner: str, draft: Path, unverified: bool) -> None:
    """Download an address into a file; whatever keeps it from arriving whole is one kind of error."""
    from http.client import HTTPException

    try:
        fetch(str(file.url), draft, f"{owner}: {PurePosixPath(str(file.url)).name}", unverified)
    except (OSError, EOFError, HTTPException, ValueError) as error:
        reason = str(getattr(error, "reason", "") or error or type(error).__name__)
        code = getattr(error, "code", None)
        said = f"HTTP {code} {reason}" if code else reason
        raise MissingFile(
            f"{_not_here(owner, file)}, and downloading {file.url} failed ({said}); {_put_it(file)}"
        ) from None
