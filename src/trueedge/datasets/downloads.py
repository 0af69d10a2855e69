"""Download files: from safe addresses, to a temporary name until they are complete, with a progress bar."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from trueedge.errors import InputError

BLOCK = 1 << 18
TIMEOUT = 30.0  # seconds without a byte
UNVERIFIED_VARIABLE = "TRUEEDGE_UNVERIFIED"


def unverified_allowed() -> bool:
    """Return whether ``$TRUEEDGE_UNVERIFIED`` allows downloads that cannot be verified."""
    chosen = os.environ.get(UNVERIFIED_VARIABLE, "0") or "0"
    if chosen not in ("0", "1"):
        raise InputError(f"{UNVERIFIED_VARIABLE} is {chosen!r}: it must be 0 or 1")
    return chosen == "1"


def doubt(url: str, sha256: str | None) -> str | None:
    """Return why a download cannot be verified: plain http, or no checksum; None where it can."""
    if not url.startswith("https://"):
        return f"{url} is not an https address"
    return f"no checksum is known of what {url} sends" if sha256 is None else None


def fetch(url: str, draft: Path, title: str, unverified: bool = False) -> None:
    """Download an address into a file, or raise an OSError, EOFError, HTTPException or ValueError.

    Args:
        url: the address.
        draft: the file.
        title: what the progress bar says.
        unverified: allow plain http, also where an https address redirects to it.
    """
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class Redirects(HTTPRedirectHandler):
        def redirect_request(self, req: Request, *more: Any) -> Request | None:
            to = str(more[-1])
            if not unverified and not to.startswith("https://"):
                raise ValueError(f"it redirects to {to}, which is not an https address")
            return super().redirect_request(req, *more)

    request = Request(url, headers={"User-Agent": "trueedge"})
    with build_opener(Redirects).open(request, timeout=TIMEOUT) as response, draft.open("wb") as out:
        length = response.headers.get("Content-Length")
        expected = int(length) if length and length.isdigit() else None
        with progress(title, expected) as advance:
            received = copy(response, out, advance)
    if expected is not None and received != expected:
        raise EOFError(f"the transfer broke off after {received} of {expected} bytes")


@contextmanager
def draft_in(folder: Path) -> Iterator[Path]:
    """Make a temporary file in a folder; it is deleted at the end unless it was moved to its place.

    So are the folders that were made for it, if they are still empty.
    """
    made: list[Path] = []
    try:
        made = _make(folder)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=folder)
    except OSError as error:
        _remove(made)
        raise InputError(f"cannot write to the cache {folder} ({error.strerror})") from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
        _remove(made)


def copy(source: IO[bytes], out: IO[bytes], advance: Callable[[int], object] = lambda _: None) -> int:
    """Copy a stream block by block, and return the number of bytes."""
    received = 0
    while block := source.read(BLOCK):
        out.write(block)
        received += len(block)
        advance(len(block))
    return received


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], object]]:
    """Show a progress bar on a terminal, and nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


def _make(folder: Path) -> list[Path]:
    """Make a folder, and return those that did not exist, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove(folders: list[Path]) -> None:
    """Remove folders that are empty, from the innermost on."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
