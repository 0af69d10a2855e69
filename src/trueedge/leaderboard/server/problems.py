"""Errors of the API: a status and one clear sentence, always as ``{"error": …}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from trueedge.errors import InputError

SENTENCES = {
    400: "the request cannot be understood",
    401: "a token is needed: send the header 'Authorization: Bearer TOKEN'",
    404: "there is nothing at this address",
    405: "this address does not take such requests",
    408: "the request took too long",
    413: "the body is too large",
    422: "the body does not hold what is needed",
    500: "the server failed: try again later",
    503: "the server is busy: try again later",
}


class ApiError(Exception):
    """A request that cannot be served.

    Args:
        status: the HTTP status.
        sentence: what is wrong; by default what the status says.
        headers: further headers of the answer.
    """

    def __init__(self, status: int, sentence: str = "", headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.sentence = sentence or SENTENCES.get(status, SENTENCES[400])
        self.headers = dict(headers or {})
        super().__init__(self.sentence)


def refused(status: int, error: InputError, board: Path) -> ApiError:
    """Return the error of wrong input; it names files from the board's folder on, not those of this machine.

    Args:
        status: the HTTP status.
        error: what is wrong.
        board: the folder of the board.
    """
    return ApiError(status, str(error).replace(f"{board}/", ""))


def error_body(sentence: str) -> bytes:
    """Return the body of an error."""
    return json.dumps({"error": sentence}, ensure_ascii=False).encode()
