"""Files that readers are served, from memory, with an ETag."""

from __future__ import annotations

import hashlib
import mimetypes
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request, Response
from fastapi.responses import FileResponse

from trueedge.leaderboard.server.limits import MIB
from trueedge.leaderboard.server.problems import ApiError

# Larger files are streamed from disk.
LARGEST = MIB
MOST_BYTES = 64 * MIB
# The pages have no script of their own but page.js: one that got into a text would not run.
POLICY = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:"
TYPES = {".json": "application/json", ".csv": "text/csv; charset=utf-8", ".html": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Held:
    """A file in memory, with the state in which it was read."""

    state: tuple[int, int, int]
    content: bytes
    tag: str


class ServedFiles:
    """The files of a folder.

    Args:
        folder: nothing outside of it is served, and nothing whose name begins with a dot.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._bytes = 0

    def answer(self, request: Request, path: str, missing: str = "") -> Response:
        """Return a file, 304 if the client has it, or an error with a sentence.

        Args:
            request: the request, for its ETag.
            path: the file, relative to the folder; of a folder, its index.html.
            missing: the sentence if there is none.
        """
        parts = [part for part in path.split("/") if part]
        if any(part.startswith(".") or "\\" in part or "\0" in part for part in parts):
            raise ApiError(404, missing)
        place = self._folder.joinpath(*parts)
        if path.endswith("/") or not parts:
            place = place / "index.html"
        try:
            found = os.stat(place)
            if not os.path.isfile(place):
                # Links of a page are relative to its folder, which must end with a slash.
                if os.path.isfile(place / "index.html"):
                    return Response(status_code=308, headers={"Location": f"{request.url.path}/"})
                raise ApiError(404, missing)
            if found.st_size > LARGEST:
                return FileResponse(place, media_type=_type(place))
            held = self._read(place, (found.st_ino, found.st_size, found.st_mtime_ns))
        except OSError:
            raise ApiError(404, missing) from None
        headers = {"ETag": held.tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
        if held.tag in [one.strip() for one in request.headers.get("if-none-match", "").split(",")]:
            return Response(status_code=304, headers=headers)
        return Response(held.content, 200, headers, _type(place))

    def _read(self, place: Path, state: tuple[int, int, int]) -> Held:
        key = str(place)
        held = self._held.get(key)
        if held is not None and held.state == state:
            self._held.move_to_end(key)
            return held
        content = place.read_bytes()
        made = Held(state, content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
        self._bytes += len(content) - (0 if held is None else len(held.content))
        self._held[key] = made
        while self._bytes > MOST_BYTES:
            _, old = self._held.popitem(last=False)
            self._bytes -= len(old.content)
        return made


def _type(place: Path) -> str:
    return TYPES.get(place.suffix) or mimetypes.guess_type(place.name)[0] or "application/octet-stream"
