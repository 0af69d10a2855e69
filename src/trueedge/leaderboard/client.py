"""Submit certificates, or scores of a hidden task, to a board's server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from trueedge.errors import InputError
from trueedge.files.arrays import regular_file
from trueedge.files.digests import file_digest
from trueedge.files.text import shown
from trueedge.results.certificate import scores_file
from trueedge.results.certificate_file import read_certificate

API = "/api/v1"
SECONDS = 60.0
ENDS = ("done", "failed")
LARGEST_ANSWER = 1 << 22
LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Answer:
    """What a server answered: the status of a submission.

    Attributes:
        id: its number.
        status: ``waiting``, ``judged``, ``done`` or ``failed``.
        entry: the name of its entry.
        sentence: what came out.
        value: the value that is shown for a hidden task, or None.
    """

    id: str
    status: str
    entry: str
    sentence: str = ""
    value: float | None = None


class RefusedError(InputError):
    """A server refused a request.

    Args:
        sentence: what it said.
        status: the HTTP status.
    """

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect, which would carry the token elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        """Return nothing: the redirect is an error."""


@dataclass(frozen=True)
class Server:
    """A board's server.

    Attributes:
        address: its address, such as ``https://board.example``.
        token: the token of the team.
    """

    address: str
    token: str

    def __post_init__(self) -> None:
        parts = _parts(self.address)
        if parts.scheme == "http" and parts.hostname not in LOCAL:
            raise InputError(f"{shown(self.address)} would carry the token unencrypted: use https")
        if not self.token:
            raise InputError("a token is needed: --token, or the variable TRUEEDGE_TOKEN")
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InputError(
                "the token (--token, or the variable TRUEEDGE_TOKEN) holds a space, a line break or another"
                " character that no token has: copy it again"
            )

    def submit_certificates(
        self, paths: Sequence[Path], card: Mapping[str, Any], task: str | None = None
    ) -> Answer:
        """Submit certificates as one entry.

        Args:
            paths: the ``.json`` files, each with its scores beside it.
            card: the entry's card.
            task: the name of the board; by default the one with the task of the first certificate.
        """
        cards = [read_certificate(path) for path in paths]
        files: dict[str, str] = {}
        sent = []
        for path, one in zip(paths, cards, strict=True):
            named = path.parent / one["scores"]["file"]
            scores = named if named.is_file() else scores_file(path)
            name = one["scores"]["file"]
            if name in files:
                raise InputError(f"{path} and another certificate name the same file of scores, {name}")
            files[name] = self._upload(scores)
            sent.append(json.loads(path.read_bytes()))
        body = {
            "task": task or self._board_of(cards[0]),
            "entry": dict(card),
            "certificates": sent,
            "files": files,
        }
        return self._post(body)

    def submit_scores(self, path: Path, card: Mapping[str, Any], task: str) -> Answer:
        """Submit the scores of all candidates of a hidden task."""
        return self._post({"task": task, "entry": dict(card), "scores": self._upload(path)})

    def status(self, number: str) -> Answer:
        """Return the status of a submission."""
        found = self._ask("GET", f"{API}/submissions/{quote(number, safe='')}")
        return Answer(
            str(found.get("id")),
            str(found.get("status")),
            str(found.get("entry")),
            str(found.get("sentence", "")),
            found.get("value"),
        )

    def wait(self, answer: Answer, seconds: float, sleep: Callable[[float], None] = time.sleep) -> Answer:
        """Ask for a submission until it is done or failed, or some seconds have passed."""
        if answer.status in ENDS and not answer.sentence:
            return self.status(answer.id)  # sent before: what came out is not in the answer to sending it
        pause, waited = 0.2, 0.0
        while answer.status not in ENDS and waited < seconds:
            sleep(pause)
            waited, pause = waited + pause, min(5.0, 1.5 * pause)
            answer = self.status(answer.id)
        return answer

    def _board_of(self, card: Mapping[str, Any]) -> str:
        """Return the one board of a certificate's data set and protocol."""
        listed = self._ask("GET", f"{API}/boards").get("boards", [])
        fitting = [
            str(one["name"])
            for one in listed
            if one.get("dataset") == card["dataset"] and one.get("protocol") == card["protocol"]
        ]
        if len(fitting) == 1:
            return fitting[0]
        names = ", ".join(fitting or [str(one.get("name")) for one in listed]) or "none"
        which = (
            "several boards fit" if fitting else f"no board is of {card['dataset']} under {card['protocol']}"
        )
        raise InputError(f"{which}: name one with --task; there are: {names}")

    def _upload(self, path: Path) -> str:
        regular_file(path)
        digest = file_digest(path)
        if self._has(digest):
            return digest
        with path.open("rb") as stream:
            self._ask("PUT", f"{API}/files/{digest}", stream, path.stat().st_size)
        return digest

    def _has(self, digest: str) -> bool:
        """Return whether the server has a file already."""
        try:
            self._ask("GET", f"{API}/files/{digest}")
        except RefusedError as error:
            if error.status == 404:
                return False
            raise
        return True

    def _post(self, body: Mapping[str, Any]) -> Answer:
        data = json.dumps(body, allow_nan=False).encode()
        found = self._ask("POST", f"{API}/submissions", data, len(data), "application/json")
        return Answer(str(found.get("id")), str(found.get("status")), str(found.get("entry")))

    def _ask(
        self,
        method: str,
        path: str,
        data: Any = None,
        size: int | None = None,
        kind: str = "application/octet-stream",
    ) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if data is not None:
            headers |= {"Content-Type": kind, "Content-Length": str(size)}
        request = Request(self.address.rstrip("/") + path, data, headers, method=method)
        try:
            with build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
                content = answer.read(LARGEST_ANSWER)
        except HTTPError as error:
            sentence = _sentence(error.read(LARGEST_ANSWER))
            raise RefusedError(f"{self.address} refused it ({error.code}): {sentence}", error.code) from None
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise InputError(f"{self.address} cannot be reached: {reason}") from None
        except HTTPException as error:
            name = type(error).__name__
            raise InputError(
                f"{self.address} is no board's server: its answer is not HTTP ({name})"
            ) from None
        return _parsed(content, self.address)


def _parts(address: str) -> SplitResult:
    """Return the parts of a server's address, or raise an InputError; a password in it is not repeated."""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        parts, fits = urlsplit(""), False
    if parts.username is not None or parts.password is not None:
        raise InputError("the address of a server has no user and no password: the token says who you are")
    plain = address.isascii() and address.isprintable() and " " not in address
    if not fits or not plain or parts.query or parts.fragment:
        raise InputError(f"{shown(address)} is not the address of a server: https://… is needed")
    return parts


def _parsed(content: bytes, address: str) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{address} is no board's server: its answer is not JSON")
    return found


def _sentence(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"])[:500]
    except (ValueError, KeyError, TypeError):
        return "it gave no reason"
